"""The instructors' side of Lab 4B: its hidden cases, and what grading it takes."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.hidden import Hidden
from autograder.labs.lab4b import lending

HIDDEN = Hidden(
    lab="lab4b",
    cases=Path(__file__).with_name("hidden_cases.json"),
    lent=lending.LENT,
    lend=lending.lend,
    preload=("ipywidgets", "lab_utils.labs.lab4b.ask"),
)
