"""The grader's end of a socket into a sandbox. It trusts nothing that comes out of it."""

from __future__ import annotations

import select
import socket
import time
from typing import Any

from autograder.grading.sandbox.clean.hostile import Spoiled, parse
from autograder.grading.sandbox.inside.protocol import HEADER, NO_NONCE, frame

_GULP = 1 << 16


class Closed(Exception):
    """The other end has closed the line."""


class Late(Exception):
    """Nothing came, or nothing was taken, before the deadline."""


class Line:
    """Sends and receives messages, with a deadline and a largest size for each.

    At most one message is ever held, and none that is larger than ``most`` bytes.
    """

    def __init__(self, ours: socket.socket, nonce: bytes = NO_NONCE, most: int = 1 << 20) -> None:
        self.most = most
        self.taken = 0
        """Bytes received so far."""
        self._socket, self._nonce = ours, nonce
        self._buffer = bytearray()
        ours.setblocking(False)

    def fileno(self) -> int:
        """The descriptor, for ``select``."""
        return self._socket.fileno()

    def send(
        self, message: dict[str, Any], deadline: float, descriptors: tuple[int, ...] = ()
    ) -> None:
        """Send a message, and descriptors along with it.

        Raises:
            Closed: nobody is there.
            Late: it was not taken in time.
        """
        body = memoryview(frame(message, self._nonce))
        while body:
            try:
                if descriptors:
                    sent = socket.send_fds(self._socket, [body[:1]], list(descriptors))
                    descriptors = ()
                else:
                    sent = self._socket.send(body)
            except BlockingIOError:
                self._wait(deadline, to_write=True)
                continue
            except OSError:
                raise Closed from None
            body = body[sent:]

    def receive(self, deadline: float, beside: Line | None = None) -> dict[str, Any] | None:
        """The next message; None if there is one on the line ``beside``, but not on this one.

        Raises:
            Closed: there will be no more.
            Late: none came in time.
            Spoiled: what came is no message.
        """
        while True:
            message = self._whole_message()
            if message is not None:
                return message
            if self._wait(deadline, beside) is beside and beside is not None:
                return None
            try:
                part = self._socket.recv(_GULP)
            except BlockingIOError:
                continue
            except OSError:
                raise Closed from None
            if not part:
                raise Closed
            self.taken += len(part)
            self._buffer += part

    def close(self) -> None:
        """Hang up."""
        self._socket.close()

    def _whole_message(self) -> dict[str, Any] | None:
        if len(self._buffer) < HEADER.size:
            return None
        nonce, length = HEADER.unpack_from(self._buffer)
        if nonce != self._nonce:
            raise Spoiled("bytes that are no message")
        if length > self.most:
            raise Spoiled("a message that is too long")
        end = HEADER.size + length
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[HEADER.size : end])
        del self._buffer[:end]
        return parse(body)

    def _wait(self, deadline: float, beside: Line | None = None, to_write: bool = False) -> Line:
        """Until something can be done on one of the lines, which is returned; this one first.

        What is there already is in time, also when we come late to look.
        """
        left = max(0.0, deadline - time.monotonic())
        waiting = select.poll()  # select cannot take descriptors beyond 1023
        waiting.register(self, select.POLLOUT if to_write else select.POLLIN)
        if beside is not None:
            waiting.register(beside, select.POLLIN)
        ready = [descriptor for descriptor, _ in waiting.poll(left * 1000)]
        if not ready:
            raise Late
        return self if self.fileno() in ready or beside is None else beside
