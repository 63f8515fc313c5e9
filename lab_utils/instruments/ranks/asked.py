"""Runs a student's function on ranks, and tells what came of it as plain data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from lab_utils.instruments.ranks.errors import RanksFailed
from lab_utils.instruments.ranks.numbers import numbers_of
from lab_utils.instruments.ranks.records import Link
from lab_utils.instruments.ranks.start import run_ranks
from lab_utils.kit.answers import a_type
from lab_utils.kit.errors import BadAnswer

BACKWARD = "backward-starts"
"""A line in diaries, for who counts what happened before it and after it."""


def asked_of_ranks(given: Mapping[str, Any], job: Callable[..., Any], *arguments: Any) -> Any:
    """What each rank tells, and their diaries; or why they stopped.

    An error that a rank's own code raises is told as that of any function.
    """
    try:
        run = run_ranks(given["ranks"], job, *arguments, link=Link(*given["link"]))
    except RanksFailed as error:
        if error.kind in ("raised", "died"):
            raise
        return {"stopped": error.kind, "words": str(error)}
    return {"told": run.results, "diaries": run.diaries}


def a_tensor(value: Any, what: str = "what you return") -> torch.Tensor:
    """``value`` if it is a tensor."""
    if not isinstance(value, torch.Tensor):
        raise BadAnswer(f"{what} is {a_type(value)}", "A tensor is wanted there.")
    return value


def tensor_told(value: Any, what: str = "what you return") -> dict[str, Any]:
    """Shape and numbers of a tensor."""
    tensor = a_tensor(value, what)
    return {"shape": list(tensor.shape), "numbers": numbers_of(tensor)}


def gradient_told(tensor: torch.Tensor) -> list[float] | None:
    """The numbers of a gradient; None where there is none."""
    return None if tensor.grad is None else numbers_of(tensor.grad)
