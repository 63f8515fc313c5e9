"""Oracles of the tasks about tile sizes and data types: search, and PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.flop_counter import FlopCounterMode

from lab_utils.labs.lab1b.judge.tiling import elements_moved

DTYPES = {
    "fp64": torch.float64,
    "fp32": torch.float32,
    "bf16": torch.bfloat16,
    "int8": torch.int8,
}


def best_tiles(shape: Sequence[int], budget: int) -> tuple[int, list[tuple[int, int, int]]]:
    """The least traffic of tiles that fit while C stays, and all tiles that have it."""
    choices = product(*([d for d in range(1, whole + 1) if whole % d == 0] for whole in shape))
    fitting = [(m, n, k) for m, n, k in choices if m * k + k * n + m * n <= budget]
    moved = {sizes: elements_moved(shape, sizes) for sizes in fitting}
    least = min(moved.values())
    return least, [sizes for sizes, nbytes in moved.items() if nbytes == least]


def counted_flops(shape: Sequence[int]) -> int:
    """Operations of a product, as PyTorch counts them; nothing of that size is made."""
    m, n, k = shape
    with FlopCounterMode(display=False) as counter:
        torch.empty(m, k, device="meta") @ torch.empty(k, n, device="meta")
    return int(counter.get_total_flops())


def counted_bytes(shape: Sequence[int], dtype: str) -> int:
    """Bytes of the three matrices of a product, as PyTorch stores them."""
    m, n, k = shape
    matrices = [
        torch.empty(*s, dtype=DTYPES[dtype], device="meta") for s in ((m, k), (k, n), (m, n))
    ]
    return sum(matrix.untyped_storage().nbytes() for matrix in matrices)


def quantized_by_search(weight: NDArray[np.float64]) -> tuple[NDArray[np.float64], list[float]]:
    """For each weight the nearest of all 255 steps, by looking at each; and the scales."""
    scales = []
    for row in weight:
        ordered = sorted(abs(float(value)) for value in row)
        scales.append(ordered[-1] / 127 or 1.0)
    steps = np.arange(-127, 128)
    near = np.abs(weight[:, :, None] - np.array(scales)[:, None, None] * steps)
    return steps[near.argmin(axis=2)].astype(float), scales
