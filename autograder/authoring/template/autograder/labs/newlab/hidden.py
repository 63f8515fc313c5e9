"""The instructors' side of the lab: its hidden cases."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.hidden import Hidden

HIDDEN = Hidden(lab="newlab", cases=Path(__file__).with_name("hidden_cases.json"))
