"""What the tasks of Homework 5 are, notebook by notebook; and what its notebooks import."""

from __future__ import annotations

from lab_utils.kit.task import Task
from lab_utils.labs.hw5.tasks import batches, integers, ring, times, weights

TASKS: tuple[Task, ...] = (
    *times.TASKS,
    *ring.TASKS,
    *batches.TASKS,
    *weights.TASKS,
    *integers.TASKS,
)
NAMES: dict[str, str] = times.NAMES | ring.NAMES | batches.NAMES | weights.NAMES | integers.NAMES
