"""Benchmarks: each compares a measurement of ours with a peer's, and has a goal.

A module ``bench_NAME.py`` defines ``benchmarks()``, which yields a ``Row`` for each
comparison as soon as it is measured. ``make bench`` runs all of them.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One comparison. The goal bounds ``ours / peer``: from above, unless more is better."""

    name: str
    ours: float
    peer_name: str
    peer: float
    unit: str
    """Of ``ours`` and ``peer``: seconds, bytes, …"""
    goal: float
    higher_is_better: bool = False
    note: str = ""
    """How far the measurements spread, or what they are made of."""

    @property
    def ratio(self) -> float:
        """How many times the peer's value ours is."""
        return self.ours / self.peer

    @property
    def met(self) -> bool:
        """Whether the ratio is on the right side of the goal."""
        return self.ratio >= self.goal if self.higher_is_better else self.ratio <= self.goal

    def as_json(self) -> dict[str, str | float | bool]:
        """The row as it stands in ``build/bench.json``."""
        return {
            "name": self.name,
            "ours": self.ours,
            "peer_name": self.peer_name,
            "peer": self.peer,
            "ratio": self.ratio,
            "unit": self.unit,
            "goal": self.goal,
            "met": self.met,
            "note": self.note,
        }


def timed(
    run: Callable[[], object],
    repeat: int = 3,
    clock: Callable[[], float] = time.process_time,
    collect: bool = False,
) -> float:
    """Seconds that ``run()`` takes: the best of ``repeat`` calls.

    The default clock counts this process's CPU time, which other programs on the
    machine disturb least; ``time.perf_counter`` counts wall time. The garbage
    collector rests meanwhile, as in ``timeit``: when it strikes is chance; ``collect``
    leaves it on, where what it costs is the question.
    """
    best = float("inf")
    for _ in range(repeat):
        gc.collect()
        if not collect:
            gc.disable()
        try:
            start = clock()
            run()
            best = min(best, clock() - start)
        finally:
            gc.enable()
    return best


def progress(text: str) -> None:
    """Tell the person who waits what is being measured."""
    print(f"bench: {text}", file=sys.stderr, flush=True)
