"""The instructors' side of Lab 2A: its hidden cases."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.hidden import Hidden

HIDDEN = Hidden(
    lab="lab2a",
    cases=Path(__file__).with_name("hidden_cases.json"),
    peers=("scalesim",),
    preload=("numpy", "pandas", "ipywidgets", "sklearn.ensemble", "sklearn.tree"),
)
