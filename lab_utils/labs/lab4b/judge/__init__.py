"""What is right in the tasks of Lab 4B, and what a wrong answer was probably thinking."""

from __future__ import annotations

from lab_utils.kit.task import Judge
from lab_utils.labs.lab4b.judge import job, mesh

JUDGE: dict[str, Judge] = mesh.JUDGE | job.JUDGE
