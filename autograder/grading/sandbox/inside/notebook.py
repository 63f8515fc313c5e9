"""The process of one notebook: it runs the cells, then answers questions about them."""

from __future__ import annotations

import os
import random
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, NoReturn

from lab_utils.kit.lab import judged_elsewhere

from . import answers, ceilings, filters, kernel
from .clock import SIGNALS, allowance, in_words
from .outlet import Outlet, Overflow, Stream
from .protocol import Channel, Message, only_keep
from .shell import NotebookShell


class OutOfTime(BaseException):
    """Raised in a cell that runs too long. Not an Exception, so that few swallow it."""


def run_notebook(shell: NotebookShell, descriptor: int, setup: Mapping[str, Any]) -> NoReturn:
    """Serve one notebook on the socket ``descriptor``, then end the process."""
    overflow = _shut_in(descriptor, setup)
    channel = Channel(descriptor, bytes.fromhex(setup["nonce"]))
    outlet = Outlet(channel.send, setup["limits"]["output_bytes"], overflow)
    sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    sys.stdout, sys.stderr = Stream(outlet, "stdout", 1), Stream(outlet, "stderr", 2)
    shell.outlet = outlet
    _seed()
    notebook = _Notebook(shell, outlet, channel, setup)
    process = os.getpid()
    while received := channel.receive():
        reply = notebook.handle(received[0])
        if os.getpid() != process:  # student code has forked, and this is the copy
            break
        outlet.tell(reply)
    os._exit(0)


def _shut_in(descriptor: int, setup: Mapping[str, Any]) -> Overflow:
    """Set the limits; from here on nothing can be undone. What is behind stdout and stderr."""
    os.setsid()
    if setup["linux"]:
        kernel.prctl(kernel.SET_DUMPABLE, 1)  # as usual; the supervisor had it off
        _go_first(setup["proc"])
    only_keep({descriptor})
    os.open(os.devnull, os.O_RDWR)
    for _ in range(2):
        os.dup(0)
    overflow = Overflow()  # later there is no memory of this kind
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(setup["lab"])
    os.environ |= {"HOME": setup["lab"], "TMPDIR": setup["temporary"]}
    tempfile.tempdir = None  # the warm process may have looked it up, and had another one
    sys.path.append(setup["lab"])  # last: a file called torch.py is never taken for the library
    if setup["shut_in"]:
        os.nice(_NICE)
        ceilings.set_ceilings(setup["limits"], setup["process_ceiling"])
    if setup["files"] is not None:
        readable, writable = setup["files"]
        filters.confine_files([*readable, f"/proc/{os.getpid()}"], writable)
    if setup["shut_in"]:
        filters.filter_calls(own_namespaces=setup["in_house"])
    return overflow


_NICE = 5
"""Enough for the supervisor to get its share beside many; not so much that a busy machine
starves the notebook."""


def _go_first(processes: int | None) -> None:
    """If memory runs out, this process is ended before others. ``processes`` is /proc."""

    def opened(path: str, flags: int) -> int:
        return os.open(path, flags, dir_fd=processes)

    path = "/proc/self/oom_score_adj" if processes is None else "self/oom_score_adj"
    with suppress(OSError), open(path, "w", opener=opened) as file:
        file.write("1000")


def _seed() -> None:
    """Chance is the same in every run, so that grading twice gives the same grades."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


class _Notebook:
    """Does one thing after the other, as the grader says."""

    def __init__(
        self, shell: NotebookShell, outlet: Outlet, channel: Channel, setup: Mapping[str, Any]
    ) -> None:
        self._shell, self._outlet, self._channel = shell, outlet, channel
        self._limits = setup["limits"]
        self._marks = answers.first_marks() or answers.marks()
        self._remembered: list[dict[str, Any]] = []
        judged_elsewhere(self._judge)

    def handle(self, message: Message) -> Message:
        if message["do"] == "run":
            return {"ran": self._run(message)}
        if message["do"] == "ask":
            return {"reply": self._answer(message)}
        space = self._shell.user_ns
        if message["do"] == "remember":
            self._remembered.append(dict(space))
            return {"remembered": True}
        return {"changed": answers.have_changed(self._marks)}

    def _run(self, message: Message) -> Message:
        self._outlet.open(message["output"], message["reserve"])
        failed = False
        try:
            with self._at_most(message["seconds"], self._limits["cell_seconds"]):
                done = self._shell.run_cell(message["source"], store_history=True)
                failed = not done.success
        except BaseException as error:  # raised after the cell, while its results were shown
            failed = True
            self._shell._showtraceback(type(error), error, [f"{type(error).__name__}: {error}"])
        self._outlet.collect()
        count = self._shell.execution_count - 1
        return {"failed": failed, "count": count}

    def _answer(self, message: Message) -> Message:
        self._outlet.open()  # what is printed while an answer is made is nobody's business
        try:
            with self._at_most(message["seconds"], self._limits["question_seconds"]):
                space, most = self._shell.user_ns, self._limits["reply_bytes"]
                if message["state"] is not None:
                    space.clear()
                    space.update(self._remembered[message["state"]])
                return answers.answer_to(message, space, most, self._borrow)
        except OutOfTime as late:
            look = "Look for a loop that does not end, or for something that it waits for."
            return {"error": f"no answer: {late}", "look": look}
        except BaseException as error:
            words = f"{type(error).__name__}: {str(error)[:200]}"
            return {"error": words, "look": "Return the answer; do not end the program."}
        finally:
            self._outlet.collect()

    def _borrow(self, name: str, arguments: Any) -> Any:
        """What the grader answers to the call of a lent function."""
        return self._request({"borrow": name, "arguments": arguments})["lent"]

    def _judge(self, lab: str, task: str, reply: Message) -> Any:
        """What the grader finds wrong with a reply on a public case; only cells may ask."""
        return self._request({"judge": {"lab": lab, "task": task, "reply": reply}})["found"]

    def _request(self, request: Message) -> Message:
        said: list[Any] = []
        self._outlet.tell(request, lambda: said.append(self._channel.receive()))
        (received,) = said
        if received is None:
            raise EOFError("the grader has hung up")
        answer: Message = received[0]
        return answer

    @contextmanager
    def _at_most(self, seconds: float, usual: float) -> Iterator[None]:
        """Let the supervisor interrupt the body; it kills the process if that is not heeded."""
        busy = True

        def stop(late: str) -> None:
            __tracebackhide__ = True  # the student sees the line that was running
            why = in_words(late, allowance(seconds, self._limits))
            raise OutOfTime(f"interrupted ({why if seconds >= usual else 'no time was left'})")

        def ring(number: int, _: object) -> None:
            __tracebackhide__ = True
            if not busy:
                return
            late = next(kind for kind, own in SIGNALS.items() if own == number)
            if self._outlet.sending:  # half a message would spoil the line to the grader
                self._outlet.deferred = partial(stop, late)
            else:
                stop(late)

        for number in SIGNALS.values():
            signal.signal(number, ring)
        try:
            yield
        finally:
            busy = False
            self._outlet.deferred = None
