"""How long a cell or an answer has been at work, on a machine that may be busy with others.

Three things are counted. Processor time is the same however busy the machine is. Time in
which a notebook only sleeps is real time. And there is the time on the wall, of which
nothing honest takes as much as is allowed: it is for what deceives the other two.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

SLOWEST = 10
"""How many times as long as on an idle machine honest work may take."""
_BESIDES = 60.0
"""Seconds on the wall for what takes no processor time: a disk, other processes."""
_LONGEST_STEP = 1.0
"""Seconds between two looks, at most: a look that comes later was kept waiting by others."""

SIGNALS = {"cpu": signal.SIGPROF, "idle": signal.SIGALRM, "wall": signal.SIGUSR1}
"""What a notebook is interrupted with, by what it has used up."""


def patience(seconds: float) -> float:
    """Seconds on the wall for what may use so many of the processor."""
    return SLOWEST * seconds + _BESIDES


@dataclass(frozen=True)
class Allowance:
    """How many seconds of each kind one cell or one answer may use."""

    cpu: float
    """Of the processor, by all processes of the notebook together."""
    idle: float
    """In which none of them has anything to do."""
    wall: float


def allowance(seconds: float, limits: Mapping[str, Any]) -> Allowance:
    """What comes with so many seconds of the processor."""
    return Allowance(seconds, min(seconds, limits["idle_seconds"]), patience(seconds))


def in_words(late: str, allowed: Allowance) -> str:
    """What somebody did who has used up that part of what was allowed."""
    if late == "cpu":
        return f"used more than {allowed.cpu:.3g} seconds of processor time"
    if late == "idle":
        return f"did nothing for {allowed.idle:.3g} seconds"
    return f"was not done after {allowed.wall:.0f} seconds"


class Moment(NamedTuple):
    """All processes of a notebook when they were looked at."""

    time: float
    cpu: float
    """What they have used so far. It falls when one ends for which nobody waits."""
    asleep: bool
    processes: Sequence[int] = ()


class Clock:
    """Counts what is used from ``start`` on; somebody has to look often."""

    def __init__(self, allowed: Allowance, start: Moment) -> None:
        self.paused = False
        """A notebook that waits for the grader does not sleep."""
        self._most = vars(allowed)
        self._used = dict.fromkeys(self._most, 0.0)
        self._last = start

    def look(self, now: Moment) -> str:
        """Which part of the allowance is used up; an empty text if none is."""
        passed = now.time - self._last.time
        # Who ends just now may be seen twice: in itself and in its parent.
        grown = min(max(0.0, now.cpu - self._last.cpu), passed * (os.cpu_count() or 1))
        self._last = now
        self._used["cpu"] += grown
        if not self.paused:
            step = min(passed, _LONGEST_STEP)
            self._used["wall"] += step
            self._used["idle"] += step if now.asleep and not grown else 0.0
        return next((kind for kind, most in self._most.items() if self._used[kind] >= most), "")

    def extend(self, more: Allowance) -> None:
        """Allow so much from now on."""
        self._most = {kind: self._used[kind] + extra for kind, extra in vars(more).items()}

    @property
    def spent(self) -> float:
        """What is to be paid for: work, and sleep; or being there, if these do not tell it all."""
        return max(self._used["cpu"] + self._used["idle"], self._used["wall"] / SLOWEST)
