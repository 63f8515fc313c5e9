"""Tensors of cases as plain data, and answers as plain data: the same on both sides of a check.

Nothing here knows what is to come out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from lab_utils.kit.answers import FORGOTTEN, a_type
from lab_utils.kit.errors import BadAnswer
from lab_utils.labs.hw5.network import IntLayer, Layer

Recipe = Mapping[str, Any]
"""A tensor in few words.

``shape`` and ``dtype``, and its numbers: ``values``, or one to ``fill`` it, or a ``seed``. A seed
gives whole numbers from ``low`` to ``high``, or numbers around ``mean`` with spread ``sigma``.
``set`` are single numbers by their place.
"""


def made(recipe: Recipe) -> torch.Tensor:
    """The tensor of a recipe."""
    shape, rng = tuple(recipe["shape"]), np.random.default_rng(recipe.get("seed", 0))
    numbers: np.ndarray
    if "values" in recipe:
        numbers = np.array(recipe["values"], np.float64)
    elif "fill" in recipe:
        numbers = np.full(shape, recipe["fill"], np.float64)
    elif "low" in recipe:
        numbers = rng.integers(recipe["low"], recipe["high"], shape, endpoint=True)
    else:
        numbers = rng.normal(recipe.get("mean", 0.0), recipe.get("sigma", 1.0), shape)
    numbers = numbers.reshape(-1)
    for place, number in recipe.get("set", {}).items():
        numbers[int(place)] = number
    dtype = getattr(torch, recipe.get("dtype", "float32"))
    return torch.from_numpy(numbers.reshape(shape)).to(dtype)


def _maybe(recipe: Recipe | None) -> torch.Tensor | None:
    return None if recipe is None else made(recipe)


def float_layers(data: Sequence[Mapping[str, Any]]) -> list[Layer]:
    """The layers of a network of real numbers."""
    return [
        Layer(**{**one, "weight": made(one["weight"]), "bias": _maybe(one.get("bias"))})
        for one in data
    ]


def int_layers(data: Sequence[Mapping[str, Any]]) -> list[IntLayer]:
    """The layers of a network of integers."""
    return [
        IntLayer(**{**one, "weight": made(one["weight"]), "bias": _maybe(one.get("bias"))})
        for one in data
    ]


def told(value: Any, what: str = "what you return") -> dict[str, Any]:
    """A tensor (or an array) as plain data: type, shape and numbers."""
    if isinstance(value, np.ndarray):
        value = torch.from_numpy(value)
    if not isinstance(value, torch.Tensor):
        look = FORGOTTEN if value is None else "A tensor is wanted there."
        raise BadAnswer(f"{what} is {a_type(value)}", look, "a tensor")
    kind = str(value.dtype).removeprefix("torch.")
    flat = value.detach().reshape(-1).tolist()
    return {"dtype": kind, "shape": list(value.shape), "values": flat}


def tensor_of(data: Mapping[str, Any]) -> torch.Tensor:
    """The tensor that ``told`` told of."""
    return torch.tensor(data["values"], dtype=getattr(torch, data["dtype"])).reshape(data["shape"])
