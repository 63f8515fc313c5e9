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


class Everything(nn.Module):
    """A block with all that a plan may get wrong, on a batch of matrices.

    An operator with several outputs, of which backward reads some; a wide value that nobody
    keeps and two branches read; one that is alive again before its reader is rebuilt; a value
    that backward looks at through a view; random numbers, and running statistics where
    ``batch_norm`` is set.
    """

    def __init__(self, width: int, hidden: int, batch_norm: bool = False) -> None:
        super().__init__()
        self.up = nn.Parameter(torch.randn(1, width, hidden) / width)
        self.down = nn.Parameter(torch.randn(1, hidden, width) / hidden)
        self.norm = nn.LayerNorm(hidden)
        self.batch_norm = nn.BatchNorm1d(hidden) if batch_norm else None
        self.dropout = nn.Dropout(0.2) if batch_norm else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n = len(x)
        h = self.norm(torch.bmm(x, self.up.expand(n, -1, -1)))
        wide = 0.5 * h.repeat(1, 1, 3)
        a = torch.tanh((3 * wide - wide).unflatten(-1, (3, -1)).sum(-2))
        out = a * torch.exp(a)
        if self.batch_norm is not None and self.dropout is not None:
            out = self.dropout(torch.relu(self.batch_norm(out.flatten(0, 1)))).view_as(out)
        return torch.bmm(out, self.down.expand(n, -1, -1))


class Rows(nn.Module):
    """A block on the rows of all planes."""

    def __init__(self, inside: nn.Module) -> None:
        super().__init__()
        self.inside = inside

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inside(x.flatten(0, 1)).view_as(x)


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
#: The same with others: graphs on which plans are judged.
HIDDEN_MODELS = {
    "a longer chain": lambda: _squares(Stack([_chain(6, 24, 6), Everything(6, 24)]), 4, 10, 6),
    "gated blocks, other names": lambda: _squares(
        Stack([LlamaMLP(8, 24), Everything(8, 16)]), 4, 6, 8
    ),
    "blocks with GELU and biases": lambda: _squares(
        Stack([Everything(8, 20), GeluMLP(8, 24)]), 3, 6, 8
    ),
    "two blocks of another form": lambda: _squares(
        Stack([Everything(6, 12), Everything(6, 30)]), 3, 8, 6
    ),
    "attention": lambda: _squares(
        Stack([Attention(8), Everything(8, 16, batch_norm=True)]), 2, 6, 8
    ),
    "values that are overwritten": lambda: _squares(
        Stack([InPlace(4), InPlace(4), Rows(Everything(6, 18, batch_norm=True))]), 2, 4, 6, 6
    ),
    "other regularised blocks": lambda: _squares(
        Stack([Everything(6, 18, batch_norm=True), Everything(6, 24, batch_norm=True)]), 6, 2, 6
    ),
    "a regularised block, other names": lambda: _squares(
        Stack([Everything(6, 18, batch_norm=True)]), 3, 4, 6
    ),
}
#: Those whose nodes have other names, so that nothing can go by them.
RENAMED = ("gated blocks, other names", "a regularised block, other names")
#: More of them, for plans alone: here most rules show at once, that of a rising peak above all.
PLAN_MODELS = {
    "a regularised block and a diamond": lambda: _squares(
        Stack([Regularised(6, 40), Diamond(6, 48)]), 32, 6
    ),
    "a diamond and a regularised block": lambda: _squares(
        Stack([Diamond(6, 40), Regularised(6, 32)]), 48, 6
    ),
    "a narrow diamond and a regularised block": lambda: _squares(
        Stack([Diamond(4, 8), Regularised(4, 24)]), 32, 4
    ),
    "a regularised block and a chain": lambda: _squares(
        Stack([Regularised(6, 32), _chain(6, 24, 6)]), 24, 6
    ),
    "a chain and a diamond": lambda: _squares(
        Stack([_chain(6, 32, 12, 32, 6), Diamond(6, 40)]), 32, 6
    ),
}
