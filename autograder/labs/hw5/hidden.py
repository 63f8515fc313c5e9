"""The instructors' side of Homework 5: its hidden cases, and what grading it takes."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.hidden import Hidden
from autograder.labs.hw5 import lending

HIDDEN = Hidden(
    lab="hw5",
    cases=Path(__file__).with_name("hidden_cases.json"),
    lent=lending.LENT,
    lend=lending.lend,
    preload=(
        "torch.distributed",
        "torch.fx.experimental.symbolic_shapes",  # what backward loads
        "lab_utils.labs.hw5.ask",
    ),
)
