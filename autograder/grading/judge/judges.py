"""Asks the process that judges, and replaces it when an answer has brought it down."""

from __future__ import annotations

import hashlib
import json
import os
import queue
import select
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from threading import Lock, Thread
from typing import Any

from autograder.grading.sandbox.host.job import Waiting
from lab_utils.kit.errors import LabError

STARTING = 120.0
"""Seconds that the process may take to import everything from a slow disk."""
PATIENCE = 60.0
"""Seconds for one verdict."""
COMMAND = (sys.executable, "-m", "autograder.grading.judge.process")
BUSY = 5.0
"""Seconds after which nobody waits for a process that is busy, if there may be another one."""
_REMEMBERED = 20_000  # verdicts
_LONGEST = 64_000_000  # bytes of an answer; a handed-in file is the longest


class JudgeFailed(LabError):
    """The process that judges does not start; which is nobody's answer's doing."""


class Undecided(Exception):
    """The process that judges did not survive a request, or took too long."""


class _Judge:
    """One process."""

    def __init__(self) -> None:
        self.is_starting = False
        self._process: subprocess.Popen[bytes] | None = None
        self._said = bytearray()

    def ask(self, request: bytes, seconds: float) -> Any:
        """An answer; a process that ended, perhaps for another request's sake, is replaced."""
        with suppress(OSError, EOFError):
            return self._try(request, seconds)
        with suppress(OSError, EOFError):
            return self._try(request, seconds)
        raise Undecided

    def start(self) -> None:
        """Start the process.

        Raises:
            JudgeFailed: it does not come up.
        """
        was_starting, self.is_starting = self.is_starting, True
        try:
            self._start()
        finally:
            self.is_starting = was_starting

    def _try(self, request: bytes, seconds: float) -> Any:
        if self._process is None:
            self.start()
        assert self._process is not None
        try:
            self._process.stdin.write(request + b"\n")  # type: ignore[union-attr]
            self._process.stdin.flush()  # type: ignore[union-attr]
            return self._hear(seconds)["answer"]
        except TimeoutError:
            self.stop()
            raise Undecided from None
        except (OSError, EOFError):
            self.stop()
            raise

    def stop(self) -> None:
        if self._process:
            self._process.kill()
            self._process.communicate()
        self._process, self._said = None, bytearray()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            self._hear(STARTING)
        except (EOFError, TimeoutError):
            self.stop()
            raise JudgeFailed(
                "the judge does not start; python -m autograder.grading.judge.process says why"
            ) from None

    def _hear(self, seconds: float) -> Any:
        """The next line; the process is ours, but what it works on is not."""
        assert self._process is not None
        deadline = time.monotonic() + seconds
        out = self._process.stdout.fileno()  # type: ignore[union-attr]
        end = self._said.find(b"\n")
        while end < 0:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                raise TimeoutError
            part = os.read(out, 1 << 20)
            if not part:
                raise EOFError
            found = part.find(b"\n")
            end = len(self._said) + found if found >= 0 else -1
            self._said += part
            if len(self._said) > _LONGEST:
                raise TimeoutError
        line = bytes(self._said[:end])
        del self._said[: end + 1]
        return json.loads(line)


class Judges:
    """Several processes that judge, started when they are needed.

    Most answers are judged in no time, so one process serves several workers; another one starts
    where that is busy with an answer for long, so that nobody waits for somebody else's.
    The same question gets the same answer, so it is asked once.
    """

    def __init__(self, most: int = 1) -> None:
        self._idle: queue.SimpleQueue[_Judge] = queue.SimpleQueue()
        self._all: list[_Judge] = []
        self._most = most
        self._known: OrderedDict[bytes, Any] = OrderedDict()
        self._lock = Lock()
        self._closed = False

    def ask(
        self,
        lab: str,
        do: str,
        seconds: float = PATIENCE,
        *,
        waiting: Waiting = nullcontext,
        **details: Any,
    ) -> Any:
        """What ``Judge`` in ``autograder.grading.judge.process`` answers within so many seconds.

        ``waiting`` is open while it is worked out, and not at all if it is known.

        Raises:
            Undecided: the request took too long, or brought the process down.
            JudgeFailed: it does not even start.
        """
        request = json.dumps({"lab": lab, "do": do, **details}, sort_keys=True).encode()
        key = hashlib.sha256(request).digest()
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        with waiting(), self._one() as judge:
            answer = judge.ask(request, seconds)
        with self._lock:
            self._known[key] = answer
            if len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return answer

    def begin(self, labs: Iterable[str]) -> None:
        """Start a process without waiting for it: whoever asks first finds it there, or waits.

        What it takes to judge ``labs`` is loaded then, too.
        """
        judge = _Judge()
        judge.is_starting = True
        with self._lock:
            self._all.append(judge)
        Thread(target=self._prepare, args=(judge, tuple(labs)), daemon=True).start()

    def _prepare(self, judge: _Judge, labs: Sequence[str]) -> None:
        try:
            with suppress(JudgeFailed, Undecided):  # which is told to whoever asks
                for lab in labs:
                    judge.ask(json.dumps({"lab": lab, "do": "prepare"}).encode(), STARTING)
        finally:  # or everybody would wait for it
            judge.is_starting = False
            with self._lock:
                if self._closed:
                    judge.stop()
            self._idle.put(judge)

    def close(self) -> None:
        """End all processes."""
        with self._lock:
            self._closed = True
            for judge in self._all:
                judge.stop()

    @contextmanager
    def _one(self) -> Iterator[_Judge]:
        judge = self._free()
        try:
            yield judge
        finally:
            self._idle.put(judge)

    def _free(self) -> _Judge:
        """A process that has nothing to do; a new one, where all are busy for long."""
        while True:
            with suppress(queue.Empty):
                return self._idle.get(timeout=BUSY if self._all else 0)
            with self._lock:
                if len(self._all) < self._most and not any(one.is_starting for one in self._all):
                    self._all.append(_Judge())
                    return self._all[-1]
