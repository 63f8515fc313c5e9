"""Graphs on which hand-ins are graded but which no student has seen.

Each of them has all that the usual mistakes trip over (``Everything``), and something of its own:
whoever makes such a mistake makes it on every graph. They are no larger than that takes: every
hand-in is asked about all of them.
"""

from __future__ import annotations

import torch
from torch import nn

from lab_utils.steps.workloads import Attention, GeluMLP, LlamaMLP, Stack, Workload


class Everything(nn.Module):
    """A gated block with all that a rewrite may get wrong.

    A buffer; a keyword argument; operands in lists, read in forward and in backward; an operator
    with several outputs; values with several readers; values that nobody keeps until backward;
    views of a dropped value that backward reads, and such as only backward takes; a branch whose
    backward begins with a view of the lost value alone.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate = nn.Linear(width, hidden)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(2 * hidden, width)
        self.side = nn.Linear(width, width)
        self.mix = nn.Parameter(torch.randn(hidden // 2, width) / hidden)
        self.register_buffer("scale", torch.linspace(0.5, 1.5, hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = nn.functional.silu(self.gate(x))
        h = self.up(x) * self.scale
        bent = nn.functional.gelu(h, approximate="tanh")
        order = h.flatten(0, -2).sum(0).argsort()
        mixed = (gate * bent * torch.sigmoid(gate))[..., order]
        left, right = bent.chunk(2, -1)
        product = (left * right) @ self.mix
        glued = self.down(
            torch.cat([mixed, bent], -1)
        )  # its backward rebuilds both branches at once
        return x + glued + product + torch.sin(self.side(x).unsqueeze(0)).squeeze(0)


class SkipsABlock(nn.Module):
    """Blocks whose residual comes from two blocks earlier."""

    def __init__(self, blocks: int, width: int, hidden: int) -> None:
        super().__init__()
        gelu = [GeluMLP(width, hidden) for _ in range(blocks)]
        self.layers = nn.ModuleList([*gelu, Everything(width, hidden)])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before, now = x, x
        for layer in self.layers:
            before, now = now, layer(now) + before
        return now


class TwoReaders(nn.Module):
    """A block in which one activation has two readers in forward and three in backward."""

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
        self.last = Everything(width, hidden)
        self.times = times

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for _ in range(self.times):
            x = self.block(x)
        return self.last(x)


def _tokens(model: nn.Module, *shape: int) -> Workload:
    targets = torch.randint(0, shape[-1], shape[:-1])

    def loss(logits: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        return nn.functional.cross_entropy(logits.flatten(0, -2), wanted.flatten())

    return Workload(model, torch.randn(shape), targets, loss)


def _stack(*blocks: nn.Module, shape: tuple[int, ...]) -> Workload:
    return _tokens(Stack([*blocks]), *shape)


def large_weights() -> Workload:
    """The weights are large and the batch is small: the peak is at the end, in the update."""
    return _stack(LlamaMLP(16, 16), nn.Linear(16, 96, bias=False), shape=(4, 16))


#: What students are told about a hidden graph is this name and nothing else.
HIDDEN_MODELS = {
    "other blocks, other sizes, other names": lambda: _stack(
        LlamaMLP(24, 80), Everything(24, 48), LlamaMLP(24, 80), LlamaMLP(24, 80), shape=(96, 24)
    ),
    "blocks with GELU and biases": lambda: _stack(
        GeluMLP(32, 96), Everything(32, 40), GeluMLP(32, 96), shape=(128, 32)
    ),
    "attention": lambda: _stack(Attention(24), Everything(24, 40), shape=(6, 12, 24)),
    "a residual that skips a block": lambda: _tokens(SkipsABlock(2, 16, 64), 128, 16),
    "an activation that is read twice": lambda: _stack(
        TwoReaders(16, 64), TwoReaders(16, 64), Everything(16, 32), shape=(128, 16)
    ),
    "one block used several times": lambda: _tokens(SharesWeights(2, 16, 64), 128, 16),
}
