"""The instructors' side of Lab 1B: its hidden cases."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.hidden import Hidden

HIDDEN = Hidden(
    lab="lab1b",
    cases=Path(__file__).with_name("hidden_cases.json"),
    preload=("numpy", "pandas", "torch", "ipywidgets"),
)
