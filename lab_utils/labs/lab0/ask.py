"""How the tasks of Lab 0 are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.kit.answers import ask_file, number
from lab_utils.kit.parts import asked_in_parts


def ask_bytes(function: Any, given: Mapping[str, Any]) -> float:
    """What ``tensor_bytes`` returns; a whole number, whatever type it has, comes as an int."""
    told = number(function(tuple(given["shape"]), given["dtype"]), "what you return")
    return int(told) if told.is_integer() else told


ASK = {"1.1": asked_in_parts(ask_bytes), "1.2": ask_file}
