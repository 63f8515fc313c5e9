"""Numbers that ranks start with, the same for a seed; and the numbers of a tensor as plain data."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def random_numbers(
    seed: int, shape: Sequence[int], dtype: torch.dtype = torch.float64
) -> torch.Tensor:
    """Numbers around 0, the same for a seed."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(tuple(shape), generator=generator, dtype=torch.float64).to(dtype)


def numbers_of(tensor: torch.Tensor) -> list[float]:
    """The elements of a tensor, one after the other."""
    flat: list[float] = tensor.detach().reshape(-1).tolist()
    return flat
