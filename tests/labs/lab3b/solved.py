"""What the solved notebooks of Lab 3B define, and a cell that runs beside it."""

from __future__ import annotations

from typing import Any

from lab_utils.kit.judge import Verdict
from tests.labs.lab3b.catalogue import CATALOGUE


def solution() -> dict[str, Any]:
    """Every function of the solution, with what the notebooks import at their top."""
    return CATALOGUE.solution


def space_of(code: str) -> dict[str, Any]:
    """What is defined once a cell with ``code`` has run after the solution's cells."""
    return CATALOGUE.space_of(code)


def verdict(task: str, space: dict[str, Any]) -> Verdict:
    """The verdict on what ``space`` has for a task, on public and hidden cases."""
    return CATALOGUE.verdict(task, space)
