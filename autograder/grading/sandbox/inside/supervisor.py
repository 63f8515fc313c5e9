"""The trusted process beside one run of a notebook.

It starts a process for the notebook, watches what it and its children use, ends all that is
left of them, and keeps the scratch folder. Under root student code runs as another user. Else
it is the same one, but this process is the first of its namespace, and may not be traced or
read.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from . import kernel, namespaces, usage
from .clock import SIGNALS, Clock, Moment, allowance
from .counted import Counted
from .family import Family
from .protocol import Channel, Message
from .scratch import Snapshot, fetch, put_back, store, take_snapshot

TICK = 0.1
"""Seconds between two looks at what the processes of a notebook use."""

_DYING = 60.0
"""Seconds that many large processes may take to go once they are killed, on a busy machine."""

NotebookMain = Callable[[int, Message], NoReturn]


def supervise(
    control: Channel, setup: Mapping[str, Any], shelves: Sequence[int], run_notebook: NotebookMain
) -> NoReturn:
    """Serve one run of a notebook, then end. ``setup`` says how it is shut in.

    ``shelves`` are the files with the scratch folder as it is before, and as it is kept; then
    those of its control group, if it has one.
    """
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # which the first process of a namespace ignores
    try:
        counted = Counted(*shelves[2:])
        setup = {**setup, "proc": _shut_in(setup)}
    except OSError as error:
        control.send({"failed": str(error)})
        os._exit(1)
    control.send({"ready": True})
    try:
        Supervisor(control, setup, shelves[:2], counted, run_notebook).serve()
    except Exception as error:
        control.send({"broken": f"{type(error).__name__}: {error}"})
    os._exit(0)


def _shut_in(setup: Mapping[str, Any]) -> int | None:
    """Give up all that is not needed; a descriptor of /proc, if it can only be read else."""
    limits = setup["limits"]
    processes = None
    if setup["room"]:
        processes = namespaces.enter_room(limits["disk_bytes"], limits["disk_files"])
    elif setup["linux"]:
        kernel.prctl(kernel.SET_SUBREAPER, 1)  # orphans come to us
    os.umask(0o077)
    os.makedirs(setup["lab"], exist_ok=True)
    if setup["shut_in"]:
        if setup["student"]:
            namespaces.own([setup["lab"], *setup["emptied"]], setup["student"])
        namespaces.become(setup["uid"], setup["student"])
        kernel.prctl(kernel.SET_DUMPABLE, 0)
    return processes


class Supervisor:
    """Does what the grader asks for, and tells it when a notebook's process has ended."""

    def __init__(
        self,
        control: Channel,
        setup: Mapping[str, Any],
        shelves: Sequence[int],
        counted: Counted,
        run_notebook: NotebookMain,
    ) -> None:
        self._control, self._setup, self._lab = control, setup, Path(setup["lab"])
        self._before, self._after = shelves
        self._counted = counted
        self._limits = setup["limits"]
        self._grace = allowance(self._limits["grace_seconds"], self._limits)
        self._run_notebook = run_notebook
        self._family = Family(setup["room"] or os.getpid() == 1, setup["linux"])
        self._child = 0
        self._status: int | None = None
        self._shared = usage.shared_memory()
        self._nameless = usage.nameless([os.getpid()])
        self._count_again = 0.0
        self._clock: Clock | None = None
        self._late = ""
        """Which part of its time the notebook has used up, and was interrupted for."""
        self._last_word = ""
        """Why the notebook is ended when its time is up; empty: it is interrupted first."""

    def serve(self) -> None:
        """Until the grader says so, or is gone."""
        looked = 0.0
        while True:
            called = select.select([self._control], [], [], TICK if self._child else None)[0]
            if self._child and (not called or time.monotonic() > looked + 2 * TICK):
                self._watch()
                looked = time.monotonic()
            if not called:
                continue
            message = self._control.receive()
            if message is None or message[0]["do"] == "quit":
                self._end_all()
                return
            getattr(self, f"_do_{message[0]['do']}")(*message)

    def _do_start(self, message: Message, descriptors: list[int]) -> None:
        put_back(self._lab, fetch(self._before))
        for folder in self._setup["emptied"]:
            put_back(Path(folder), Snapshot())
        self._status = self._clock = None
        self._child = os.fork()
        if not self._child:
            try:
                namespaces.become_student(self._setup["student"])
                self._run_notebook(descriptors[0], {**self._setup, **message})
            finally:
                os._exit(70)
        for descriptor in descriptors:
            os.close(descriptor)

    def _do_keep(self, _message: Message, _: list[int]) -> None:
        found = take_snapshot(self._lab, self._limits["disk_bytes"] // 2)
        store(found, self._after)
        self._tell({"kept": found.complete})

    def _do_stop(self, _message: Message, _: list[int]) -> None:
        left = self._end_all()
        self._tell({"stopped": True, "status": self._status, "left": left})

    def _do_clock(self, message: Message, _: list[int]) -> None:
        """From now on the notebook may use so many seconds."""
        self._late = self._last_word = ""
        self._clock = Clock(allowance(message["seconds"], self._limits), self._family.now())

    def _do_pause(self, message: Message, _: list[int]) -> None:
        """The notebook waits for the grader, or does so no more."""
        if self._clock:
            self._clock.look(self._family.now())
            self._clock.paused = message["paused"]

    def _do_time(self, _message: Message, _: list[int]) -> None:
        """Stop the clock, and tell what was used."""
        clock, self._clock = self._clock, None
        if clock:
            clock.look(self._family.now())
        self._tell({"spent": clock.spent if clock else 0.0, "late": self._late})

    def _do_end(self, _message: Message, _: list[int]) -> None:
        """The notebook has hung up: it is ended if it does not end by itself."""
        if self._child:
            self._last_word = "line"
            self._clock = self._clock or Clock(self._grace, self._family.now())
            self._clock.extend(self._grace)

    def _watch(self) -> None:
        """End the notebook if it uses too much; tell if it has ended."""
        self._reap()
        now = self._family.now()
        why = self._excess(now.processes) or self._out_of_time(now)
        if self._status == -signal.SIGKILL and self._counted.was_full():
            why = "memory"
        if why or self._status is not None:
            self._tell({"ended": why or "by itself", "status": self._status})
            self._child = 0
        if why:
            self._end_all()

    def _out_of_time(self, now: Moment) -> str | None:
        """Interrupt the notebook if its time is up; why to end it, if it did not heed that."""
        if self._clock is None or not (late := self._clock.look(now)):
            return None
        if self._last_word:
            return self._last_word
        self._late, self._last_word = late, "time"
        self._clock.extend(self._grace)
        with suppress(OSError):  # it has gone
            os.kill(self._child, SIGNALS[late])
        return None

    def _excess(self, processes: Sequence[int]) -> str | None:
        if len(processes) > self._limits["processes"]:
            return "processes"
        if self._takes_too_much(processes):
            return "memory"
        most = self._limits["disk_bytes"], self._limits["disk_files"]
        if (disk := self._setup["disk"]) and usage.is_overfull(disk, *most):
            return "disk"
        return None

    def _takes_too_much(self, processes: Sequence[int]) -> bool:
        most = self._limits["memory"]
        started = time.monotonic()
        beside = self._beside_processes()
        # Of the whole machine: it tells when to look closer.
        shared = max(0, usage.shared_memory() - self._shared)
        rough = usage.resident(processes) + beside + shared
        if rough <= most or started < self._count_again:
            return False
        exact, mapped = usage.in_parts(processes)
        if not usage.nameless(processes) - self._nameless:
            shared = 0  # all that they have is mapped, or in files
        # Counting slows down what is counted: never spend more than a tenth of the time on it.
        self._count_again = time.monotonic() + 10 * (time.monotonic() - started)
        return exact - mapped + max(mapped, shared) + beside > most

    def _beside_processes(self) -> int:
        """Bytes that lie in files in memory, and may lie in sockets, where these are ours alone."""
        if not self._setup["room"]:
            return 0
        return usage.filled(namespaces.HOME) + usage.sockets() * namespaces.SOCKET_BYTES

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid == self._child:
                self._status = os.waitstatus_to_exitcode(status)

    def _end_all(self) -> int:
        """Kill every process of the notebook; how many would not go."""
        deadline = time.monotonic() + self._limits["grace_seconds"] + _DYING
        while True:
            self._reap()
            try:
                os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            except ChildProcessError:
                self._child = 0
                return 0
            if time.monotonic() > deadline:
                return len(self._family.members())
            self._family.kill(self._child)
            time.sleep(0.002)

    def _tell(self, message: Message) -> None:
        self._control.send(message)
