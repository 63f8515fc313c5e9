"""What every tensor of part B is judged by first: its type, its shape, the place that differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lab_utils.kit.task import Finding

INTEGERS = ("int8", "int16", "int32", "int64", "uint8")


def near(yours: float, right: float, within: float = 1e-5) -> bool:
    """Whether a number is the right one, but for rounding."""
    return abs(yours - right) <= within * max(abs(right), 1e-9)


def array_of(answer: Mapping[str, Any]) -> np.ndarray:
    """The numbers of an answer in their shape."""
    kind = np.int64 if answer["dtype"] in INTEGERS else np.float64
    return np.array(answer["values"], kind).reshape(answer["shape"])


def form_wrong(answer: Mapping[str, Any], shape: Sequence[int], dtype: str) -> list[Finding]:
    """Whether a tensor has another type or shape than asked for."""
    kind = str(answer["dtype"])
    if list(answer["shape"]) != list(shape):
        look = "Every number stays in its place: the result has another shape than asked for."
        return [Finding(f"a tensor of shape {answer['shape']}", f"{list(shape)}", look)]
    if kind == dtype:
        return []
    if kind not in INTEGERS:
        look = (
            "Whole numbers in a float are still floats: real integers are asked for, so that no "
            "arithmetic unit for floats is needed."
        )
    elif dtype == "int32":
        look = (
            "Sums of products need 32 bits: int8 holds only -128 to 127, and more wraps around "
            "without a word."
        )
    else:
        look = "One byte for each number is what we are after: int8."
    return [Finding(f"a tensor of {kind}", f"a tensor of {dtype}", look)]


def first_difference(yours: np.ndarray, right: np.ndarray) -> tuple[str, str]:
    """Where two arrays differ first, in words: yours, and what is wanted."""
    places = np.argwhere(yours != right)
    place = tuple(int(part) for part in places[0])
    many = f"{len(places)} of {right.size} numbers differ; at {list(place)}: "
    return f"{many}{yours[place]:g}", f"{right[place]:g}"
