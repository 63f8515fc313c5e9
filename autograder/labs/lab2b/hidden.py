"""The instructors' side of Lab 2B: its hidden cases, and what is lent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.grading.hidden import Hidden
from lab_utils.instruments.buffers.show.walk import missed
from lab_utils.kit.task import Case


def _lend(_name: str, _case: Case, arguments: Any) -> list[int]:
    """What ``misses`` answers."""
    return missed(list(arguments["trace"]), int(arguments["size"]), str(arguments["policy"]))


HIDDEN = Hidden(
    lab="lab2b",
    cases=Path(__file__).with_name("hidden_cases.json"),
    lent={"1.2": ("misses",)},
    lend=_lend,
    preload=("numpy", "ipywidgets"),
)
