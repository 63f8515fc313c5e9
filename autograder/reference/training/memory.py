"""What each stage of a plan holds: parameters counted in PyTorch, layers by what autograd keeps.

The peak is found by walking through the stage's schedule (1F1B), step by step and layer by layer.
"""

from __future__ import annotations

from functools import lru_cache

import torch
from torch import nn

from autograder.reference.training.blocks import Block, Share, layer_bytes
from lab_utils.instruments.parallel import NONE, Job, Memory, Plan
from lab_utils.instruments.shapes import Transformer

WORDS = 128  # the table of words is padded to a multiple of this for each tensor-parallel rank
LOGITS = 3  # buffers as large as the logits, alive at the peak
STATE = (torch.float32,) * 4  # parameter, gradient, two moments


def padded_words(vocab: int, tp: int) -> int:
    """Words of the table as Megatron makes it: the next multiple, found by counting up."""
    words = vocab
    while words % (WORDS * tp):
        words += 1
    return words


def share_of(model: Transformer, plan: Plan, recompute: str | None = None) -> Share:
    """One rank's part of a layer; ``recompute`` replaces what the plan says."""
    again = plan.recompute if recompute is None else recompute
    return Share(model.width, model.heads, model.hidden, plan.tp, plan.sequence_parallel, again)


@lru_cache(maxsize=4096)
def _layer_parameters(share: Share) -> int:
    with torch.device("meta"):
        return sum(parameter.numel() for parameter in Block(share).parameters())


@lru_cache(maxsize=4096)
def _end_parameters(words: int, positions: int, width: int, is_first: bool, is_last: bool) -> int:
    """What a stage has beside its layers."""
    parts: list[nn.Module] = []
    with torch.device("meta"):
        table = nn.Embedding(words, width)
        if is_first:
            parts += [table, nn.Embedding(positions, width)]
        if is_last:
            # The head is the table of words: the same tensor, or where the first stage has that
            # one, a copy.
            parts += [nn.LayerNorm(width), table]
    return sum(parameter.numel() for parameter in nn.ModuleList(parts).parameters())


def stage_parameters(model: Transformer, tp: int, pp: int) -> list[int]:
    """Parameters of one rank of each stage: those of real modules, on tensors without data."""
    words = padded_words(model.vocab, tp) // tp
    layer = _layer_parameters(Share(model.width, model.heads, model.hidden, tp))
    ends = (words, model.context, model.width)
    return [
        sum(layer for _ in range(model.layers // pp))
        + _end_parameters(*ends, stage == 0, stage == pp - 1)
        for stage in range(pp)
    ]


def schedule(stage: int, stages: int, micro_batches: int) -> list[tuple[str, int]]:
    """What a stage does under 1F1B, in order: ("F", micro-batch) and ("B", micro-batch)."""
    ahead = min(stages - 1 - stage, micro_batches)
    steps = [("F", number) for number in range(ahead)]
    forward, backward = ahead, 0
    while backward < micro_batches:
        if forward < micro_batches:
            steps.append(("F", forward))
            forward += 1
        steps.append(("B", backward))
        backward += 1
    return steps


def stage_memory(model: Transformer, job: Job, plan: Plan) -> list[Memory]:
    """Bytes of one rank of each stage at its peak."""
    micro = job.batch // plan.dp // job.micro_batches
    at = (job.tokens, micro, job.dtype)
    kept = layer_bytes(share_of(model, plan), *at)
    whole = layer_bytes(share_of(model, plan, NONE), *at)
    words = padded_words(model.vocab, plan.tp) // plan.tp
    loss = torch.empty(job.tokens, micro, words, dtype=torch.float32, device="meta")
    found = []
    for stage, parameters in enumerate(stage_parameters(model, plan.tp, plan.pp)):
        steps = schedule(stage, plan.pp, job.micro_batches)
        peak = peak_of([kept] * (model.layers // plan.pp), whole, steps)
        logits = LOGITS * loss.nbytes if stage == plan.pp - 1 else 0
        found.append(Memory(parameters * sum(d.itemsize for d in STATE), peak, logits))
    return found


def peak_of(layers: list[int], whole: int, steps: list[tuple[str, int]]) -> int:
    """The most bytes that layers hold: forward adds, backward makes whole, then frees."""
    live, most = 0, 0
    for kind, _ in steps:
        for kept in layers if kind == "F" else reversed(layers):
            if kind == "F":
                live += kept
                most = max(most, live)
            else:
                most = max(most, live - kept + whole)
                live -= kept
    assert live == 0
    return most
