"""One worker: it leads submissions, one after the other, into rooms of warm processes.

Each run of a notebook has a sandbox of its own, so that nothing is left in it of what an
earlier one was asked. What goes from one to the next is its files, as its supervisor kept them.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from autograder.grading.sandbox.host.cgroup import Group, group
from autograder.grading.sandbox.host.cut import Kit
from autograder.grading.sandbox.host.isolation import (
    Isolation,
    SandboxFailed,
    can_be_nobody,
)
from autograder.grading.sandbox.host.warm_process import WarmProcess
from autograder.grading.sandbox.host.warmth import ENDING, STARTING
from autograder.grading.sandbox.inside.filters import has_landlock
from autograder.grading.sandbox.inside.namespaces import HOME, LAB
from autograder.grading.sandbox.inside.scratch import Snapshot, store
from autograder.grading.sandbox.inside.usage import tasks_of_user
from autograder.grading.sandbox.wire.line import Closed, Late, Line

_FIRST_UNUSED = 0x70000000  # a user number far beyond those of real users
_STUDENTS_BELOW = 0x10000000
_WORKERS_APART = 1 << 22  # there are no more processes than that
_MOST_APART = 63
_SPARE_PROCESSES = 16
_GULP = 1 << 20
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")


class Users(NamedTuple):
    """Numbers of users who own nothing; 0: whoever started the grader."""

    supervisor: int = 0
    student: int = 0


class Rooms:
    """Sandboxes of one submission, one after the other."""

    def __init__(self, team: Team, stack: ExitStack) -> None:
        self._team, self._stack = team, stack
        self._before, self._after = (stack.enter_context(_file()) for _ in range(2))
        self._only: dict[Worker, Line] = {}

    def fill(self, files: Mapping[str, bytes]) -> None:
        """Let these be in the scratch folder of the first one."""
        start = Snapshot({name: (False, content) for name, content in files.items()})
        store(start, self._before.fileno())

    def turn(self) -> None:
        """What was kept in the last one is in the scratch folder of the next."""
        before, after = self._before.fileno(), self._after.fileno()
        if size := os.fstat(after).st_size:
            os.ftruncate(before, 0)
            done = 0
            while done < size:
                done += os.pwrite(before, os.pread(after, _GULP, done), done)
            os.ftruncate(after, 0)

    @contextmanager
    def open(self, notebook: str) -> Iterator[Line]:
        """A line to a fresh supervisor for a notebook. All that it started is gone afterwards.

        Where the warm process is the sandbox, there is one for all notebooks with its kit.

        Raises:
            SandboxFailed: no sandbox can be had.
        """
        shelves = (self._before.fileno(), self._after.fileno())
        worker = self._team.worker_for(notebook)
        if not worker.is_sandbox:
            with worker.room(shelves) as line:
                yield line
            return
        if worker not in self._only:
            self._only[worker] = self._stack.enter_context(worker.room(shelves))
        yield self._only[worker]


class Team:
    """The workers for one submission at a time: one for each kit that its notebooks need.

    ``warm`` are the warm processes by kit, which other teams may use as well; ``kits`` are by
    notebook, and the first kit is for those that have none. ``place`` tells teams apart.
    """

    def __init__(
        self,
        warm: Mapping[Kit, WarmProcess],
        kits: Mapping[str, Kit],
        processors: Sequence[int] = (),
        place: int = 0,
    ) -> None:
        self._kits, self._place = kits, place
        self._workers = {kit: Worker(one, processors, place) for kit, one in warm.items()}

    def worker_for(self, notebook: str) -> Worker:
        """Who has the kit of a notebook."""
        usual, *_ = self._workers
        return self._workers[self._kits.get(notebook, usual)]

    @contextmanager
    def submission(self) -> Iterator[Rooms]:
        """Sandboxes for a submission. Nothing of them is left afterwards."""
        with ExitStack() as stack:
            yield Rooms(self, stack)

    def start(self) -> None:
        """Start a warm process of each kit, if it does not run; else they come when needed.

        Raises:
            SandboxFailed: one does not come up; the text tells what it said.
        """
        workers = list(self._workers.values())
        start = self._place % len(workers)  # another team begins with another one
        for worker in (*workers[start:], *workers[:start]):
            worker.warm.start()

    def leave(self) -> None:
        """End the warm processes, and keep the stem for whoever comes next."""
        for worker in self._workers.values():
            worker.warm.leave()


class Worker:
    """Rooms of a warm process, one at a time. They keep to ``processors``, if there are any."""

    def __init__(self, warm: WarmProcess, processors: Sequence[int] = (), place: int = 0) -> None:
        self.warm = warm
        self._site, self._stem, self._processors = warm.site, warm.stem, processors
        self._apart = place % _MOST_APART * _WORKERS_APART

    @property
    def is_sandbox(self) -> bool:
        """Whether the warm process itself is what shuts in student code, and serves only once."""
        return self._stem.reached.level is Isolation.FULL and not self._stem.reached.rooms

    @contextmanager
    def room(self, shelves: tuple[int, int]) -> Iterator[Line]:
        """A line to a fresh supervisor, with files for what is before it and what it keeps.

        Raises:
            SandboxFailed: no sandbox can be had.
        """
        limits = self._site.limits
        with self._scratch() as folder, group(limits.memory) as counted:
            called = self._call_supervisor(folder, shelves, counted)
            called = called or self._call_supervisor(folder, shelves, counted)
            if called is None:
                raise SandboxFailed("a sandbox ends as soon as it has started")
            supervisor, room = called
            try:
                yield supervisor
            finally:
                self._dismiss(supervisor, room)

    def _call_supervisor(
        self, folder: Path | None, shelves: tuple[int, int], counted: Group | None
    ) -> tuple[Line, int] | None:
        """The line to it, and the number of its room. None: the warm process has died meanwhile."""
        self.warm.start()
        ours, theirs = socket.socketpair()
        supervisor = Line(ours)
        deadline = time.monotonic() + STARTING
        try:
            with theirs:
                given = (theirs.fileno(), *shelves, *(counted or ()))
                room = self.warm.fork(self._setup(folder), deadline, given)
            told = supervisor.receive(deadline) or {}
        except Closed:
            supervisor.close()
            self._give_up()
            return None
        except Late:
            supervisor.close()
            self.warm.stop()
            return None
        if "failed" in told:
            raise SandboxFailed(f"no sandbox for a submission: {told['failed']}")
        return supervisor, room

    def _give_up(self) -> None:
        """Have another warm process; where rooms are apart, those of other workers go on."""
        if self._stem.reached.rooms:
            self.warm.leave()
        else:
            self.warm.stop()

    def _dismiss(self, supervisor: Line, room: int) -> None:
        """Tell a supervisor to go, and see that it does."""
        try:
            self._see_off(supervisor, {"do": "quit"})
        except Late:
            self._put_out(supervisor, room)
        finally:
            supervisor.close()
        if self.is_sandbox:
            self.warm.stop()  # it was the warm process itself

    def _see_off(self, supervisor: Line, order: dict[str, Any] | None = None) -> None:
        """Wait until it has gone.

        Raises:
            Late: it has not.
        """
        deadline = time.monotonic() + self._site.limits.grace_seconds + ENDING
        try:
            if order:
                supervisor.send(order, deadline)
            while True:
                supervisor.receive(deadline)
        except Closed:
            pass

    def _put_out(self, supervisor: Line, room: int) -> None:
        """End a room that does not end by itself, and nobody else's."""
        try:
            if not self._stem.reached.rooms:
                raise Closed
            self.warm.end(room, time.monotonic() + ENDING)
            self._see_off(supervisor)
        except (Closed, Late):
            self.warm.stop()

    @contextmanager
    def _scratch(self) -> Iterator[Path | None]:
        """A folder for a sandbox that has no file system of its own."""
        if self._stem.reached.level >= Isolation.NAMESPACES:
            yield None
            return
        folder = Path(tempfile.mkdtemp(prefix="submission-", dir=self._stem.house.temporary))
        try:
            folder.chmod(0o755)
            (folder / "lab").mkdir()
            (folder / "tmp").mkdir()
            yield folder
        finally:  # copes with any depth; Python's own rmtree does not
            subprocess.run(["rm", "-rf", str(folder)], stderr=subprocess.DEVNULL)
            shutil.rmtree(folder, ignore_errors=True)

    def users(self) -> Users:
        """Who runs in the sandbox: ourselves, unless we are root."""
        level = self._stem.reached.level
        is_reachable = level >= Isolation.NAMESPACES or can_be_nobody()
        stem = self._stem.process
        if os.geteuid() or level is Isolation.NONE or not is_reachable or not stem:
            return Users()
        number = _FIRST_UNUSED + self._apart + stem
        return Users(number, number if self.is_sandbox else number - _STUDENTS_BELOW)

    def _setup(self, folder: Path | None) -> dict[str, Any]:
        """What a supervisor must know of this machine and of how it is shut in."""
        level, limits = self._stem.reached.level, self._site.limits
        in_house, shut_in = level >= Isolation.NAMESPACES, level >= Isolation.LIMITS
        users = self.users()
        counted_apart = users.student or (in_house and _counts_in_namespaces())
        others = 0 if counted_apart or not shut_in else tasks_of_user(os.geteuid())
        return {
            "limits": limits.as_message(),
            "processors": list(self._processors),
            "room": in_house and self._stem.reached.rooms,
            "linux": sys.platform == "linux",
            "shut_in": shut_in,
            "uid": users.supervisor,
            "student": users.student,
            "lab": str(folder / "lab") if folder else LAB if self._stem.reached.rooms else HOME,
            "temporary": str(folder / "tmp") if folder else self._stem.house.spare,
            "emptied": [str(folder / "tmp")] if folder else [self._stem.house.spare, "/dev/shm"],
            "disk": str(folder or ""),
            "in_house": in_house,
            "files": self._files(folder) if shut_in and not in_house and has_landlock() else None,
            # Above what the supervisor allows, which then can tell why it ends a notebook.
            "process_ceiling": limits.processes + _SPARE_PROCESSES + others,
        }

    def _files(self, folder: Path | None) -> tuple[list[str], list[str]]:
        """What may be read and written by a sandbox that has no file system of its own."""
        house = self._stem.house
        known = ("cpuinfo", "meminfo", "stat", "sys/kernel", "filesystems")
        readable = [*house.readable(), str(self._site.folder), *(f"/proc/{name}" for name in known)]
        return readable, [str(folder), *(f"/dev/{name}" for name in _DEVICES)]


def _file() -> IO[bytes]:
    """Without a name, and gone when it is closed."""
    return tempfile.TemporaryFile()


def _counts_in_namespaces() -> bool:
    """Whether the kernel counts the processes of a user for each user namespace apart."""
    major, minor = os.uname().release.split(".")[:2]
    return (int(major), int(minor)) >= (5, 14)
