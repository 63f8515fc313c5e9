"""A model that every rank has a copy of: its layers take virtual time in forward and backward."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from lab_utils.instruments.ranks.group import compute
from lab_utils.instruments.ranks.numbers import random_numbers


class _Timed(torch.autograd.Function):
    """A layer whose passes take virtual time."""

    @staticmethod
    def forward(
        ctx: Any,
        x: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor,
        layer: int,
        seconds: float,
    ) -> torch.Tensor:
        out = torch.tanh(x @ weight.T + bias)
        ctx.save_for_backward(x, weight, out)
        ctx.layer, ctx.seconds = layer, seconds
        compute(seconds / 2, f"F{layer}")
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        x, weight, out = ctx.saved_tensors
        inner = gradients[0] * (1 - out * out)
        compute(ctx.seconds, f"B{ctx.layer}")
        return inner @ weight, inner.T @ x, inner.sum(0), None, None


def replica(given: Mapping[str, Any]) -> list[torch.Tensor]:
    """The parameters of a model in forward order: weight and bias of each layer."""
    width, seed = given["width"], given["seed"]
    parameters = []
    for layer in range(given["layers"]):
        weight = random_numbers(seed + 2 * layer, (width, width)) / width**0.5
        parameters += [weight, random_numbers(seed + 2 * layer + 1, (width,))]
    return [parameter.requires_grad_() for parameter in parameters]


def replica_loss(
    given: Mapping[str, Any], parameters: Sequence[torch.Tensor], rank: int, step: int
) -> torch.Tensor:
    """The loss of the model on a rank's own samples; forward takes half as long as backward."""
    x = replica_samples(given, rank, step)
    for layer in range(given["layers"]):
        weight, bias = parameters[2 * layer : 2 * layer + 2]
        x = _Timed.apply(x, weight, bias, layer, given["seconds"])
    return (x**2).mean()


def replica_samples(given: Mapping[str, Any], rank: int, step: int) -> torch.Tensor:
    """A rank's samples of a step; ``rows`` says how many, for all ranks or rank by rank."""
    seed = given["seed"] + 1000 * (1 + step) + rank
    rows = given["rows"]
    many = rows[rank] if isinstance(rows, list) else rows
    return random_numbers(seed, (many, given["width"]))
