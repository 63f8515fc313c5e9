"""How the tasks of Lab 3B are asked."""

from __future__ import annotations

from lab_utils.kit.task import Ask, Borrow
from lab_utils.labs.lab3b.ask import models, pipeline, ranks

ASK: dict[str, Ask] = ranks.ASK | pipeline.ASK | models.ASK
BORROWED: dict[str, Borrow] = ranks.BORROWED | models.BORROWED
