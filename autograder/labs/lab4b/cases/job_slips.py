"""What usual slips would answer in notebook 2."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose, log2

from autograder.reference.job.stages import Loaded
from lab_utils.instruments.network.dims import FULLY_CONNECTED, RING, Dim
from lab_utils.instruments.network.strategy import Strategy
from lab_utils.instruments.parallel import Job, Memory
from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.shapes import Transformer

SECONDS = (
    "one half",
    "twice",
    "one hop",
    "two hops",
    "one way",
    "both ways",
    "all bytes",
    "slowest",
    "one too many",
    "one latency",
    "no latency",
    "even halves",
    "as a ring",
    "shared link",
    "whole chunks",
)


def of_seconds(
    collective: str, nbytes: float, dims: Sequence[Dim], right: float
) -> list[list[object]]:
    """By slip, the seconds that it leads to; those that change nothing are left out."""
    found: list[list[object]] = []
    for slip in SECONDS:
        spent, left = [], nbytes
        for dim in dims:
            spent.append(_slipped(left, dim, slip))
            left = left if slip == "all bytes" else left / dim.size
        passes = 2 if collective == "all_reduce" else 1
        passes = {"one half": 1, "twice": 2}.get(slip, passes)
        seconds = passes * (max(spent, default=0.0) if slip == "slowest" else sum(spent))
        if not isclose(seconds, right, rel_tol=1e-6):
            found.append([slip, seconds])
    return found


def _slipped(nbytes: float, dim: Dim, slip: str) -> float:
    size, latency = dim.size, 0.0 if slip == "no latency" else dim.latency
    if size == 1:
        return 0.0
    if dim.kind == RING or slip == "as a ring":
        ways = {"one way": 1, "both ways": 2}.get(slip, dim.ways if dim.kind == RING else 1)
        steps = size if slip == "one too many" else size - 1
        share = 1 if slip == "whole chunks" else size
        starts = 1 if slip == "one latency" else steps
        latency *= 2 if slip == "two hops" else 1
        return starts * latency + steps * nbytes / share / ways / dim.bandwidth
    if dim.kind == FULLY_CONNECTED:
        latency *= 2 if slip == "two hops" else 1
        messages = size - 1 if slip == "shared link" else 1
        share = 1 if slip == "whole chunks" else size
        return latency + messages * nbytes / share / dim.bandwidth
    steps = int(log2(size))
    latency *= 1 if slip == "one hop" else 2
    shares = [1 / size if slip == "even halves" else 2.0 ** -(step + 1) for step in range(steps)]
    shares = [1.0] * steps if slip == "whole chunks" else shares
    starts = 1 if slip == "one latency" else steps
    return starts * latency + sum(shares) * nbytes / dim.bandwidth


def of_memory(
    model: Transformer, job: Job, strategy: Strategy, state: int, right: Memory
) -> dict[str, list[list[object]]]:
    """By part, words and what they would explain."""
    e, tp = item_bytes(job.dtype), strategy.tp
    rows = job.batch // strategy.dp // job.micro_batches * job.tokens // strategy.sp
    per_token = 4 * model.width + 2 * (model.heads + model.kv_heads) * model.head
    per_token += (4 if model.gated else 2) * model.hidden
    whole, kept = rows * (e * per_token + 16) // tp, e * rows * model.width // tp
    words = -(-model.vocab // tp)
    kinds = 3 if model.gated else 2
    matrices = 2 * model.width * (model.heads + model.kv_heads) * model.head
    matrices = model.layers * (matrices + kinds * model.width * model.hidden) // tp
    stats = 16 * rows // tp
    table = words * model.width
    found: dict[str, list[list[object]]] = {
        "state": [
            ["The table of words is missing.", state * matrices],
            ["The head is the table of words: it counts once.", state * (matrices + 2 * table)],
            ["These are the numbers, not their bytes.", right.state // state],
        ],
        "kept": [
            ["This is one layer: every layer keeps as much.", whole],
            [
                "The means and deviations of the norms are missing: 16 bytes a token.",
                (model.layers - 1) * kept + whole - stats
                if strategy.recompute
                else model.layers * (whole - stats),
            ],
        ],
        "logits": [
            ["Three buffers are alive: logits, their softmax, their gradient.", right.logits // 3],
            ["The loss works in FP32 always: 4 bytes a number.", right.logits * e // 4],
        ],
    }
    if strategy.recompute:
        inputs = model.layers * kept
        found["kept"] += [
            ["The layer in work is whole: it is missing here.", inputs],
            ["The layer in work counts once: its kept input is part of it.", inputs + whole],
            ["With recomputation a layer keeps its input alone.", model.layers * whole],
        ]
    return {
        part: [one for one in slips if one[1] != getattr(right, part)]
        for part, slips in found.items()
    }


def of_stage(
    model: Transformer, job: Job, strategy: Strategy, stage: int, state: int, right: Loaded
) -> dict[str, list[list[object]]]:
    """By part of a stage's load, words and what they would explain."""
    e, tp, pp, micros = item_bytes(job.dtype), strategy.tp, strategy.pp, job.micro_batches
    rows = job.batch // strategy.dp // micros * job.tokens // strategy.sp
    passing = micros * rows * model.width * e
    layers = model.layers // pp
    words = -(-model.vocab // tp)
    table = state * words * model.width
    ends = (stage == 0) + (stage == pp - 1)
    bare = right.state - min(ends, 1) * table
    per_token = 4 * model.width + 2 * (model.heads + model.kv_heads) * model.head
    per_token += (4 if model.gated else 2) * model.hidden
    whole, kept = rows * (e * per_token + 16) // tp, e * rows * model.width // tp

    def held(flying: int) -> int:
        if strategy.recompute:
            return (flying * layers - 1) * kept + whole
        return flying * layers * whole

    ahead = min(micros, pp - stage)
    everywhere = "The table of words is in the first stage and in the last one, nowhere else."
    found: dict[str, list[list[object]]] = {
        "sent": [
            ["Nobody is before the first stage, and nobody behind the last: they send one way.",
             2 * passing],
            ["Two ways: activations go to the next stage, gradients to the one before.",
             passing],
            ["Every tp rank has all activations of its tokens, and sends them all.",
             right.sent // tp],
        ],
        "state": [
            ["The table of words is missing: the first stage looks words up, the last one needs "
             "them for the loss.", bare],
            [everywhere, bare + table],
            ["With one stage the head is the table itself: it counts once.", bare + 2 * table],
        ],
        "kept": [
            ["One micro-batch alone: under 1F1B a stage begins some before it ends the first.",
             held(1)],
            ["All micro-batches at once: 1F1B ends one before it begins the next.",
             held(micros)],
            ["The stage nearest to the end has fewest micro-batches under way: pp - stage.",
             held(min(micros, stage + 1))],
            ["As many as there are stages behind it, itself included.", held(min(micros, pp))],
            ["There are never more under way than there are micro-batches.", held(pp - stage)],
            ["Itself included: pp - stage.", held(min(micros, pp - stage - 1))],
            ["The layer in work is whole once, not for every micro-batch: one is worked on at a "
             "time.", ahead * ((layers - 1) * kept + whole)],
        ],
        "logits": [
            ["Only the last stage has logits.", 3 * 4 * rows * words],
        ],
    }  # fmt: skip
    return {
        part: [one for one in slips if one[1] != getattr(right, part)]
        for part, slips in found.items()
    }
