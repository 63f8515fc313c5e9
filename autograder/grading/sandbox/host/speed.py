"""How fast this machine is: limits count seconds of the processor, and some have slower ones."""

from __future__ import annotations

import time
from functools import cache
from statistics import median

_REFERENCE = 0.015
"""Seconds of the processor that the work takes on the machine that limits are meant for."""
_MOST = 8.0


@cache
def slowness() -> float:
    """How many times as long as there, measured once: never less than 1, and bounded."""
    measured = round(median(_measured() for _ in range(5)) / _REFERENCE, 1)
    return min(max(1.0, measured), _MOST)


def _measured() -> float:
    started = time.thread_time()
    _work()
    return time.thread_time() - started


def _work() -> int:
    """Numbers, texts and look-ups, as in any program of a student's."""
    table: dict[int, str] = {}
    total = 0
    for number in range(60_000):
        table[number % 997] = str(number)
        total += len(table[number * 7 % 997 % (number % 997 + 1)]) * number % 7
    return total
