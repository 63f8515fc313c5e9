"""What is right in the tasks of Homework 5, and what a wrong answer was probably thinking."""

from __future__ import annotations

from lab_utils.kit.task import Judge
from lab_utils.labs.hw5.judge import batches, integers, ring, times, weights

JUDGE: dict[str, Judge] = times.JUDGE | ring.JUDGE | batches.JUDGE | weights.JUDGE | integers.JUDGE
