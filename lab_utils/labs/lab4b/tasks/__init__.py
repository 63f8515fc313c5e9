"""What the tasks of Lab 4B are, notebook by notebook."""

from __future__ import annotations

from lab_utils.kit.task import Task
from lab_utils.labs.lab4b.tasks import job, mesh

TASKS: tuple[Task, ...] = (*mesh.TASKS, *job.TASKS)
