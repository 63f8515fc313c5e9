"""What a cell shows, sent to the grader while the cell runs."""

from __future__ import annotations

import io
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable

from .protocol import Message

_CHUNK = 8192  # characters that are sent together
_DELAY = 0.2  # seconds that text may wait for more
_CLEAR = 50  # bytes of the message that has outputs forgotten
RESERVE = 64_000
"""Bytes for the error of a cell that has used up what it may show."""


class Overflow:
    """The files behind descriptors 1 and 2: what programs and C code write there."""

    def __init__(self) -> None:
        for descriptor in (1, 2):
            if hasattr(os, "memfd_create"):
                file = os.memfd_create("output")
            else:
                file, path = tempfile.mkstemp()
                os.unlink(path)
            os.dup2(file, descriptor)
            os.close(file)

    def drain(self, most: int) -> dict[str, str]:
        """What has been written since the last time, by stream, at most ``most`` bytes each."""
        found = {}
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            try:
                if os.fstat(descriptor).st_size:
                    os.lseek(descriptor, 0, os.SEEK_SET)
                    found[name] = os.read(descriptor, most).decode("utf-8", "replace")
                    os.ftruncate(descriptor, 0)
                    os.lseek(descriptor, 0, os.SEEK_SET)
            except OSError:  # student code has closed it
                continue
        return found


class Outlet:
    """Sends outputs in the form of nbformat, up to a number of bytes for each cell.

    Text of one stream is sent in chunks. What is too much is dropped where it is made;
    the grader gets one message that says so.
    """

    def __init__(
        self, send: Callable[[Message], None], most: int, overflow: Overflow | None = None
    ) -> None:
        self.deferred: Callable[[], None] | None = None
        """Set by a signal that must not come between two halves of a message."""
        self.sending = False
        self._send, self._most, self._process = send, most, os.getpid()
        self._overflow = overflow
        self._lock = threading.RLock()
        self._left, self._reserve, self._cut = 0, 0, False
        self._name, self._text = "", io.StringIO()
        self._sent_at = 0.0

    def open(self, most: int = 0, reserve: int = 0) -> None:
        """Begin with a cell: at most ``most`` bytes, and ``reserve`` for its error."""
        self._text = io.StringIO()
        self._left, self._reserve = most, reserve
        self._cut = not most and not reserve  # nothing is wanted: nothing needs to be said

    def write(self, name: str, text: str) -> None:
        """Text for ``stdout`` or ``stderr``."""
        if os.getpid() != self._process:  # a fork of the notebook: it has no line to the grader
            os.write(1 if name == "stdout" else 2, text.encode("utf-8", "replace"))
            return
        if not self._left and self._cut:
            return
        with self._lock:
            if name != self._name:
                self._flush()
                self._name = name
            room = max(0, self._left - self._text.tell())
            self._text.write(text[: room + 1])
            waited = time.monotonic() - self._sent_at > _DELAY
            if self._text.tell() > _CHUNK or waited or len(text) > room:
                self._flush()

    def show(self, output: Message) -> None:
        """Any other output, as a whole or not at all."""
        if os.getpid() == self._process:
            with self._lock:
                self.collect()
                self._flush()
                self._put(output)

    def clear(self, wait: bool) -> None:
        """Have forgotten what was shown. It takes as much of what may be sent as a short text."""
        if os.getpid() == self._process:
            with self._lock:
                self._flush()
                if self._left >= _CLEAR:
                    self._left -= _CLEAR
                    self._guarded({"clear": wait})
                elif not self._cut:
                    self._cut = True
                    self._guarded({"cut": True})

    def tell(self, message: Message, listen: Callable[[], object] | None = None) -> None:
        """A message that is no output; ``listen`` takes in the answer, undisturbed."""
        with self._lock:
            self._flush()
            self._guarded(message, listen)

    def collect(self) -> None:
        """Take in what programs and C code have written."""
        if self._overflow:
            for name, text in self._overflow.drain(self._most).items():
                self.write(name, text)

    def flush(self) -> None:
        """Send what has been written so far."""
        if os.getpid() == self._process:
            with self._lock:
                self._flush()

    def _flush(self) -> None:
        text = self._text.getvalue()
        if text:
            self._text = io.StringIO()
            self._sent_at = time.monotonic()
            self._put({"output_type": "stream", "name": self._name, "text": text})

    def _put(self, output: Message) -> None:
        size = len(json.dumps(output, ensure_ascii=False, default=str).encode("utf-8", "replace"))
        if size <= self._left:
            self._left -= size
            self._guarded({"output": output})
            return
        if output["output_type"] == "stream":
            text, self._left = _beginning(output["text"], self._left), 0
            if text:
                self._guarded({"output": {**output, "text": text}})
        elif output["output_type"] == "error" and size <= self._reserve:
            self._reserve -= size
            self._guarded({"output": output})
        if not self._cut:
            self._cut = True
            self._guarded({"cut": True})

    def _guarded(self, message: Message, listen: Callable[[], object] | None = None) -> None:
        self.sending = True
        try:
            self._send(message)
            if listen:
                listen()
        finally:
            self.sending = False
        if self.deferred:
            late, self.deferred = self.deferred, None
            late()


def _beginning(text: str, room: int) -> str:
    """The longest start of ``text`` that takes about ``room`` bytes as JSON."""
    while text and len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) > room:
        text = text[: min(len(text) - 1, len(text) * 3 // 4)]
    return text


class Stream(io.TextIOBase):
    """``sys.stdout`` or ``sys.stderr`` of a notebook."""

    encoding = "utf-8"

    def __init__(self, outlet: Outlet, name: str, descriptor: int) -> None:
        super().__init__()
        self._outlet, self.name, self._descriptor = outlet, name, descriptor
        self.buffer = open(descriptor, "wb", buffering=0, closefd=False)  # noqa: SIM115

    def write(self, text: str) -> int:
        """Show ``text``."""
        if not isinstance(text, str):
            raise TypeError(f"write() takes text, not {type(text).__name__}")
        self._outlet.write(self.name, text)
        return len(text)

    def flush(self) -> None:
        """Show at once what has been written."""
        self._outlet.flush()

    def writable(self) -> bool:
        """Yes."""
        return True

    def fileno(self) -> int:
        """The descriptor that programs started from here write to."""
        return self._descriptor

    def isatty(self) -> bool:
        """No."""
        return False
