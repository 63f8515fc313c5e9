"""What the tasks of Lab 3B are, notebook by notebook."""

from __future__ import annotations

from lab_utils.kit.task import Task
from lab_utils.labs.lab3b.tasks import models, pipeline, ranks

TASKS: tuple[Task, ...] = (*ranks.TASKS, *pipeline.TASKS, *models.TASKS)
