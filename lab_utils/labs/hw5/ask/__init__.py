"""How the tasks of Homework 5 are asked."""

from __future__ import annotations

from lab_utils.kit.task import Ask
from lab_utils.labs.hw5.ask import batches, ring, times

ASK: dict[str, Ask] = times.ASK | ring.ASK | batches.ASK
