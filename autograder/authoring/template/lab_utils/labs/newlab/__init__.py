"""A new lab: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.lab import Lab
from lab_utils.kit.task import Task

LAB = Lab(
    home=__name__,
    noun="product",
    tasks=(
        Task(
            "1.1",
            "operations of a matrix product",
            1,
            "product_operations",
            "m, k, n",
            "a number of operations",
        ),
    ),
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
