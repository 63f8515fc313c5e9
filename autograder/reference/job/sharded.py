"""A transformer layer on all ranks of a strategy at once: right gradients, and what was sent.

Every rank has its shard of the weights and of the tokens. Collectives are autograd functions over
the tensors of all ranks, which note what they carry. A test holds the gradients against those of
one rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from lab_utils.instruments.network.strategy import Strategy
from lab_utils.instruments.network.workload import groups_of
from lab_utils.instruments.parallel import Job
from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.shapes import Transformer

Tensors = tuple[torch.Tensor, ...]


class Notes:
    """What was sent: bytes by phase, axis and collective; an all-reduce is its two halves."""

    def __init__(self, item: int) -> None:
        self.item, self.phase = item, "forward"
        self.totals: dict[str, int] = {}

    def add(self, axis: str, whole: torch.Tensor, *halves: str) -> None:
        """A collective whose whole is as large as ``whole``."""
        for half in halves:
            key = f"{self.phase} {axis} {half}"
            self.totals[key] = self.totals.get(key, 0) + self.item * whole.numel()


_BOTH = ("reduce_scatter", "all_gather")


def _summed(groups: list[list[int]], tensors: Tensors) -> Tensors:
    made = list(tensors)
    for group in groups:
        total = torch.stack([tensors[rank] for rank in group]).sum(0)
        for rank in group:
            made[rank] = total.clone()
    return tuple(made)


class _Enter(torch.autograd.Function):
    """Forward nothing, backward an all-reduce over tp."""

    @staticmethod
    def forward(ctx: Any, notes: Notes, groups: Any, *tensors: torch.Tensor) -> Tensors:
        ctx.notes, ctx.groups = notes, groups
        return tuple(tensor.clone() for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        if len(ctx.groups[0]) > 1:
            ctx.notes.add("tp", grads[0], *_BOTH)
        return (None, None, *_summed(ctx.groups, grads))


class _Leave(torch.autograd.Function):
    """Forward an all-reduce over tp, backward nothing."""

    @staticmethod
    def forward(ctx: Any, notes: Notes, groups: Any, *tensors: torch.Tensor) -> Tensors:
        if len(groups[0]) > 1:
            notes.add("tp", tensors[0], *_BOTH)
        return _summed(groups, tensors)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        return (None, None, *grads)


class _Gather(torch.autograd.Function):
    """Forward all tokens of the sequence over sp, backward their gradients' sums scattered."""

    @staticmethod
    def forward(ctx: Any, notes: Notes, groups: Any, *tensors: torch.Tensor) -> Tensors:
        ctx.notes, ctx.groups = notes, groups
        made = list(tensors)
        for group in groups:
            whole = torch.cat([tensors[rank] for rank in group])
            for rank in group:
                made[rank] = whole.clone()
        if len(groups[0]) > 1:
            notes.add("sp", made[0], "all_gather")
        return tuple(made)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        if len(ctx.groups[0]) > 1:
            ctx.notes.add("sp", grads[0], "reduce_scatter")
        made = list(grads)
        for group in ctx.groups:
            parts = torch.stack([grads[rank] for rank in group]).sum(0).chunk(len(group))
            for rank, part in zip(group, parts, strict=True):
                made[rank] = part
        return (None, None, *made)


class ShardedLayer:
    """One layer for one micro-batch on every rank of a strategy without a pipeline."""

    def __init__(self, model: Transformer, job: Job, strategy: Strategy, seed: int = 0) -> None:
        self.model, self.job, self.strategy = model, job, strategy
        self.notes, self.groups = Notes(item_bytes(job.dtype)), groups_of(strategy)
        random = torch.Generator().manual_seed(seed)

        def numbers(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, generator=random, dtype=torch.float64) / shape[-1] ** 0.5

        width, head, hidden = model.width, model.head, model.hidden
        self.whole = {
            "q": numbers(model.heads * head, width),
            "k": numbers(model.kv_heads * head, width),
            "v": numbers(model.kv_heads * head, width),
            "out": numbers(width, model.heads * head),
            "up": numbers(hidden, width),
            "down": numbers(width, hidden),
        } | ({"gate": numbers(hidden, width)} if model.gated else {})
        sequences = job.batch // job.micro_batches
        self.x, self.gradient = (numbers(job.tokens, sequences, width) for _ in range(2))
        self.ranks = [self._rank(rank) for rank in range(strategy.ranks)]

    def _rank(self, rank: int) -> dict[str, torch.Tensor]:
        """Weights and tokens of a rank."""
        t, s, d = self._place(rank)
        found = {}
        for name, weight in self.whole.items():
            cut = 1 if name in ("out", "down") else 0
            part = weight.chunk(self.strategy.tp, cut)[t]
            found[name] = part.clone().requires_grad_()
        found["x"] = self._own(self.x, s, d).requires_grad_()
        found["gradient"] = self._own(self.gradient, s, d)
        return found

    def _place(self, rank: int) -> tuple[int, int, int]:
        tp, sp = self.strategy.tp, self.strategy.sp
        return rank % tp, rank // tp % sp, rank // (tp * sp)

    def _own(self, tensor: torch.Tensor, s: int, d: int) -> torch.Tensor:
        return tensor.chunk(self.strategy.sp)[s].chunk(self.strategy.dp, 1)[d].clone()

    def run(self) -> dict[str, torch.Tensor]:
        """Forward, backward, update; the gradients of whole weights."""
        made = self.through(tuple(rank["x"] for rank in self.ranks))
        self.notes.phase = "backward"
        torch.autograd.backward(made, [rank["gradient"] for rank in self.ranks])
        return self.update()

    def through(self, tokens: Tensors) -> Tensors:
        """Forward alone."""
        if not self.strategy.recompute:
            return self._forward(*tokens)
        made: Tensors = checkpoint(
            self._again, *tokens, use_reentrant=True, preserve_rng_state=False
        )
        return made

    def _again(self, *tokens: torch.Tensor) -> Tensors:
        before = self.notes.phase
        self.notes.phase = "again" if before == "backward" else before
        made = self._forward(*tokens)
        self.notes.phase = before
        return made

    def _meet(self, how: Any, axis: str, *tensors: torch.Tensor) -> Tensors:
        made: Tensors = how.apply(self.notes, self.groups[axis], *tensors)
        return made

    def _each(self, run: Callable[..., torch.Tensor], *lists: Tensors) -> Tensors:
        return tuple(
            run(rank, *one) for rank, one in zip(self.ranks, zip(*lists, strict=True), strict=True)
        )

    def _forward(self, *tokens: torch.Tensor) -> Tensors:
        width = (self.model.width,)
        inputs = self._meet(_Enter, "tp", *(F.layer_norm(x, width) for x in tokens))
        queries = self._each(lambda rank, x: F.linear(x, rank["q"]), inputs)
        pairs = self._each(
            lambda rank, x: torch.stack([F.linear(x, rank["k"]), F.linear(x, rank["v"])], 1), inputs
        )
        if self.strategy.recompute:
            mixed = self._core(*queries, *pairs)
        else:  # nobody keeps what was gathered
            both = (*queries, *pairs)
            mixed = checkpoint(self._core, *both, use_reentrant=True, preserve_rng_state=False)
        outs = self._each(lambda rank, x: F.linear(x, rank["out"]), mixed)
        middle = [x + y for x, y in zip(tokens, self._meet(_Leave, "tp", *outs), strict=True)]
        inputs = self._meet(_Enter, "tp", *(F.layer_norm(x, width) for x in middle))
        downs = self._meet(_Leave, "tp", *self._each(self._hidden, inputs))
        return tuple(x + y for x, y in zip(middle, downs, strict=True))

    def _hidden(self, rank: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
        made = F.linear(x, rank["up"])
        made = F.silu(F.linear(x, rank["gate"])) * made if self.model.gated else F.gelu(made)
        return F.linear(made, rank["down"])

    def _core(self, *both: torch.Tensor) -> Tensors:
        """Attention of a rank's own queries to all tokens before them."""
        many, model = len(self.ranks), self.model
        pairs = self._meet(_Gather, "sp", *both[many:])
        found = []
        for rank, (query, pair) in enumerate(zip(both[:many], pairs, strict=True)):
            own, sequences, _ = query.shape
            first = self._place(rank)[1] * own
            q = query.reshape(own, sequences, -1, model.head)
            k, v = (
                part.reshape(self.job.tokens, sequences, -1, model.head).repeat_interleave(
                    model.heads // model.kv_heads, 2
                )
                for part in pair.unbind(1)
            )
            scores = torch.einsum("qbhd,kbhd->bhqk", q, k) / model.head**0.5
            later = torch.arange(self.job.tokens) > torch.arange(first, first + own)[:, None]
            shares = scores.masked_fill(later, float("-inf")).softmax(-1)
            mixed = torch.einsum("bhqk,kbhd->qbhd", shares, v)
            found.append(mixed.reshape(own, sequences, -1))
        return tuple(found)

    def update(self) -> dict[str, torch.Tensor]:
        """Gradients meet; those of whole weights."""
        self.notes.phase = "update"
        found = {}
        for name in self.whole:
            grads = tuple(g for rank in self.ranks if (g := rank[name].grad) is not None)
            if len(self.groups["copies"][0]) > 1:
                self.notes.add("copies", grads[0], *_BOTH)
            summed = _summed(self.groups["copies"], grads)
            cut = 1 if name in ("out", "down") else 0
            found[name] = torch.cat(summed[: self.strategy.tp], cut)
        return found


def layer_totals(model: Transformer, job: Job, strategy: Strategy) -> dict[str, int]:
    """What one rank sends for one layer and one micro-batch: bytes by phase, axis, collective."""
    layer = ShardedLayer(model, job, strategy)
    layer.run()
    return layer.notes.totals
