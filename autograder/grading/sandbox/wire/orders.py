"""What the grader asks of a supervisor: start a notebook, stop it, keep its files."""

from __future__ import annotations

import secrets
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from autograder.grading.sandbox.clean.hostile import Spoiled
from autograder.grading.sandbox.host.job import Trouble
from autograder.grading.sandbox.host.limits import Limits
from autograder.grading.sandbox.wire.line import Closed, Late, Line


class Over(Exception):
    """The talk has ended before its time; the text tells why, for an instructor."""

    def __init__(self, trouble: Trouble, text: str) -> None:
        super().__init__(text)
        self.trouble = trouble


@dataclass
class Spent:
    """What a cell or an answer has used."""

    seconds: float = 0.0
    late: str = ""
    """Which part of its allowance was used up, if it was interrupted."""


class Supervisor:
    """The grader's view of a supervisor: trusted, but with a deadline for everything."""

    def __init__(self, line: Line, limits: Limits) -> None:
        self.line = line
        self._limits = limits
        self._ended: dict[str, Any] | None = None
        self._gone: Over | None = None

    def keep(self) -> bool:
        """Remember the scratch folder for the next notebook; whether all of it was taken."""
        return bool(self._order({"do": "keep"}, "kept")["kept"])

    def start(self) -> Line:
        """Start the process of a notebook; the line to it."""
        self._ended = None
        ours, theirs = socket.socketpair()
        nonce = secrets.token_bytes(16)
        order = {"do": "start", "nonce": nonce.hex()}
        with theirs:
            self._send(order, self._deadline(), (theirs.fileno(),))
        return Line(ours, nonce)

    def stop(self) -> dict[str, Any]:
        """End all processes of the notebook; how it ended."""
        return self._order({"do": "stop"}, "stopped")

    @contextmanager
    def timed(self, seconds: float, spent: Spent) -> Iterator[None]:
        """Let the notebook use so many seconds: then it is interrupted, and at last killed."""
        self._send({"do": "clock", "seconds": seconds}, self._deadline())
        try:
            yield
        finally:
            told = self._order({"do": "time"}, "spent")
            spent.seconds, spent.late = told["spent"], told["late"]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The notebook waits for the grader meanwhile: that is no time of its own."""
        self._send({"do": "pause", "paused": True}, self._deadline())
        try:
            yield
        finally:
            self._send({"do": "pause", "paused": False}, self._deadline())

    def why_ended(self) -> Over:
        """Why the process of the notebook is no more."""
        try:
            if self._ended is None:
                self._ended = self._order({"do": "end"}, "ended")
        except Over as broken:
            return broken
        return _how_it_ended(self._ended, self._limits)

    def _order(self, message: dict[str, Any], answer: str) -> dict[str, Any]:
        """Send an order, and wait until it is done.

        Raises:
            Over: the supervisor is gone, or does not answer.
        """
        deadline = self._deadline()
        self._send(message, deadline)
        try:
            while True:
                told = self._hear(deadline)
                if answer in told:
                    return told
                self._ended = told
        except Late:
            raise self._broken("it does not answer") from None

    def _send(
        self, message: dict[str, Any], deadline: float, descriptors: tuple[int, ...] = ()
    ) -> None:
        if self._gone:
            raise self._gone
        try:
            self.line.send(message, deadline, descriptors)
        except (Closed, Late):
            raise self._broken("it does not listen") from None

    def _hear(self, deadline: float) -> dict[str, Any]:
        try:
            told = self.line.receive(deadline) or {}
        except (Closed, Spoiled):
            raise self._broken("it has ended") from None
        if "broken" in told:
            raise self._broken(told["broken"])
        return told

    def _broken(self, why: str) -> Over:
        self._gone = Over(Trouble.SANDBOX, f"the sandbox broke down ({why})")
        return self._gone

    def _deadline(self) -> float:
        return time.monotonic() + self._limits.backstop(self._limits.grace_seconds)


def _how_it_ended(told: dict[str, Any], limits: Limits) -> Over:
    reasons = {
        "memory": (Trouble.MEMORY, f"used more than {limits.memory:,} bytes of memory"),
        "processes": (Trouble.PROCESSES, f"started more than {limits.processes} processes"),
        "disk": (Trouble.DISK, f"wrote more than {limits.disk_bytes:,} bytes"),
        "time": (Trouble.KILLED, "ran too long, ignored that it was interrupted, and was killed"),
        "line": (Trouble.SPOILED, "closed its line to the grader"),
    }
    if told.get("ended") in reasons:
        return Over(*reasons[told["ended"]])
    status = told.get("status")
    if status == -signal.SIGXCPU:
        text = f"used more than {limits.cpu_seconds} seconds of processor time"
        return Over(Trouble.KILLED, text)
    if isinstance(status, int) and status < 0:
        name = signal.strsignal(-status) or f"signal {-status}"
        return Over(Trouble.ENDED, f"crashed or was killed ({name})")
    return Over(Trouble.ENDED, f"ended its own process (exit status {status})")
