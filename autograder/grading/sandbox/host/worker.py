"""One worker: it leads submissions, one after the other, into sandboxes of a warm process."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.grading.sandbox.host.house import House
from autograder.grading.sandbox.host.isolation import (
    Isolation,
    Reached,
    SandboxFailed,
    can_be_nobody,
)
from autograder.grading.sandbox.host.limits import Limits
from autograder.grading.sandbox.host.warmth import ENDING, STARTING, end, start_warm
from autograder.grading.sandbox.inside.filters import has_landlock
from autograder.grading.sandbox.inside.namespaces import HOME, LAB
from autograder.grading.sandbox.inside.usage import tasks_of_user
from autograder.grading.sandbox.wire.line import Closed, Late, Line

_FIRST_UNUSED = 0x70000000  # a user number far beyond those of real users
_SPARE_PROCESSES = 16
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")


@dataclass(frozen=True)
class Site:
    """All that the workers of one executor have in common."""

    reached: Reached
    house: House
    limits: Limits
    preload: Sequence[str]
    """Modules that the warm process imports."""
    warm_up: Sequence[str]
    """Functions that it calls then, each as ``package.module:function``.

    They must not start threads: these would not survive the fork.
    """


class Worker:
    """One warm process at a time: started when it is needed, and again when it has died."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Line | None = None

    @contextmanager
    def submission(self) -> Iterator[Line]:
        """A line to a fresh supervisor. All that it started is gone afterwards.

        Raises:
            SandboxFailed: no sandbox can be had.
        """
        with self._scratch() as folder:
            supervisor = self._call_supervisor(folder) or self._call_supervisor(folder)
            if supervisor is None:
                raise SandboxFailed("a sandbox ends as soon as it has started")
            try:
                yield supervisor
            finally:
                self._dismiss(supervisor)

    def start(self) -> None:
        """Start the warm process, if it does not run.

        Raises:
            SandboxFailed: it does not come up; the text tells what it said.
        """
        if self._process is None or self._process.poll() is not None:
            self.stop()
            site = self._site
            self._process, self._line = start_warm(
                site.reached, site.house, site.limits.disk_bytes, site.preload, site.warm_up
            )

    def stop(self) -> None:
        """End the warm process and all that runs in its sandbox."""
        if self._line:
            self._line.close()
        if self._process:
            end(self._process)
        self._process = self._line = None

    def _call_supervisor(self, folder: Path | None) -> Line | None:
        """None: the warm process has died meanwhile."""
        self.start()
        assert self._line is not None
        ours, theirs = socket.socketpair()
        supervisor = Line(ours)
        deadline = time.monotonic() + STARTING
        try:
            with theirs:
                self._line.send(self._setup(folder), deadline, (theirs.fileno(),))
            told = supervisor.receive(deadline) or {}
        except (Closed, Late):
            supervisor.close()
            self.stop()
            return None
        if "failed" in told:
            raise SandboxFailed(f"no sandbox for a submission: {told['failed']}")
        return supervisor

    def _dismiss(self, supervisor: Line) -> None:
        """Tell a supervisor to go, and see that it does."""
        deadline = time.monotonic() + self._site.limits.grace_seconds + ENDING
        try:
            supervisor.send({"do": "quit"}, deadline)
            while True:
                supervisor.receive(deadline)
        except Closed:
            if not self._site.reached.rooms and self._site.reached.level is Isolation.FULL:
                self.stop()  # it was the warm process itself
        except Late:
            self.stop()
        finally:
            supervisor.close()

    @contextmanager
    def _scratch(self) -> Iterator[Path | None]:
        """A folder for a sandbox that has no file system of its own."""
        if self._site.reached.level >= Isolation.NAMESPACES:
            yield None
            return
        folder = Path(tempfile.mkdtemp(prefix="submission-", dir=self._site.house.temporary))
        try:
            folder.chmod(0o711)
            (folder / "lab").mkdir()
            (folder / "tmp").mkdir()
            yield folder
        finally:  # copes with any depth; Python's own rmtree does not
            subprocess.run(["rm", "-rf", str(folder)], stderr=subprocess.DEVNULL)
            shutil.rmtree(folder, ignore_errors=True)

    def _setup(self, folder: Path | None) -> dict[str, Any]:
        """What a supervisor must know of this machine and of how it is shut in."""
        level, limits = self._site.reached.level, self._site.limits
        in_house, shut_in = level >= Isolation.NAMESPACES, level >= Isolation.LIMITS
        uid = 0
        if os.geteuid() == 0 and shut_in and (in_house or can_be_nobody()):
            assert self._process is not None
            uid = _FIRST_UNUSED + self._process.pid
        counted_apart = uid or (in_house and _counts_in_namespaces())
        others = 0 if counted_apart or not shut_in else tasks_of_user(os.geteuid())
        return {
            "limits": limits.as_message(),
            "room": in_house and self._site.reached.rooms,
            "linux": sys.platform == "linux",
            "shut_in": shut_in,
            "uid": uid,
            "lab": str(folder / "lab") if folder else LAB if self._site.reached.rooms else HOME,
            "temporary": str(folder / "tmp") if folder else self._site.house.spare,
            "emptied": [str(folder / "tmp")] if folder else [self._site.house.spare, "/dev/shm"],
            "disk": str(folder or ""),
            "in_house": in_house,
            "files": self._files(folder) if shut_in and not in_house and has_landlock() else None,
            # Above what the supervisor allows, which then can tell why it ends a notebook.
            "process_ceiling": limits.processes + _SPARE_PROCESSES + others,
        }

    def _files(self, folder: Path | None) -> tuple[list[str], list[str]]:
        """What may be read and written by a sandbox that has no file system of its own."""
        house = self._site.house
        known = ("cpuinfo", "meminfo", "stat", "sys/kernel", "filesystems")
        readable = [*house.readable(), str(house.kit), *(f"/proc/{name}" for name in known)]
        return readable, [str(folder), *(f"/dev/{name}" for name in _DEVICES)]


def _counts_in_namespaces() -> bool:
    """Whether the kernel counts the processes of a user for each user namespace apart."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int(minor)) >= (5, 14)
