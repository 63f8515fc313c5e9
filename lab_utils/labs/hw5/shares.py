"""The images that ranks bring to a batch norm: the same on both sides of a check."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from lab_utils.instruments.ranks.numbers import random_numbers


def share_of(given: Mapping[str, Any], rank: int) -> torch.Tensor:
    """What a rank has: ``images[rank]`` images of a shape; channels have means of their own."""
    channels, *inner = given["shape"]
    shape = (given["images"][rank], channels, *inner)
    dtype = getattr(torch, given["dtype"])
    around = (torch.arange(channels) + 1.0).reshape(1, -1, *(1 for _ in inner)) * given["offset"]
    values = random_numbers(given["seed"] + rank, shape) * (1 + rank) + around.double()
    x = values.to(dtype)
    if given.get("channels_last"):
        x = x.to(memory_format=torch.channels_last)
    return x
