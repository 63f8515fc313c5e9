"""Ends the processes of ranks, whatever they are doing."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

_TRIES, _PAUSE = 50, 0.02  # for children that must end by themselves


def end_all(children: Iterable[int]) -> None:
    """Kill these children of this process, and wait for them.

    Where no signals may be sent (in a sandbox), they end when they find their line cut; one that
    does not look is left to whoever watches over all of them.
    """
    for pid in children:
        allowed = True
        with suppress(ProcessLookupError):
            try:
                os.kill(pid, signal.SIGKILL)
            except PermissionError:
                allowed = False
        with suppress(ChildProcessError):
            if allowed:
                os.waitpid(pid, 0)
                continue
            for _ in range(_TRIES):
                if os.waitpid(pid, os.WNOHANG)[0]:
                    break
                time.sleep(_PAUSE)
