"""Lab 3B, training across ranks: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.lab import Lab
from lab_utils.labs.lab3b.tasks import TASKS, models

LAB = Lab(
    home=__name__,
    noun="case",
    packages=("graphs", "training"),
    tasks=TASKS,
    names={
        "Stage": ".stages",
        "replica": ".stages",
        "replica_loss": ".stages",
        **models.NAMES,
    },
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
