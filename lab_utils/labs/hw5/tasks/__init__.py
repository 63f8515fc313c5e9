"""What the tasks of Homework 5 are, notebook by notebook."""

from __future__ import annotations

from lab_utils.kit.task import Task
from lab_utils.labs.hw5.tasks import integers, weights

TASKS: tuple[Task, ...] = (*weights.TASKS, *integers.TASKS)
NAMES: dict[str, str] = weights.NAMES | integers.NAMES
