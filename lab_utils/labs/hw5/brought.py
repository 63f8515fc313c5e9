"""The tensors that ranks bring to an all-reduce, in every layout; the same for ask and judge.

Nothing here knows what is to come out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from lab_utils.instruments.ranks.numbers import random_numbers

BASE = 4
"""Rank r brings small numbers times this to the power of r: a sum tells who is in it, how often."""
_DIGITS = 97
_BETWEEN = -7  # what lies between the elements of a tensor with gaps


def brought(given: Mapping[str, Any], rank: int) -> torch.Tensor:
    """What a rank brings: elements in the order of its shape, whatever its layout in memory."""
    shape, dtype = tuple(given["shape"]), getattr(torch, given["dtype"])
    if "seed" in given:
        return random_numbers(given["seed"] + rank, shape, dtype)
    many = torch.Size(shape).numel()
    return ((torch.arange(many) % _DIGITS + 1).to(dtype) * BASE**rank).reshape(shape)


def laid_out(values: torch.Tensor, layout: str) -> tuple[torch.Tensor, torch.Tensor]:
    """The same values in another layout; and the memory that they lie in.

    ``plain``: one element after the other. ``columns``: column by column (two dimensions).
    ``gaps``: with something between any two elements of the last dimension.
    """
    if layout == "columns":
        memory = values.T.contiguous()
        return memory.T, memory
    if layout == "gaps":
        memory = torch.full((*values.shape, 2), _BETWEEN, dtype=values.dtype)
        memory[..., 0] = values
        return memory[..., 0], memory
    memory = values.clone()
    return memory, memory


def gaps_kept(memory: torch.Tensor, layout: str) -> bool:
    """Whether what lies between the elements is as it was."""
    return layout != "gaps" or bool((memory[..., 1] == _BETWEEN).all())
