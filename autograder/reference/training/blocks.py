"""One rank's share of a transformer layer as Megatron builds it, and what PyTorch says of it.

Nothing is computed: tensors are on the *meta* device, where they have a shape and no data, so
that the largest models take milliseconds. What other ranks would send is made up: a gathered
tensor is the own share several times, a scattered one a part of the whole.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.autograd.graph import saved_tensors_hooks
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.flop_counter import FlopCounterMode

from lab_utils.instruments.parallel import FULL, NONE, SELECTIVE, Work

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
DROPPED = 0.1


class Share(NamedTuple):
    """A layer, and the part of it that one rank has."""

    width: int
    heads: int
    hidden: int
    tp: int = 1
    sequence_parallel: bool = False
    recompute: str = NONE


class _GatheredLinear(torch.autograd.Function):
    """All tokens times a weight; only the own tokens are kept, and gathered again in backward."""

    @staticmethod
    def forward(ctx: Any, own: torch.Tensor, weight: torch.Tensor, ranks: int) -> torch.Tensor:
        ctx.save_for_backward(own, weight)
        ctx.ranks = ranks
        return F.linear(own.repeat(ranks, 1, 1), weight)

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        own, weight = ctx.saved_tensors
        whole = own.repeat(ctx.ranks, 1, 1).flatten(0, 1)
        of_input = grad.matmul(weight)[: own.shape[0]]
        return of_input, grad.flatten(0, 1).t().mm(whole), None


class Block(nn.Module):
    """LayerNorm, attention, dropout, residual; LayerNorm, two linears with GELU, the same."""

    def __init__(self, share: Share) -> None:
        super().__init__()
        self.share = share
        width, own = share.width, share.width // share.tp
        hidden = share.hidden // share.tp
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * own), nn.Linear(own, width)
        self.up, self.down = nn.Linear(width, hidden), nn.Linear(hidden, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """``x`` is [tokens, batch, width]; the tokens are this rank's under sequence parallel."""
        qkv = self._columns(self.qkv, self.norms[0](x))
        tokens, batch, _ = qkv.shape
        heads = self.share.heads // self.share.tp
        parts = qkv.view(tokens, batch, heads, -1).chunk(3, dim=-1)
        q, k, v = (part.reshape(tokens, batch * heads, -1).transpose(0, 1) for part in parts)
        if self.share.recompute == SELECTIVE:
            mixed = checkpoint(_core, q, k, v, use_reentrant=True, preserve_rng_state=False)
        else:
            mixed = _core(q, k, v)
        x = x + self._rows(self.out, mixed.transpose(0, 1).reshape(tokens, batch, -1))
        inner = F.gelu(self._columns(self.up, self.norms[1](x)))
        return x + self._rows(self.down, inner)

    def _columns(self, linear: nn.Linear, x: torch.Tensor) -> torch.Tensor:
        if not self.share.sequence_parallel:
            return linear(x)
        return _GatheredLinear.apply(x, linear.weight, self.share.tp) + linear.bias

    def _rows(self, linear: nn.Linear, x: torch.Tensor) -> torch.Tensor:
        """The bias is added after the ranks' sums have met, and once."""
        whole = F.linear(x, linear.weight)
        if self.share.sequence_parallel:
            whole = whole[: whole.shape[0] // self.share.tp]
        return _dropout(whole + linear.bias)


def _dropout(x: torch.Tensor) -> torch.Tensor:
    """As on a GPU, whatever the device: the mask that is kept has one byte for each number."""
    return torch.native_dropout(x, DROPPED, True)[0]


def _core(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """Scores, causal mask, softmax, dropout, mixing; [heads and batch, tokens, head] each."""
    tokens = q.shape[1]
    scores = torch.bmm(q, k.transpose(1, 2)) * q.shape[-1] ** -0.5
    future = torch.full((tokens, tokens), float("-inf"), dtype=q.dtype, device=q.device).triu(1)
    return torch.bmm(_dropout(torch.softmax(scores + future, dim=-1)), v)


def run_layer(share: Share, tokens: int, batch: int, dtype: str, device: str = "meta") -> Any:
    """A function that runs one layer on an input of its own; its parameters; the input."""
    with torch.device(device):
        block = Block(share).to(DTYPES[dtype])
        own = tokens // share.tp if share.sequence_parallel else tokens
        x = torch.empty(own, batch, share.width, dtype=DTYPES[dtype], requires_grad=True)

    def run() -> torch.Tensor:
        if share.recompute == FULL:
            made: torch.Tensor = checkpoint(block, x, use_reentrant=True, preserve_rng_state=False)
            return made
        return block(x)

    return run, list(block.parameters()), x


def saved_bytes(run: Callable[[], torch.Tensor], parameters: list[nn.Parameter]) -> int:
    """Bytes that autograd keeps for backward, parameters left out; each storage counts once."""
    kept: dict[int, torch.UntypedStorage] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.untyped_storage()._cdata] = tensor.untyped_storage()
        return tensor

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        made = run()
    own = {parameter.untyped_storage()._cdata for parameter in parameters}
    assert made.requires_grad
    return sum(storage.nbytes() for key, storage in kept.items() if key not in own)


@lru_cache(maxsize=4096)
def layer_bytes(share: Share, tokens: int, batch: int, dtype: str) -> int:
    """Bytes that one layer keeps on one rank between forward and backward."""
    run, parameters, _ = run_layer(share, tokens, batch, dtype)
    return saved_bytes(run, parameters)


@lru_cache(maxsize=4096)
def layer_work(share: Share, tokens: int, batch: int) -> Work:
    """What one rank computes in one layer: forward, backward, and what runs again."""
    run, _, _ = run_layer(share, tokens, batch, "fp32")
    return _counted(run)


@lru_cache(maxsize=4096)
def head_work(width: int, words: int, tokens: int, batch: int) -> Work:
    """The same for the product that turns vectors into words."""
    with torch.device("meta"):
        x = torch.empty(tokens, batch, width, requires_grad=True)
        table = nn.Parameter(torch.empty(words, width))
    return _counted(lambda: F.linear(x, table))


def _counted(run: Callable[[], torch.Tensor]) -> Work:
    with FlopCounterMode(display=False) as counter:
        made = run()
        made.backward(torch.empty_like(made))
    counts = counter.get_flop_counts()["Global"]
    attention = counts.get(torch.ops.aten.bmm, 0)
    return Work(counter.get_total_flops() - attention, attention)
