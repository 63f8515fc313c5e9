"""Frames of JSON on a socket, each with a length and the nonce of the socket."""

from __future__ import annotations

import json
import os
import socket
import struct
from typing import Any

HEADER = struct.Struct(">16sI")
NO_NONCE = bytes(16)
_MOST_DESCRIPTORS = 8

Message = dict[str, Any]


def frame(message: Message, nonce: bytes = NO_NONCE) -> bytes:
    """``message`` as it goes over a socket.

    Raises:
        ValueError: it holds NaN, infinity, or a value that JSON does not know.
    """
    text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    body = text.encode("utf-8", "replace")
    return HEADER.pack(nonce, len(body)) + body


class Channel:
    """The sandbox' end of a socket. It trusts the grader at the other end."""

    def __init__(self, descriptor: int, nonce: bytes = NO_NONCE) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._socket.setblocking(True)
        self._nonce = nonce

    def fileno(self) -> int:
        """The descriptor, for ``select``."""
        return self._socket.fileno()

    def send(self, message: Message) -> None:
        """Send one message."""
        self._socket.sendall(frame(message, self._nonce))

    def receive(self) -> tuple[Message, list[int]] | None:
        """The next message and the descriptors that came along; None when there is no more."""
        head, descriptors, _, _ = socket.recv_fds(self._socket, HEADER.size, _MOST_DESCRIPTORS)
        head += self._read(HEADER.size - len(head)) if head else b""
        if len(head) < HEADER.size:
            return None
        _, length = HEADER.unpack(head)
        body = self._read(length)
        return (json.loads(body), descriptors) if len(body) == length else None

    def close(self) -> None:
        """Let go of the descriptor."""
        self._socket.close()

    def _read(self, wanted: int) -> bytes:
        parts = []
        while wanted and (part := self._socket.recv(min(wanted, 1 << 20))):
            parts.append(part)
            wanted -= len(part)
        return b"".join(parts)


def only_keep(descriptors: set[int]) -> None:
    """Close every other descriptor of this process, the standard ones too."""
    start = 0
    for descriptor in sorted(descriptors):
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, 65536)
