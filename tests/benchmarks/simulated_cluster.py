"""How long a class takes on a cluster, from what single things cost: a simulation.

Workers and coordinator are generators that say what they do next: work, wait, or nothing until
something happens elsewhere. Each has a processor of its own, as on nodes; or they share some, as
two workers do that are tried on one machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Costs:
    """Seconds, of a processor but for ``queue`` and ``look``."""

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
    look: float = 0.0
    """From one look of the coordinator for verdicts to the next; 0: it is told of each."""
    fixed: float = 0.0
    """The coordinator, whatever the size of the class: its start, and its pages."""


@dataclass
class _Busy:
    """What somebody does: so much work, or waiting until a moment."""

    work: float = 0.0
    until: float = 0.0


Life = Iterator[_Busy | None]
"""One thing after the other; None: nothing until something has happened elsewhere."""


def seconds(
    costs: Costs, submissions: int, workers: int, size: int = 20, processors: float = math.inf
) -> float:
    """Until the last submission is stored; each worker takes the next slice of ``size``.

    Of a Dask cluster, ``size`` is what a worker does in all: it starts once. ``processors`` are
    shared by all; by default nobody waits for one.
    """
    slices = [min(size, submissions - first) for first in range(0, submissions, size)]
    arrived = 0

    def worker() -> Life:
        nonlocal arrived
        while slices:
            share = slices.pop(0)
            yield _Busy(until=costs.queue)
            yield _Busy(costs.start)
            for _ in range(share):
                yield _Busy(costs.each)
                arrived += 1

    def coordinator() -> Life:
        yield _Busy(costs.fixed + submissions * costs.collect)
        lives.extend(worker() for _ in range(workers))
        stored = 0
        while stored < submissions:
            for _ in range(arrived - stored):
                yield _Busy(costs.store)
                stored += 1
            if arrived == stored < submissions:
                yield _Busy(until=costs.look) if costs.look else None

    lives: list[Life] = [coordinator()]
    return _lived(lives, processors)


def _lived(lives: list[Life], processors: float) -> float:
    """When the last of them has ended; one may add others to the list."""
    now = 0.0
    doing: dict[Life, _Busy | None] = {}
    while lives or doing:
        for life in [*lives, *(life for life, busy in doing.items() if busy is None)]:
            _goes_on(life, doing, lives, now)
        if lives:  # born just now
            continue
        at_work = [busy for busy in doing.values() if busy and busy.work > 0]
        rate = min(1.0, processors / len(at_work)) if at_work else 1.0
        ends = [now + busy.work / rate for busy in at_work]
        ends += [busy.until for busy in doing.values() if busy and busy.work <= 0]
        if not ends:
            break
        then = min(ends)
        over = [
            life
            for life, busy in doing.items()
            if busy and (now + busy.work / rate if busy.work > 0 else busy.until) <= then
        ]
        for busy in at_work:
            busy.work -= (then - now) * rate
        now = then
        for life in over:
            _goes_on(life, doing, lives, now)
    return now


def _goes_on(life: Life, doing: dict[Life, _Busy | None], lives: list[Life], now: float) -> None:
    """Let it say what it does next, until that takes time."""
    if life in lives:
        lives.remove(life)
    doing.pop(life, None)
    for busy in life:
        if busy is None:
            doing[life] = None
            return
        if busy.work > 0 or busy.until > 0:
            doing[life] = _Busy(busy.work, now + busy.until)
            return
