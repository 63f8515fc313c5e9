"""How the tasks of Homework 5 are asked."""

from __future__ import annotations

from lab_utils.kit.task import Ask, Borrow
from lab_utils.labs.hw5.ask import batches, integers, ring, times, weights

ASK: dict[str, Ask] = times.ASK | ring.ASK | batches.ASK | weights.ASK | integers.ASK
BORROWED: dict[str, Borrow] = weights.BORROWED | integers.BORROWED
