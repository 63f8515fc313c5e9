"""The numbers that ranks start with: the same for a seed, on both sides of a check.

Nothing here knows what is to come out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from lab_utils.instruments.ranks.numbers import numbers_of as numbers_of
from lab_utils.instruments.ranks.numbers import random_numbers as random_numbers

BASE = 4
"""Rank r brings (place + 1) times this to the power of r: a sum tells who is in it, how often."""


def chunks_of(given: Mapping[str, Any], rank: int) -> list[torch.Tensor]:
    """What a rank brings to a ring, in chunks."""
    dtype = getattr(torch, given["dtype"])
    many = sum(given["sizes"])
    if "seed" in given:
        values = random_numbers(given["seed"] + rank, (many,), dtype)
    else:
        values = (torch.arange(many) + 1).to(dtype) * BASE**rank
    return [chunk.clone() for chunk in values.split(given["sizes"])]


def one_whole_chunk(given: Mapping[str, Any], rank: int) -> list[torch.Tensor]:
    """What a rank has between the halves of a ring: one chunk complete, nothing of the others.

    A number tells which chunk and which place it belongs to; nothing is below 0.
    """
    dtype = getattr(torch, given["dtype"])
    mine = (rank + 1) % given["ranks"]
    return [
        (1000 * (place + 1) + torch.arange(many)).to(dtype)
        if place == mine
        else torch.full((many,), -1 - rank, dtype=dtype)
        for place, many in enumerate(given["sizes"])
    ]


def linear_numbers(given: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """All of a linear layer: x, weight, bias, and the gradient of its outputs."""
    rows, inputs, outputs = given["tokens"], given["inputs"], given["outputs"]
    shapes = {
        "x": (*rows, inputs),
        "weight": (outputs, inputs),
        "bias": (outputs,),
        "gradient": (*rows, outputs),
    }
    return {
        name: random_numbers(given["seed"] + place, shape)
        for place, (name, shape) in enumerate(shapes.items())
    }


def block_numbers(given: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The weights of a transformer block, by name, but for those of its heads."""
    h, wide = given["width"], given["hidden"]
    shapes = {
        "ln1_weight": (h,),
        "ln1_bias": (h,),
        "out_weight": (h, h),
        "out_bias": (h,),
        "ln2_weight": (h,),
        "ln2_bias": (h,),
        "up_weight": (wide, h),
        "up_bias": (wide,),
        "down_weight": (h, wide),
        "down_bias": (h,),
    }
    return {
        name: random_numbers(given["seed"] + place, shape) / max(shape) ** 0.5
        for place, (name, shape) in enumerate(shapes.items())
    }


def heads_numbers(given: Mapping[str, Any], heads: Sequence[int]) -> dict[str, torch.Tensor]:
    """Weight and bias of query, key and value for these heads: all queries, then keys, values."""
    h = given["width"]
    size = h // given["heads"]
    made = {}
    for name, shape in (("qkv_weight", (size, h)), ("qkv_bias", (size,))):
        rows = []
        for which in range(3):
            for head in heads:
                seed = given["seed"] + 1000 * (1 + which) + 2 * head + (name == "qkv_bias")
                rows.append(random_numbers(seed, shape) / h**0.5)
        made[name] = torch.cat(rows)
    return made


def block_input(given: Mapping[str, Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """What goes into a block, and the gradient of what comes out."""
    shape = (*given["tokens"], given["width"])
    return random_numbers(given["seed"] + 50, shape), random_numbers(given["seed"] + 51, shape)
