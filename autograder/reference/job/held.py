"""What a device holds: matrices counted, and what autograd keeps, on tensors without data."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from autograder.reference.training.blocks import DTYPES, saved_bytes
from lab_utils.instruments.network.strategy import Strategy
from lab_utils.instruments.parallel import Job, Memory
from lab_utils.instruments.shapes import Transformer

LOGITS = 3  # buffers as large as the logits, alive at the peak


def _again(run: Callable[..., torch.Tensor], *given: torch.Tensor) -> torch.Tensor:
    """Keeps what is given alone."""
    if not torch.is_grad_enabled():  # somebody outside keeps even less
        return run(*given)
    made: torch.Tensor = checkpoint(run, *given, use_reentrant=True, preserve_rng_state=False)
    return made


class DeviceLayer(nn.Module):
    """One rank's share of a layer; what others would send is made up."""

    def __init__(self, model: Transformer, strategy: Strategy) -> None:
        super().__init__()
        self.model, self.strategy = model, strategy
        width, tp = model.width, strategy.tp
        self.queries = model.heads * model.head // tp
        self.keys = model.kv_heads * model.head // tp
        self.hidden = model.hidden // tp
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv = nn.Parameter(torch.empty(self.queries + 2 * self.keys, width))
        self.out = nn.Parameter(torch.empty(width, self.queries))
        self.up = nn.Parameter(torch.empty((2 if model.gated else 1) * self.hidden, width))
        self.down = nn.Parameter(torch.empty(width, self.hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x`` is [own tokens over tp and sp, width]."""
        made = self._columns(self.norms[0](x), self.qkv)
        mixed = _again(self._core, *made.split((self.queries, 2 * self.keys), -1))
        x = x + self._rows(mixed, self.out)
        inner = self._columns(self.norms[1](x), self.up)
        if self.model.gated:
            gate, up = inner.chunk(2, -1)
            inner = F.silu(gate) * up
        else:
            inner = F.gelu(inner)
        return x + self._rows(inner, self.down)

    def _columns(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """The tokens of all tp ranks are gathered, and not kept."""
        return _again(lambda own: F.linear(own.repeat(self.strategy.tp, 1), weight), x)

    def _rows(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Sums meet, and each tp rank takes its tokens."""
        return F.linear(x, weight)[: x.shape[0] // self.strategy.tp]

    def _core(self, queries: torch.Tensor, pairs: torch.Tensor) -> torch.Tensor:
        """Something of the right shape that needs all of them."""
        return queries * pairs.sum()


def layer_matrices(model: Transformer, strategy: Strategy) -> int:
    """Numbers in the matrices of one layer on one rank."""
    with torch.device("meta"):
        layer = DeviceLayer(model, strategy)
    return sum(one.numel() for one in layer.parameters() if one.dim() == 2)


def matrices(model: Transformer, strategy: Strategy) -> int:
    """Numbers in the matrices of one rank, the table of words among them."""
    with torch.device("meta"):
        table = nn.Embedding(-(-model.vocab // strategy.tp), model.width)
    return model.layers * layer_matrices(model, strategy) + table.weight.numel()


@lru_cache(maxsize=1024)
def layer_bytes(model: Transformer, job: Job, strategy: Strategy) -> tuple[int, int]:
    """What a layer keeps for one micro-batch: while it is worked on, and until then."""
    rows = job.batch // strategy.dp // job.micro_batches * (job.tokens // strategy.sp)
    with torch.device("meta"):
        layer = DeviceLayer(model, strategy).to(DTYPES[job.dtype])
        x = torch.empty(
            rows // strategy.tp, model.width, dtype=DTYPES[job.dtype], requires_grad=True
        )
    whole = saved_bytes(lambda: layer(x), list(layer.parameters()))
    return whole, saved_bytes(lambda: _again(layer, x), []) if strategy.recompute else whole


@lru_cache(maxsize=1024)
def device_memory(model: Transformer, job: Job, strategy: Strategy, state: int) -> Memory:
    """Bytes of one device when it is fullest."""
    rows = job.batch // strategy.dp // job.micro_batches * (job.tokens // strategy.sp)
    with torch.device("meta"):
        logits = torch.empty(rows, -(-model.vocab // strategy.tp), dtype=torch.float32)
    whole, kept = layer_bytes(model, job, strategy)
    live = [kept] * model.layers
    peak = sum(live) - live[-1] + whole  # backward has come to the last layer
    return Memory(state * matrices(model, strategy), peak, LOGITS * logits.nbytes)
