"""Right versions of the layers of tasks 1.3 and 1.4, lent to task 1.7 as text.

They run in the ranks of a hand-in, and get there only when all tasks have been asked once.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch.nn import functional as F


class _Into(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        total = gradient.contiguous().clone()
        dist.all_reduce(total)
        return total


class _OutOf(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        total = x.contiguous().clone()
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient


def column_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """This rank's outputs."""
    return F.linear(_Into.apply(x), weight, bias)


def row_linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """All outputs, from this rank's inputs."""
    return _OutOf.apply(F.linear(x, weight)) + bias
