"""One end of the line between a rank and the switch: whole Python values, one after the other."""

from __future__ import annotations

import pickle
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("!Q")
_MOST = 1 << 20  # bytes that are read at once


class HungUp(Exception):
    """The other end is gone."""


def put(line: socket.socket, value: Any) -> None:
    """Send one value."""
    packed = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    try:
        line.sendall(_LENGTH.pack(len(packed)) + packed)
    except OSError as error:
        raise HungUp from error


def take(line: socket.socket) -> Any:
    """Wait for one value.

    Raises:
        HungUp: there will be none.
    """
    (length,) = _LENGTH.unpack(_exactly(line, _LENGTH.size))
    return pickle.loads(_exactly(line, length))


def _exactly(line: socket.socket, length: int) -> bytes:
    parts = bytearray()
    while len(parts) < length:
        try:
            got = line.recv(min(length - len(parts), _MOST))
        except OSError as error:
            raise HungUp from error
        if not got:
            raise HungUp
        parts += got
    return bytes(parts)
