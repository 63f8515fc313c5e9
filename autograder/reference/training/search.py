"""Searches by trying everything: which plans there are, the fastest, the largest model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, product

from autograder.reference.training.memory import stage_memory
from autograder.reference.training.time import step_seconds
from lab_utils.instruments.parallel import NONE, SELECTIVE, Cluster, Job, Plan
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.errors import LabError


def all_plans(model: Transformer, job: Job, cards: int) -> Iterator[Plan]:
    """Every plan that uses all cards and cuts nothing into unequal parts."""
    degrees = range(1, cards + 1)
    for tp, pp, dp, again in product(degrees, degrees, degrees, (NONE, SELECTIVE)):
        if tp * pp * dp != cards or job.batch % (dp * job.micro_batches):
            continue
        if not (model.heads % tp or model.hidden % tp or model.layers % pp):
            yield Plan(tp, pp, dp, again)


def peak(model: Transformer, job: Job, plan: Plan) -> int:
    """Bytes of the fullest rank."""
    return max(memory.total for memory in stage_memory(model, job, plan))


def priced(model: Transformer, job: Job, cluster: Cluster) -> dict[Plan, tuple[int, float]]:
    """Of every plan the peak in bytes and the seconds of a step."""
    return {
        plan: (peak(model, job, plan), step_seconds(model, job, plan, cluster))
        for plan in all_plans(model, job, cluster.cards)
    }


def fitting(model: Transformer, job: Job, cluster: Cluster) -> dict[Plan, int]:
    """The plans whose every rank fits, and the bytes of the fullest."""
    found = {plan: peak(model, job, plan) for plan in all_plans(model, job, cluster.cards)}
    return {plan: nbytes for plan, nbytes in found.items() if nbytes <= cluster.machine.memory}


def largest(
    model: Transformer, job: Job, cluster: Cluster, step: int
) -> tuple[int, dict[Plan, int]]:
    """The most layers that fit, a multiple of ``step``, and the plans that hold them; 0 if none.

    Every pipeline cuts every depth evenly: so a plan that holds a depth holds every smaller one,
    and the first depth that nothing holds is the end.

    Raises:
        LabError: ``step`` is no multiple of the number of cards.
    """
    if step % cluster.cards:
        raise LabError(f"step is a multiple of the {cluster.cards} cards, not {step}")
    layers, plans = 0, {}
    for tried in count(step, step):
        found = fitting(replace(model, layers=tried), job, cluster)
        if not found:
            break
        layers, plans = tried, found
    return layers, plans
