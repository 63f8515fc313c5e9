"""A GPT layer of our own, written so that tracing it gives all six kinds of nodes."""

from __future__ import annotations

import torch
from torch import fx, nn
from torch.nn import functional as F


class Attention(nn.Module):
    """Causal attention with several heads; the mask is cut to the length of the text."""

    def __init__(self, width: int, heads: int, longest: int) -> None:
        super().__init__()
        self.heads, self.width = heads, width
        self.qkv = nn.Linear(width, 3 * width)
        self.project = nn.Linear(width, width)
        future = torch.ones(longest, longest, dtype=torch.bool).triu(1)
        self.mask = nn.Parameter(future[None, None], requires_grad=False)  # fx traces parameters

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Mix the tokens of each sequence: [batch, tokens, width] stays that."""
        batch, tokens = x.size(0), x.size(1)
        head = self.width // self.heads
        queries, keys, values = self.qkv(x).split(self.width, dim=2)
        queries = queries.view(batch, tokens, self.heads, head).transpose(1, 2)
        keys = keys.view(batch, tokens, self.heads, head).transpose(1, 2)
        values = values.view(batch, tokens, self.heads, head).transpose(1, 2)
        scores = torch.matmul(queries, keys.transpose(-2, -1)) / head**0.5
        scores.masked_fill_(self.mask[:, :, :tokens, :tokens], float("-inf"))
        mixed = torch.matmul(F.softmax(scores, dim=-1), values)
        return self.project(mixed.transpose(1, 2).reshape(batch, tokens, self.width))


class GPTLayer(nn.Module):
    """Words and places become vectors, one transformer layer, scores for the next word."""

    def __init__(self, width: int, heads: int, words: int, longest: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.places = nn.Embedding(longest, width)
        self.numbers = nn.Parameter(torch.arange(longest), requires_grad=False)
        self.norm1, self.norm2, self.norm3 = (nn.LayerNorm(width) for _ in range(3))
        self.attention = Attention(width, heads, longest)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(0.1)
        self.scores = nn.Linear(width, words, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores of every word for the place after each token."""
        places = self.places(self.numbers[: tokens.size(1)])
        x = self.dropout(self.words(tokens) + places)
        x = x + self.attention(self.norm1(x))
        hidden = F.gelu(self.up(self.norm2(x)), approximate="tanh")
        x = torch.add(x, self.dropout(self.down(hidden)))
        return self.scores(self.norm3(x))


class Ticket(nn.Module):
    """Hands out numbers: each time it is called it adds one more than the time before."""

    def __init__(self) -> None:
        super().__init__()
        self.given = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x`` and the next number."""
        self.given += 1
        return x + self.given


def gpt_layer(
    width: int = 768, heads: int = 12, tokens: int = 128, words: int = 8192
) -> tuple[fx.GraphModule, torch.Tensor]:
    """The traced layer with random weights, ready to be run, and tokens to run it on."""
    torch.manual_seed(0)
    layer = GPTLayer(width, heads, words, longest=2 * tokens).eval()
    for parameter in layer.parameters():
        parameter.requires_grad_(False)
    return fx.symbolic_trace(layer), torch.randint(words, (1, tokens))
