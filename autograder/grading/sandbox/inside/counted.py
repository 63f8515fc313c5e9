"""The control group of a room, as its supervisor sees it."""

from __future__ import annotations

import os
from contextlib import suppress


class Counted:
    """This process and all that comes of it, in the group that the grader made, if it did.

    ``joining`` is the file that takes members, ``events`` the one that tells what the kernel did.
    """

    def __init__(self, joining: int | None = None, events: int | None = None) -> None:
        self._events = events
        if joining is not None:
            with suppress(OSError):  # then the supervisor counts alone
                os.write(joining, b"0")
            os.close(joining)

    def was_full(self) -> bool:
        """Whether the kernel has ended a process of the group for want of memory."""
        if self._events is None:
            return False
        told = os.pread(self._events, 4096, 0).decode().split()
        rows = dict(zip(told[::2], told[1::2], strict=False))
        return rows.get("oom_kill", "0") != "0"
