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
        "replica": "lab_utils.instruments.ranks.replicas",
        "replica_loss": "lab_utils.instruments.ranks.replicas",
        **models.NAMES,
    },
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
