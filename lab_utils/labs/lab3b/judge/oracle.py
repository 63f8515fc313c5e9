"""What one process computes: PyTorch's own layers and gradients, on the whole of everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional as F

from lab_utils.labs.lab3b.numbers import (
    block_input,
    block_numbers,
    heads_numbers,
    linear_numbers,
)

Tensors = dict[str, torch.Tensor]


def one_linear(given: Mapping[str, Any]) -> Tensors:
    """Output of a linear layer, and gradients of x, weight and bias."""
    whole = linear_numbers(given)
    gradient = whole.pop("gradient")
    return _through(lambda t: F.linear(t["x"], t["weight"], t["bias"]), whole, gradient)


def one_block(given: Mapping[str, Any]) -> Tensors:
    """Output of a transformer block, and gradients of x and of all weights.

    With ``causal`` or ``residual`` in ``given`` as False: what somebody gets who forgets it.
    """
    x, gradient = block_input(given)
    whole = {"x": x, **block_numbers(given), **heads_numbers(given, range(given["heads"]))}
    return _through(lambda t: _block(t, given), whole, gradient)


def _block(t: Tensors, given: Mapping[str, Any]) -> torch.Tensor:
    x, heads, keeps = t["x"], given["heads"], given.get("residual", True)
    h = x.shape[-1]
    inner = F.layer_norm(x, (h,), t["ln1_weight"], t["ln1_bias"])
    qkv = F.linear(inner, t["qkv_weight"], t["qkv_bias"])
    q, k, v = (
        part.unflatten(-1, (heads, h // heads)).transpose(-2, -3) for part in qkv.split(h, -1)
    )
    scores = q @ k.transpose(-1, -2) / (h // heads) ** 0.5
    if given.get("causal", True):
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(future, float("-inf"))
    mixed = (scores.softmax(-1) @ v).transpose(-2, -3).flatten(-2)
    x = x * keeps + F.linear(mixed, t["out_weight"], t["out_bias"])
    inner = F.layer_norm(x, (h,), t["ln2_weight"], t["ln2_bias"])
    wide = F.gelu(F.linear(inner, t["up_weight"], t["up_bias"]))
    return x * keeps + F.linear(wide, t["down_weight"], t["down_bias"])


def _through(
    forward: Callable[[Tensors], torch.Tensor], leaves: Tensors, gradient: torch.Tensor
) -> Tensors:
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in leaves.items()}
    result = forward(leaves)
    gradients = torch.autograd.grad(result, list(leaves.values()), gradient)
    return {"out": result.detach(), **dict(zip(leaves, gradients, strict=True))}
