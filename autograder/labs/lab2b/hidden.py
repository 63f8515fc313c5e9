"""The instructors' side of Lab 2B: its hidden cases, and what is lent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.grading.hidden import Hidden
from lab_utils.kit.task import Case

_MISSES = Path(__file__).with_name("lent_misses.py")


def _lend(_name: str, _case: Case, _arguments: Any) -> str:
    """The text of a right ``misses``."""
    return _MISSES.read_text(encoding="utf-8")


HIDDEN = Hidden(
    lab="lab2b",
    cases=Path(__file__).with_name("hidden_cases.json"),
    lent={"1.2": ("misses",), "1.3": ("misses",)},
    lend=_lend,
    preload=("numpy", "ipywidgets"),
)
