"""How long a step takes: FLOPs counted by PyTorch, collectives and pipeline by simulation.

Simulated times are sums of what happens one after the other, message by message.
"""

from __future__ import annotations

from autograder.reference.training.blocks import head_work, layer_work
from autograder.reference.training.memory import padded_words, share_of, stage_parameters
from lab_utils.instruments.parallel import FULL, Cluster, Job, Plan, Work
from lab_utils.instruments.roofline import item_bytes
from lab_utils.instruments.shapes import Transformer


def stage_work(model: Transformer, job: Job, plan: Plan) -> list[Work]:
    """FLOPs of one rank of each stage for one micro-batch: forward, backward, what runs again."""
    micro = job.batch // plan.dp // job.micro_batches
    layer = layer_work(share_of(model, plan), job.tokens, micro)
    words = padded_words(model.vocab, plan.tp) // plan.tp
    head = head_work(model.width, words, job.tokens, micro)
    found = []
    for stage in range(plan.pp):
        works = [layer] * (model.layers // plan.pp)
        works += [head] if stage == plan.pp - 1 else []
        found.append(Work(*(sum(part) for part in zip(*works, strict=True))))
    return found


def message(nbytes: float, cluster: Cluster) -> float:
    """Seconds until a message has arrived."""
    return cluster.latency + nbytes / cluster.link


def all_reduce(nbytes: float, ranks: int, cluster: Cluster) -> float:
    """A ring: every rank sends a chunk to the next, in step, until all have the whole sum.

    Chunks travel as sets of ranks whose numbers they hold; the ring is done when every rank has
    every chunk with everybody's numbers.
    """
    everybody = frozenset(range(ranks))
    held = [[frozenset({rank}) for _ in range(ranks)] for rank in range(ranks)]
    seconds, step = 0.0, 0
    while any(chunk != everybody for own in held for chunk in own):
        sent = [(rank - step) % ranks for rank in range(ranks)]
        moving = [held[rank][chunk] for rank, chunk in enumerate(sent)]
        for rank, chunk in enumerate(sent):
            after = (rank + 1) % ranks
            held[after][chunk] = held[after][chunk] | moving[rank]
        seconds += message(nbytes / ranks, cluster)
        step += 1
    return seconds


def stage_seconds(model: Transformer, job: Job, plan: Plan, cluster: Cluster) -> list[float]:
    """Seconds that each stage works on one micro-batch, its all-reduces among them."""
    micro = job.batch // plan.dp // job.micro_batches
    rate = cluster.machine.rate(job.dtype)
    passing = job.tokens * micro * model.width * item_bytes(job.dtype)
    once = all_reduce(passing, plan.tp, cluster)
    found = []
    for stage, work in enumerate(stage_work(model, job, plan)):
        seconds = work.dense / (rate * cluster.dense) + work.attention / (rate * cluster.attention)
        for _ in range(model.layers // plan.pp):
            seconds += 2 * once  # forward: after attention, after the linears
            seconds += 2 * once  # backward: before each of them
            seconds += 2 * once if plan.recompute == FULL else 0.0
        seconds += once if stage == 0 else 0.0  # the embedding, forward
        seconds += once if stage == plan.pp - 1 else 0.0  # the head, backward
        found.append(seconds)
    return found


def through_the_line(stages: list[float], micro_batches: int, between: float) -> float:
    """When the last micro-batch leaves the last stage, one stage working on one at a time."""
    free = [0.0] * len(stages)
    done = 0.0
    for _ in range(micro_batches):
        ready = 0.0
        for stage, seconds in enumerate(stages):
            ready = max(ready, free[stage]) + seconds
            free[stage] = ready
            done = ready
            ready += between
    return done


def step_seconds(model: Transformer, job: Job, plan: Plan, cluster: Cluster) -> float:
    """Seconds of one step, nothing overlapped but the stages of the pipeline."""
    micro = job.batch // plan.dp // job.micro_batches
    passing = job.tokens * micro * model.width * item_bytes(job.dtype)
    between = 2 * message(passing, cluster)  # forward and back
    stages = stage_seconds(model, job, plan, cluster)
    seconds = through_the_line(stages, job.micro_batches, between)
    fullest = max(stage_parameters(model, plan.tp, plan.pp))
    seconds += all_reduce(4 * fullest, plan.dp, cluster)
    if plan.pp > 1:
        table = padded_words(model.vocab, plan.tp) // plan.tp * model.width
        seconds += all_reduce(4 * table, 2, cluster)
    return seconds
