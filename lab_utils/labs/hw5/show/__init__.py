"""Yours beside what is wanted, for the tasks of Homework 5."""

from __future__ import annotations

from lab_utils.kit.task import Show
from lab_utils.labs.hw5.show import integers, ring, times, weights

SHOW: dict[str, Show] = times.SHOW | ring.SHOW | weights.SHOW | integers.SHOW
