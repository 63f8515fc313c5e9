"""Lab 0, first steps: what the kit knows of it. The smallest lab there is, and the worked example
of docs/add-a-lab.md."""

from __future__ import annotations

from lab_utils.kit.files import HandedIn
from lab_utils.kit.lab import Lab
from lab_utils.kit.task import Task

LAB = Lab(
    home=__name__,
    noun="tensor",
    tasks=(
        Task("1.1", "bytes of a tensor", 0.5, "tensor_bytes", "shape, dtype", "a number of bytes"),
        Task(
            "1.2",
            "the file bytes.csv",
            0.25,
            "bytes.csv",
            returns="the name of the file bytes.csv",
        ),
    ),
    files=(HandedIn("bytes.csv"),),
    names={"tiny_model": ".model"},
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
