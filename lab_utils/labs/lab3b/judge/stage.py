"""Tasks 2.4 and 2.5: a pipeline at work, beside one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from lab_utils.instruments.ranks.show.clock import replay
from lab_utils.instruments.ranks.show.findings import (
    close,
    collectives_of,
    in_time,
    link_of,
    sends_of,
    still_sending,
    stopped,
)
from lab_utils.instruments.ranks.show.schedules import pipeline_diaries
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab3b.numbers import random_numbers
from lab_utils.labs.lab3b.stages import (
    stage_input,
    stage_layers,
    stage_target,
    stage_weights,
)


def judge_stage(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.4: gradients of one process, few messages, no time lost."""
    return (
        stopped(answer)
        or _steps_wrong(case, answer)
        or _stage_gradients(case, answer)
        or _stage_messages(case, answer)
        or _stage_time(case, answer)
        or still_sending(answer)
    )


def _steps_wrong(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    for rank, (diary, steps) in enumerate(
        zip(answer["diaries"], case.given["schedule"], strict=True)
    ):
        did = [entry[2] for entry in diary if entry[0] == "compute"]
        wanted = [f"{kind}{micro}" for kind, micro in steps]
        if did != wanted:
            look = "Do the steps of the list, each once, in their order."
            told = f"rank {rank} does {' '.join(did[:12]) or 'nothing'}"
            return [Finding(told, " ".join(wanted[:12]), look)]
    return []


def one_model(given: Mapping[str, Any]) -> list[dict[str, torch.Tensor]]:
    """Gradients of all stages, from one process that has the whole model."""
    stages = [stage_weights(given, rank) for rank in range(given["ranks"])]
    for weights in stages:
        for weight in weights.values():
            weight.requires_grad_()
    total = torch.zeros((), dtype=torch.float64)
    for micro in range(given["micros"]):
        x = stage_input(given, micro)
        for weights in stages:
            x = stage_layers(weights, x)
        total = total + ((x - stage_target(given, micro)) ** 2).mean()
    leaves = [weight for weights in stages for weight in weights.values()]
    gradients = iter(torch.autograd.grad(total / given["micros"], leaves))
    return [{name: next(gradients) for name in weights} for weights in stages]


def _stage_gradients(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    for rank, (told, right) in enumerate(zip(answer["told"], one_model(case.given), strict=True)):
        for name, gradient in right.items():
            got = told[name]
            if got is None or not close(got, gradient):
                yours = f"the gradient of {name} on rank {rank} is another"
                look = (
                    "Each micro-batch must meet its own gradient: is a buffer used again that "
                    "still belongs to another one, or are two messages mixed up?"
                )
                return [Finding(yours, "what one process computes", look)]
    return []


def _stage_messages(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    ranks, micros = case.given["ranks"], case.given["micros"]
    nbytes = case.given["rows"] * case.given["width"] * 8
    for rank, diary in enumerate(answer["diaries"]):
        wanted = sorted(
            (to, nbytes) for to in (rank - 1, rank + 1) if 0 <= to < ranks for _ in range(micros)
        )
        sent = sorted(sends_of(diary))
        if sent != wanted or collectives_of(diary):
            look = (
                "One message for each micro-batch and neighbour: activations ahead, gradients back."
            )
            moved = sum(n for _, n in sent)
            told = f"rank {rank} sends {len(sent)} messages, {moved:,} bytes"
            return [Finding(told, f"{len(wanted)} messages, {nbytes:,} bytes each", look)]
    return []


def _stage_time(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    given = case.given
    nbytes = given["rows"] * given["width"] * 8
    diaries = pipeline_diaries(
        given["schedule"], given["forward"], given["backward"], nbytes, 2 * nbytes
    )
    look = (
        "A rank waits for a send before it goes on with its steps: start it with isend, and wait "
        "for all of them at the end."
    )
    return in_time(case, answer, replay(diaries, link_of(case)).end, look)


def judge_tied(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.5: the sum on the first and the last rank, and nobody else takes part."""
    if found := stopped(answer):
        return found
    last = case.given["ranks"] - 1
    parts = [random_numbers(case.given["seed"] + rank, case.given["shape"]) for rank in (0, last)]
    total = parts[0] + parts[1]
    for rank, own in zip((0, last), parts, strict=True):
        got = answer["told"][rank]
        if not close(got, total):
            return [
                Finding(
                    f"rank {rank} has another gradient",
                    "the sum of both",
                    _tied_look(got, own, total),
                )
            ]
    for rank in range(1, last):
        if collectives_of(answer["diaries"][rank]) or sends_of(answer["diaries"][rank]):
            look = (
                "Ranks in the middle have no such weight, and should send nothing: make a group of "
                "the first and the last rank (all ranks must call new_group), and sum in it."
            )
            return [Finding(f"rank {rank} takes part", f"ranks 0 and {last} alone", look)]
    for rank in (0, last):
        diary = answer["diaries"][rank]
        moved = sum(n for *_, n in collectives_of(diary)) + sum(n for _, n in sends_of(diary))
        if moved != total.nbytes:
            look = "One all-reduce is enough, of the gradient and nothing else."
            if moved < total.nbytes:
                look = "The other rank's gradient comes in a message: each has to send its own."
            return [Finding(f"rank {rank}: {moved:,} bytes", f"{total.nbytes:,} bytes", look)]
    return still_sending(answer)


def _tied_look(got: Sequence[float], own: torch.Tensor, total: torch.Tensor) -> str:
    if close(got, own):
        return (
            "It still has its own part alone: one weight is used in two places, so its gradient "
            "is the sum of both, on both ranks."
        )
    if close(got, total / 2):
        return "This is the mean: a weight that is used twice has the sum of both gradients."
    return "Sum the gradients of the first and the last rank in place, on both of them."
