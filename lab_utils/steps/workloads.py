"""Small models that the lab traces, each with a batch to train it on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn


@dataclass(frozen=True)
class Workload:
    """A model and one batch: all that a training step needs but its optimizer.

    ``inputs`` is one tensor, a tuple (positional) or a dict (by name). ``loss``
    takes the model's result and ``targets``; it may be None where the model
    returns its own loss, as Hugging Face models do.
    """

    model: nn.Module
    inputs: Any
    targets: Any = None
    loss: Callable[..., torch.Tensor] | None = None


class Product(nn.Module):
    """Elementwise product, as a module so that its result has a name."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a * b


class LlamaMLP(nn.Module):
    """The feed-forward block of Llama: ``x + down(silu(gate(x)) * up(x))``."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(width, hidden, bias=False)
        self.gate_proj_act = nn.SiLU()
        self.up_proj = nn.Linear(width, hidden, bias=False)
        self.gate_up_proj = Product()
        self.down_proj = nn.Linear(hidden, width, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        gate = self.gate_proj_act(self.gate_proj(x))
        return x + self.down_proj(self.gate_up_proj(gate, self.up_proj(x)))


class GeluMLP(nn.Module):
    """The feed-forward block of GPT and BERT: ``x + proj(gelu(fc(x)))``."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.fc = nn.Linear(width, hidden)
        self.act = nn.GELU()
        self.proj = nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.proj(self.act(self.fc(x)))


class Attention(nn.Module):
    """One head of self-attention with its residual, written out in plain operators."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.softmax = nn.Softmax(dim=-1)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm(x)
        scores = self.query(h) @ self.key(h).transpose(-2, -1) / h.shape[-1] ** 0.5
        return x + self.out(self.softmax(scores) @ self.value(h))


class Stack(nn.Module):
    """Blocks one after the other."""

    def __init__(self, blocks: list[nn.Module]) -> None:
        super().__init__()
        self.layers = nn.ModuleList(blocks)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def _next_token(blocks: list[nn.Module], *shape: int) -> Workload:
    """The usual loss of a language model, with as many tokens as the model is wide."""
    targets = torch.randint(0, shape[-1], shape[:-1])
    return Workload(Stack(blocks), torch.randn(shape), targets, _token_loss)


def _token_loss(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    return nn.functional.cross_entropy(logits.flatten(0, -2), targets.flatten())


def llm_mlp(layers: int = 4, width: int = 64, hidden: int = 256, batch: int = 512) -> Workload:
    """A stack of Llama-style feed-forward blocks on a ``batch x width`` input."""
    return _next_token([LlamaMLP(width, hidden) for _ in range(layers)], batch, width)


def gelu_mlp(layers: int = 4, width: int = 64, hidden: int = 256, batch: int = 512) -> Workload:
    """A stack of two-matmul GELU blocks on a ``batch x width`` input."""
    return _next_token([GeluMLP(width, hidden) for _ in range(layers)], batch, width)


def attention(layers: int = 2, width: int = 64, length: int = 32, batch: int = 8) -> Workload:
    """A stack of single-head attention blocks on a ``batch x length x width`` input."""
    return _next_token([Attention(width) for _ in range(layers)], batch, length, width)


MODELS: dict[str, Callable[..., Workload]] = {
    "llm_mlp": llm_mlp,
    "gelu_mlp": gelu_mlp,
    "attention": attention,
}
