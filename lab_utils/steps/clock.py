"""A stopwatch for operators, which a check can replace by a pretended one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


def _real() -> float:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()


_now: Callable[[], float] = _real


def clock() -> float:
    """Seconds on a clock that only goes forward; work on a GPU is waited for."""
    return _now()


@contextmanager
def pretended(now: Callable[[], float]) -> Iterator[None]:
    """While this is open, ``clock`` tells the time of ``now``."""
    global _now
    before, _now = _now, now
    try:
        yield
    finally:
        _now = before
