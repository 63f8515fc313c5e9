"""How long a class takes on a cluster, from what single things cost: a simulation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush


@dataclass(frozen=True)
class Costs:
    """Seconds; those of the coordinator come one after the other."""

    collect: float
    """The coordinator, a submission, before any worker starts."""
    start: float
    """A worker, until it can run the first submission."""
    each: float
    """A worker, a submission."""
    store: float
    """The coordinator, a submission whose verdict has come."""
    queue: float = 0.0
    """From sbatch to the start of a job."""


def seconds(costs: Costs, submissions: int, workers: int, size: int = 20) -> float:
    """Until the last submission is stored; each worker takes the next slice of ``size``.

    Of a Dask cluster, ``size`` is what a worker does in all: it starts once.
    """
    begin = submissions * costs.collect
    free = [begin] * workers
    heapify(free)
    done = begin
    for arrival in sorted(_verdicts(costs, submissions, free, size)):
        done = max(done, arrival) + costs.store
    return done


def _verdicts(costs: Costs, submissions: int, free: list[float], size: int) -> Iterator[float]:
    """When each verdict is kept; ``free`` says when each worker has nothing to do."""
    while submissions > 0:
        share = min(size, submissions)
        submissions -= share
        now = heappop(free) + costs.queue + costs.start
        for _ in range(share):
            now += costs.each
            yield now
        heappush(free, now)
