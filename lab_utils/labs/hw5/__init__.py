"""Homework 5, distributed training and quantization: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.lab import Lab, Small
from lab_utils.labs.hw5.tables import FILES
from lab_utils.labs.hw5.tasks import NAMES, TASKS

LAB = Lab(
    home=__name__,
    noun="case",
    packages=("graphs",),
    tasks=TASKS,
    files=FILES,
    small=Small("HW5_SIZE", "small", "full"),
    names=NAMES,
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
