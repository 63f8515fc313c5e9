"""How the tasks of Lab 4B are asked."""

from __future__ import annotations

from lab_utils.kit.task import Ask
from lab_utils.labs.lab4b.ask import job

ASK: dict[str, Ask] = {**job.ASK}
