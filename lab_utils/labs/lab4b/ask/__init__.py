"""How the tasks of Lab 4B are asked."""

from __future__ import annotations

from lab_utils.kit.task import Ask, Borrow
from lab_utils.labs.lab4b.ask import job, mesh

ASK: dict[str, Ask] = mesh.ASK | job.ASK
BORROWED: dict[str, Borrow] = mesh.BORROWED | job.BORROWED
