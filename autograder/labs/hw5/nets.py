"""Small networks whose traffic is recorded: with and without buffers, frozen, tied, unused."""

from __future__ import annotations

import torch
from torch import nn


def with_norm() -> nn.Sequential:
    """11,944 bytes of parameters, and batch norm of 8 channels."""
    return nn.Sequential(
        nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 10)
    )


def plain() -> nn.Module:
    """Two linear layers: no buffers."""
    return nn.Sequential(nn.Linear(12, 20), nn.ReLU(), nn.Linear(20, 10))


def two_norms() -> nn.Module:
    """Batch norms of 6 and of 12 channels."""
    return nn.Sequential(
        nn.Conv2d(3, 6, 3),
        nn.BatchNorm2d(6),
        nn.Conv2d(6, 12, 3),
        nn.BatchNorm2d(12),
        nn.Flatten(),
        nn.Linear(12 * 16, 4),
    )


def frozen() -> nn.Module:
    """The first layer is not trained."""
    return _without_gradient(nn.Sequential(nn.Linear(12, 30), nn.ReLU(), nn.Linear(30, 7)))


def frozen_norm() -> nn.Module:
    """The same, with batch norm behind it."""
    return _without_gradient(with_norm())


def _without_gradient(net: nn.Sequential) -> nn.Module:
    for parameter in net[0].parameters():
        parameter.requires_grad = False
    return net


class _Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(6, 6), nn.Linear(6, 6)
        self.last.weight = self.first.weight
        self.norm = nn.BatchNorm1d(6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(self.norm(self.first(x)))


def tied() -> nn.Module:
    """Two layers with one weight, and batch norm between them."""
    return _Tied()


class _Unused(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Linear(12, 9), nn.Linear(3, 3)
        self.norm = nn.BatchNorm1d(9)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.used(x))


def unused() -> nn.Module:
    """A layer that forward never calls: its gradients travel as zeros."""
    return _Unused()


def wide() -> nn.Module:
    """In float64, its running statistics too."""
    return nn.Sequential(nn.Linear(7, 11), nn.BatchNorm1d(11), nn.Linear(11, 3)).double()
