"""What the tasks of Homework 5 are, topic by topic; and what its notebooks import."""

from __future__ import annotations

from lab_utils.kit.task import Task
from lab_utils.labs.hw5.tasks import batches, ring, times

TASKS: tuple[Task, ...] = (*times.TASKS, *ring.TASKS, *batches.TASKS)
NAMES: dict[str, str] = times.NAMES | ring.NAMES | batches.NAMES
