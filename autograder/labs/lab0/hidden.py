"""The instructors' side of Lab 0: its hidden tensors."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.hidden import Hidden

HIDDEN = Hidden(lab="lab0", cases=Path(__file__).with_name("hidden_cases.json"))
