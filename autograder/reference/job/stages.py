"""What one stage of a pipeline sends and holds: layers run on data, a schedule gone through.

All layers run on all ranks of a stage at once; between two stages lies a wire that notes what goes
over it, forward and backward. What a stage holds is found by walking through its schedule.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import nn

from autograder.reference.job.held import LOGITS, layer_bytes, layer_matrices
from autograder.reference.job.sharded import ShardedLayer, Tensors
from autograder.reference.training.memory import peak_of, schedule
from lab_utils.instruments.network.strategy import Strategy
from lab_utils.instruments.parallel import Job
from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.shapes import Transformer


class Loaded(NamedTuple):
    """Bytes of one rank of a stage: what it sends in a step, and holds when it is fullest."""

    sent: int
    state: int
    kept: int
    """Of all micro-batches under way."""
    logits: int


class _Wire(torch.autograd.Function):
    """From one stage to the next: every rank sends to the rank with its number there."""

    @staticmethod
    def forward(ctx: Any, sent: list[int], stage: int, *tensors: torch.Tensor) -> Tensors:
        ctx.sent, ctx.stage = sent, stage
        sent[stage] += tensors[0].numel()
        return tuple(tensor.clone() for tensor in tensors)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> Any:
        ctx.sent[ctx.stage + 1] += grads[0].numel()
        return (None, None, *grads)


class Pipeline:
    """All layers of a model, one behind the other, cut into stages."""

    def __init__(self, model: Transformer, job: Job, strategy: Strategy) -> None:
        flat = replace(strategy, pp=1)
        self.layers = [ShardedLayer(model, job, flat, seed) for seed in range(model.layers)]
        self.job, self.stages, self.sent = job, strategy.pp, [0] * strategy.pp

    def run(self) -> list[dict[str, torch.Tensor]]:
        """Every micro-batch forward and backward; the gradients of each layer's weights."""
        first, last = self.layers[0], self.layers[-1]
        many = len(self.layers) // self.stages
        for _ in range(self.job.micro_batches):
            passing: Tensors = tuple(rank["x"] for rank in first.ranks)
            for number, layer in enumerate(self.layers):
                passing = layer.through(passing)
                if (number + 1) % many == 0 and number + 1 < len(self.layers):
                    passing = _Wire.apply(self.sent, number // many, *passing)
            for layer in self.layers:
                layer.notes.phase = "backward"
            torch.autograd.backward(passing, [rank["gradient"] for rank in last.ranks])
        return [layer.update() for layer in self.layers]


@lru_cache(maxsize=256)
def _sent(model: Transformer, job: Job, strategy: Strategy) -> list[int]:
    """Numbers that one rank of each stage sends to other stages in a step."""
    pipeline = Pipeline(model, job, strategy)
    pipeline.run()
    return pipeline.sent


def stage_load(model: Transformer, job: Job, strategy: Strategy, stage: int, state: int) -> Loaded:
    """What one rank of a stage sends in a step, and holds when it is fullest."""
    words, layers = -(-model.vocab // strategy.tp), model.layers // strategy.pp
    is_last = stage == strategy.pp - 1
    parts: list[nn.Module] = []
    with torch.device("meta"):
        table = nn.Embedding(words, model.width)
        parts += [table] if stage == 0 else []
        parts += [table] if is_last else []  # the head: the same table, or a copy far from it
        tables = sum(one.numel() for one in nn.ModuleList(parts).parameters())
        rows = job.batch // strategy.dp // job.micro_batches * (job.tokens // strategy.sp)
        logits = torch.empty(rows, words, dtype=torch.float32)
    whole, kept = layer_bytes(model, job, strategy)
    steps = schedule(stage, strategy.pp, job.micro_batches)
    return Loaded(
        item_bytes(job.dtype) * _sent(model, job, strategy)[stage],
        state * (layers * layer_matrices(model, strategy) + tables),
        peak_of([kept] * layers, whole, steps),
        LOGITS * logits.nbytes if is_last else 0,
    )
