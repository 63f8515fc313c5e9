"""A warm process as the grader has it: rooms come from it, of several workers at a time."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.grading.sandbox.host.cut import Kit
from autograder.grading.sandbox.host.limits import Limits
from autograder.grading.sandbox.host.stems import Stem
from autograder.grading.sandbox.wire.line import Closed, Line


@dataclass(frozen=True)
class Site:
    """All that the notebooks with one kit have in common."""

    limits: Limits
    kit: Kit
    folder: Path
    """Where the kit lies."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables for student code to see, besides those that every sandbox has."""


class WarmProcess:
    """One at a time: grown from a stem when it is needed, and again when it has died."""

    def __init__(self, site: Site, stem: Stem) -> None:
        self.site, self.stem = site, stem
        self._line: Line | None = None
        self._grown_from = 0
        self._rooms = 0
        self._busy = threading.RLock()  # a message must not come between two halves of another

    def start(self) -> None:
        """Let it grow, if it does not run.

        Raises:
            SandboxFailed: it does not come up; the text tells what it said.
        """
        with self._busy:
            if self._line is None or self._grown_from != self.stem.process:
                self.leave()
                site = self.site
                self._line = self.stem.grow(
                    site.kit, site.folder, site.limits.disk_bytes, site.environment
                )
                self._grown_from = self.stem.process

    def fork(self, setup: Mapping[str, Any], deadline: float, given: tuple[int, ...]) -> int:
        """Let it fork a supervisor, which has the descriptors ``given``; the number of its room.

        Raises:
            Closed: it has died meanwhile. Late: it does not listen.
            SandboxFailed: none comes up.
        """
        with self._busy:
            self.start()
            assert self._line is not None
            self._rooms += 1
            self._line.send({"setup": {**setup}, "room": self._rooms}, deadline, given)
            return self._rooms

    def end(self, room: int, deadline: float) -> None:
        """Kill the supervisor of a room that it has forked, and all that is in the room with it.

        Raises:
            Closed: it has died meanwhile. Late: it does not listen.
        """
        with self._busy:
            if self._line is None:
                raise Closed
            self._line.send({"end": room}, deadline)

    def leave(self) -> None:
        """Let it end; the rooms that it has forked go on."""
        with self._busy:
            if self._line:
                self._line.close()
            self._line = None

    def stop(self) -> None:
        """End it and all that has grown from its stem, at once."""
        self.leave()
        self.stem.stop()
