"""Graphs on which hand-ins are graded but which no student has seen."""

from __future__ import annotations

import torch
from torch import nn

from lab_utils.steps.workloads import Attention, GeluMLP, LlamaMLP, Stack, Workload


class SkipsABlock(nn.Module):
    """Blocks whose residual comes from two blocks earlier."""

    def __init__(self, blocks: int, width: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(GeluMLP(width, hidden) for _ in range(blocks))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before, now = x, x
        for layer in self.layers:
            before, now = now, layer(now) + before
        return now


class ReadsTwice(nn.Module):
    """Blocks in which one activation has two readers in forward and three in backward."""

    def __init__(self, blocks: int, width: int, hidden: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_TwoReaders(width, hidden) for _ in range(blocks))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


class _TwoReaders(nn.Module):
    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = torch.tanh(self.up(x))
        return x + self.down(h * torch.sigmoid(h))


class SharesWeights(nn.Module):
    """One block, used over and over."""

    def __init__(self, times: int, width: int, hidden: int) -> None:
        super().__init__()
        self.block = LlamaMLP(width, hidden)
        self.times = times

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.times):
            x = self.block(x)
        return x


def _tokens(model: nn.Module, *shape: int) -> Workload:
    targets = torch.randint(0, shape[-1], shape[:-1])

    def loss(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(logits.flatten(0, -2), wanted.flatten())

    return Workload(model, torch.randn(shape), targets, loss)


#: What students are told about a hidden graph is this name and nothing else.
HIDDEN_MODELS = {
    "a deeper stack, other sizes, other names": lambda: _tokens(
        Stack([LlamaMLP(24, 80) for _ in range(6)]), 96, 24
    ),
    "blocks with GELU and biases": lambda: _tokens(
        Stack([GeluMLP(32, 96) for _ in range(4)]), 128, 32
    ),
    "attention": lambda: _tokens(Stack([Attention(24) for _ in range(2)]), 6, 12, 24),
    "a residual that skips a block": lambda: _tokens(SkipsABlock(4, 16, 64), 128, 16),
    "an activation that is read twice": lambda: _tokens(ReadsTwice(3, 16, 64), 128, 16),
    "one block used several times": lambda: _tokens(SharesWeights(3, 16, 64), 128, 16),
}
