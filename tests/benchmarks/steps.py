"""CPU time of whole training steps, as in a training loop: many steps in one process.

Fresh memory costs time: the system hands out zeroed pages at the first touch. A loop that has
run for a while has its memory already, so that here freed memory stays with the process, and the
first round is not counted. Ways to train take turns, so that a busy moment hits all alike; user
and system time are told apart.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4  # of glibc's mallopt


class Seconds(NamedTuple):
    """CPU time of one step."""

    user: float
    system: float

    @property
    def total(self) -> float:
        """Both together."""
        return self.user + self.system


@dataclass
class Timed:
    """A step and what its rounds took."""

    step: Callable[[], object]
    rounds: list[Seconds] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """The median of user and system time together."""
        return statistics.median(r.total for r in self.rounds)

    def told(self) -> str:
        """The median of each kind of time, and the half of the rounds around it."""
        user, system = (statistics.median(times) for times in zip(*self.rounds, strict=True))
        low, high = _middle_half([r.total for r in self.rounds])
        return f"user {user:.2f} + system {system:.2f} s, half of them {low:.2f} to {high:.2f}"


def keep_memory() -> bool:
    """Let freed memory stay with this process; whether the C library can do that."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):
        return False
    return bool(mallopt(_M_MMAP_MAX, 0)) and bool(mallopt(_M_TRIM_THRESHOLD, -1))


def take_turns(steps: Sequence[Timed], rounds: int) -> None:
    """Run all ``steps`` in turns; a step that has no round yet runs once before."""
    for timed in steps:
        if not timed.rounds:
            timed.step()
    for _ in range(rounds):
        for timed in steps:
            timed.rounds.append(_one(timed.step))


def ratios(ours: Timed, peer: Timed) -> tuple[float, float, float]:
    """Ours to the peer's, round by round: the median, and the half of the rounds around it."""
    each = [a.total / b.total for a, b in zip(ours.rounds, peer.rounds, strict=True)]
    return statistics.median(each), *_middle_half(each)


def _middle_half(values: list[float]) -> tuple[float, float]:
    if len(values) < 2:
        return values[0], values[0]
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def _one(step: Callable[[], object]) -> Seconds:
    gc.collect()
    gc.disable()
    try:
        before = resource.getrusage(resource.RUSAGE_SELF)
        step()
        after = resource.getrusage(resource.RUSAGE_SELF)
    finally:
        gc.enable()
    return Seconds(after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime)
