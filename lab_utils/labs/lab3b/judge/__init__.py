"""What is right in the tasks of Lab 3B, and what a wrong answer was probably thinking."""

from __future__ import annotations

from lab_utils.kit.task import Judge
from lab_utils.labs.lab3b.judge import models, pipeline, ranks

JUDGE: dict[str, Judge] = ranks.JUDGE | pipeline.JUDGE | models.JUDGE
