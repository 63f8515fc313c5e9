"""A small class that hands in Homework 5: right, with typical mistakes, unfilled."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster

QUANTIZATION = (
    Example(
        student("Shafi", "Goldwasser"),  # 128 steps, cut off; int8 sums; earlier scales left out
        (
            Change("t44", "torch.round(values * scale)", "(values * scale)"),
            Change("t45", "127 / largest", "128 / largest"),
            Change("t54", "x, weight = x.int(), layer.weight.int()", "weight = layer.weight"),
            Change("t51", "carried *= scale * multiplier", "pass"),
        ),
    ),
    Example(
        student("Adi", "Shamir"),  # max without abs; hooks stay; biases not on the scale
        (
            Change("t45", "weight.abs().max()", "weight.max()"),
            Change("t48", "handle.remove()", "pass"),
            Change("t56", "scale *= weight * multiplier", "pass"),
        ),
    ),
)
CLASS = (
    Example(student("Leslie", "Valiant")),
    *QUANTIZATION,
    Example(student("Manuel", "Blum"), is_filled=False),
)
ABSENT = (student("Richard", "Karp"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "hw5", CLASS, ABSENT)
