"""The processes of one notebook, as its supervisor sees them: all that came of its children."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

from . import usage
from .clock import Moment


class Family:
    """``alone``: there are no other processes to be seen; ``linux``: those there are can be."""

    def __init__(self, alone: bool, linux: bool) -> None:
        self._alone, self._linux = alone, linux

    def members(self) -> dict[int, usage.Process]:
        """All that live; none where they cannot be seen."""
        seen = usage.look()
        ours = {os.getpid()}
        if self._alone:
            ours |= set(seen)
        while more := {pid for pid, process in seen.items() if process.parent in ours} - ours:
            ours |= more
        return {pid: seen[pid] for pid in sorted(ours - {os.getpid()})}

    def now(self) -> Moment:
        """What they have used so far, and whether they do anything."""
        now = time.monotonic()
        if not self._linux:  # then all time is work
            return Moment(now, now, asleep=False)
        ended = usage.of_ended_children()  # first: who ends meanwhile is not seen twice
        members = self.members()
        cpu = ended + sum(process.cpu for process in members.values())
        return Moment(now, cpu, not usage.has_work(members), list(members))

    def kill(self, child: int) -> None:
        """End all of them; ``child`` is the first one, if it lives."""
        if os.getpid() == 1:  # then it means all processes of the namespace
            targets: Iterable[int] = [-1]
        elif self._linux:
            targets = self.members()
        else:
            targets = [-child] if child else []
        for target in targets:
            with suppress(OSError):  # it has gone
                os.kill(target, signal.SIGKILL)
