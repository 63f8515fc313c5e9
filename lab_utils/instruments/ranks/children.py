"""Ends the processes of ranks, whatever they are doing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

_PATIENCE = 1.0  # seconds, for children that must end by themselves, all together
_PAUSES = (0.001, 0.02)  # seconds: the first, and the longest


def end_all(children: Iterable[int]) -> None:
    """Kill these children of this process, and wait for them.

    Where no signals may be sent (in a sandbox), they end when they find their line cut; one that
    does not look is left to whoever watches over all of them.
    """
    left = list(children)
    killed = [pid for pid in left if _kill(pid)]
    for pid in killed:
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
    left = [pid for pid in left if pid not in killed]
    deadline, (pause, longest) = time.monotonic() + _PATIENCE, _PAUSES
    while (left := [pid for pid in left if not _has_ended(pid)]) and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(2 * pause, longest)


def _kill(pid: int) -> bool:
    """Whether it is as good as dead."""
    try:
        os.kill(pid, signal.SIGKILL)
    except PermissionError:
        return False
    except ProcessLookupError:
        pass
    return True


def _has_ended(pid: int) -> bool:
    """Whether a child is no more; it is waited for if so."""
    try:
        return bool(os.waitpid(pid, os.WNOHANG)[0])
    except ChildProcessError:
        return True
