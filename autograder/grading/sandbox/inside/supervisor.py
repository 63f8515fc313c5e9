"""The trusted process beside the notebooks of one submission.

It starts one process for each notebook, watches what they use, ends all that is left of
them, and keeps the scratch folder. Student code runs as the same user but cannot reach
it: it is the first process of its namespace, and may not be traced or read.
"""

from __future__ import annotations

import base64
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
from .family import Family
from .protocol import Channel, Message
from .scratch import Snapshot, put_back, take_snapshot, write_files

TICK = 0.1
"""Seconds between two looks at what the processes of a notebook use."""

_DYING = 60.0
"""Seconds that many large processes may take to go once they are killed, on a busy machine."""

NotebookMain = Callable[[int, Message], NoReturn]


def supervise(control: Channel, setup: Mapping[str, Any], run_notebook: NotebookMain) -> NoReturn:
    """Serve one submission, then end. ``setup`` says how it is shut in."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # which the first process of a namespace ignores
    try:
        lab = _shut_in(setup)
    except OSError as error:
        control.send({"failed": str(error)})
        os._exit(1)
    control.send({"ready": True})
    try:
        Supervisor(control, setup, lab, run_notebook).serve()
    except Exception as error:
        control.send({"broken": f"{type(error).__name__}: {error}"})
    os._exit(0)


def _shut_in(setup: Mapping[str, Any]) -> Path:
    limits = setup["limits"]
    if setup["room"]:
        namespaces.enter_room(limits["disk_bytes"], limits["disk_files"])
    elif setup["linux"]:
        kernel.prctl(kernel.SET_SUBREAPER, 1)  # orphans come to us
    os.umask(0o077)
    os.makedirs(setup["lab"], exist_ok=True)
    if setup["shut_in"]:
        namespaces.become(setup["uid"], [setup["lab"], *setup["emptied"]])
        kernel.prctl(kernel.SET_DUMPABLE, 0)
    return Path(setup["lab"])


class Supervisor:
    """Does what the grader asks for, and tells it when a notebook's process has ended."""

    def __init__(
        self, control: Channel, setup: Mapping[str, Any], lab: Path, run_notebook: NotebookMain
    ) -> None:
        self._control, self._setup, self._lab = control, setup, lab
        self._limits = setup["limits"]
        self._grace = allowance(self._limits["grace_seconds"], self._limits)
        self._run_notebook = run_notebook
        self._family = Family(setup["room"] or os.getpid() == 1, setup["linux"])
        self._child = 0
        self._status: int | None = None
        self._saved = Snapshot()
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

    def _do_files(self, message: Message, _: list[int]) -> None:
        files = {name: base64.b64decode(text) for name, text in message["files"].items()}
        try:
            write_files(self._lab, files)
            self._tell({"filled": True})
        except OSError as error:
            self._tell({"filled": False, "why": str(error)})
        self._do_keep({}, [], quietly=True)

    def _do_start(self, message: Message, descriptors: list[int]) -> None:
        put_back(self._lab, self._saved)
        for folder in self._setup["emptied"]:
            put_back(Path(folder), Snapshot())
        self._status = self._clock = None
        self._child = os.fork()
        if not self._child:
            try:
                self._run_notebook(descriptors[0], {**self._setup, **message})
            finally:
                os._exit(70)
        for descriptor in descriptors:
            os.close(descriptor)

    def _do_keep(self, _message: Message, _: list[int], quietly: bool = False) -> None:
        self._saved = take_snapshot(self._lab, self._limits["disk_bytes"] // 2)
        if not quietly:
            self._tell({"kept": self._saved.complete})

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
        if usage.resident(processes) <= most or started < self._count_again:
            return False
        exact = usage.proportional(processes)
        # Counting slows down what is counted: never spend more than a tenth of the time on it.
        self._count_again = time.monotonic() + 10 * (time.monotonic() - started)
        return exact > most

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
