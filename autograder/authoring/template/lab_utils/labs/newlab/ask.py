"""How the tasks are asked: call the student's function, and give back plain data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.kit.answers import number


def ask_operations(function: Any, given: Mapping[str, Any]) -> float:
    """Task 1.1."""
    return number(function(given["m"], given["k"], given["n"]), "what you return")


ASK = {"1.1": ask_operations}
