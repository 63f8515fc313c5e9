"""Small models for the tasks of notebook 05: public ones, and some that no student has seen."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from lab_utils.steps.workloads import Attention, GeluMLP, LlamaMLP, Stack, Workload


class Diamond(nn.Module):
    """A value that nobody keeps and two branches read: it runs once for both."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        half = self.up(x) * 0.5
        return self.down(torch.tanh(-half + 3 * half))


class ReadsTwice(nn.Module):
    """An activation that is alive again in backward before its reader is rebuilt."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.up(x))
        return self.down(h * torch.exp(torch.sigmoid(h)))


class Regularised(nn.Module):
    """Layer norm, dropout and batch norm: several outputs, random numbers, running statistics."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, hidden)
        self.batch_norm = nn.BatchNorm1d(hidden)
        self.dropout = nn.Dropout(0.2)
        self.down = nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.batch_norm(self.up(self.norm(x))))
        return x + self.down(self.dropout(h))


class InPlace(nn.Module):
    """A convolution whose result a residual connection overwrites."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.relu(self.norm(self.first(x)))
        y = self.second(h)
        y += x
        return torch.relu(y)


class Layer(nn.Module):
    """A matrix product and an activation function."""

    def __init__(self, width: int, after: int, act: nn.Module) -> None:
        super().__init__()
        self.fc = nn.Linear(width, after, bias=False)
        self.act = act

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.act(self.fc(x))


def _chain(*widths: int) -> nn.Module:
    acts = (nn.Tanh, nn.Sigmoid)
    return Stack([Layer(a, b, acts[place % 2]()) for place, (a, b) in enumerate(pairwise(widths))])


def _squares(model: nn.Module, *shape: int) -> Workload:
    return Workload(model, torch.randn(shape), torch.randn(shape), nn.MSELoss())


#: Models with few candidates, so that every set of them can be looked at.
PUBLIC_MODELS = {
    "chain": lambda: _squares(_chain(8, 32, 16, 32, 8), 64, 8),
    "diamond": lambda: _squares(Stack([Diamond(8, 32) for _ in range(2)]), 64, 8),
    "reads_twice": lambda: _squares(Stack([ReadsTwice(8, 32), Diamond(8, 32)]), 64, 8),
    "regularised": lambda: _squares(Stack([Regularised(8, 32)]), 64, 8),
}
HIDDEN_MODELS = {
    "a longer chain": lambda: _squares(_chain(6, 24, 48, 12, 24, 6), 80, 6),
    "gated blocks, other names": lambda: _squares(Stack([LlamaMLP(8, 24), GeluMLP(8, 24)]), 24, 8),
    "blocks with GELU and biases": lambda: _squares(
        Stack([GeluMLP(8, 24) for _ in range(3)]), 12, 8
    ),
    "attention": lambda: _squares(Stack([Attention(8)]), 2, 6, 8),
    "values that are overwritten": lambda: _squares(Stack([InPlace(4), InPlace(4)]), 2, 4, 6, 6),
    "other regularised blocks": lambda: _squares(
        Stack([Regularised(6, 18), Regularised(6, 18)]), 12, 6
    ),
}
