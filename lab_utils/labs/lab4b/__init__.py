"""Lab 4B, a network under a training job: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.lab import Lab
from lab_utils.labs.lab4b.tasks import TASKS, job, mesh

LAB = Lab(
    home=__name__,
    noun="case",
    packages=("training",),
    tasks=TASKS,
    names=mesh.NAMES | job.NAMES,
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
