"""Quantization by numpy's int64 and by fractions: no PyTorch, no float in an integer's place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from lab_utils.labs.hw5.tensors import Recipe, made

LOW, HIGH = -128, 127
INT32 = 2**31
Pairs = Sequence[Sequence[float]]


def reals(recipe: Recipe) -> np.ndarray:
    """The numbers of a recipe, as doubles."""
    return made(recipe).numpy().astype(np.float64)


def integers(recipe: Recipe) -> np.ndarray:
    """The numbers of a recipe, as int64."""
    return made(recipe).numpy().astype(np.int64)


def nearest(values: np.ndarray, scale: float) -> np.ndarray:
    """``values * scale`` to the nearest, within int8."""
    return np.clip(np.rint(values * scale), LOW, HIGH).astype(np.int64)


def max_scale(weight: np.ndarray, steps: int = HIGH) -> float:
    """The scale at which the largest magnitude becomes ``steps``; 1 for zeros alone."""
    largest = float(np.abs(weight).max(initial=0))
    return steps / largest if largest else 1.0


def sigma_scale(weight: np.ndarray) -> float:
    """The scale at which |mean| + 3 sigma becomes 127, or that of the largest if it is less."""
    limit = abs(weight.mean()) + 3 * weight.std(ddof=1)
    limit = min(limit, np.abs(weight).max())
    return float(HIGH / limit) if limit else 1.0


def input_scale_of(input_scale: float, earlier: Pairs) -> Fraction:
    """The scale of what enters a layer: all that was multiplied on the way."""
    found = Fraction(input_scale)
    for weight, multiplier in earlier:
        found *= Fraction(weight) * Fraction(multiplier)
    return found


def multiplier_of(
    largest: float, input_scale: float, weight_scale: float, earlier: Pairs
) -> Fraction:
    """From the scale of the accumulator to that at which ``largest`` is 127."""
    wanted = HIGH / Fraction(largest) if largest else Fraction(1)
    return wanted / (input_scale_of(input_scale, earlier) * Fraction(weight_scale))


def fixed_point_of(multiplier: Fraction | float) -> tuple[int, int]:
    """The integers m0 (31 bits, the highest set) and shift with m0 / 2**shift nearest to it."""
    exact, shift = Fraction(multiplier), 31
    while exact * 2**shift >= INT32:
        shift -= 1
    while exact * 2**shift < INT32 // 2:
        shift += 1
    m0 = floor(exact * 2**shift + Fraction(1, 2))
    return (m0 // 2, shift - 1) if m0 == INT32 else (m0, shift)


def requantized(acc: np.ndarray, m0: int, shift: int) -> np.ndarray:
    """``acc * m0 / 2**shift`` to the nearest, halves up, within int8; in Python's integers."""
    half = 1 << (shift - 1) if shift else 0
    flat = [(int(value) * m0 + half) >> shift for value in acc.reshape(-1)]
    return np.clip(np.array(flat, object), LOW, HIGH).astype(np.int64).reshape(acc.shape)


def accumulated(
    x: np.ndarray, weight: np.ndarray, bias: np.ndarray | None, padding: int
) -> np.ndarray:
    """Sums of products in int64: window after window of a convolution, or a matrix product."""
    if weight.ndim == 2:
        found = x @ weight.T
        return found if bias is None else found + bias
    padded = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, weight.shape[2:], axis=(2, 3))
    n, _, high, wide = windows.shape[:4]
    rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(n * high * wide, -1)
    found = (rows @ weight.reshape(len(weight), -1).T).reshape(n, high, wide, -1)
    found = found.transpose(0, 3, 1, 2)
    return found if bias is None else found + bias[:, None, None]


def pooled(x: np.ndarray) -> np.ndarray:
    """The largest of each 2 x 2; what is left over at the edges is dropped."""
    high, wide = x.shape[2] // 2, x.shape[3] // 2
    cut = x[:, :, : 2 * high, : 2 * wide]
    found: np.ndarray = cut.reshape(*cut.shape[:2], high, 2, wide, 2).max(axis=(3, 5))
    return found


def layer_out(layer: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    """What comes out of a layer of integers; ``layer`` and ``x`` hold arrays."""
    if layer["weight"].ndim == 2:
        x = x.reshape(len(x), -1)
    acc = accumulated(x, layer["weight"], layer["bias"], layer["padding"])
    if layer["relu"]:
        acc = np.maximum(acc, 0)
    if layer["pool"]:
        acc = pooled(acc)
    return requantized(acc, layer["m0"], layer["shift"])


def int_arrays(data: Mapping[str, Any]) -> dict[str, Any]:
    """A layer of a case with arrays in place of recipes, and nothing left to default."""
    bias = data.get("bias")
    filled = {"padding": 0, "relu": True, "pool": False, **data}
    return {
        **filled,
        "weight": integers(data["weight"]),
        "bias": None if bias is None else integers(bias),
    }


def bias_exact(
    bias: np.ndarray, input_scale: float, weight_scale: float, earlier: Pairs
) -> np.ndarray:
    """Biases on the scale of the accumulator, as doubles, not yet rounded."""
    scale = float(input_scale_of(input_scale, earlier) * Fraction(weight_scale))
    return bias * scale


def within_int32(values: np.ndarray) -> np.ndarray:
    """Rounded, and clamped to what int32 holds."""
    return np.clip(np.rint(values), -INT32, INT32 - 1).astype(np.int64)
