"""Replicas that hide their messages behind backward: what they do at best, and how it is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from lab_utils.instruments.ranks.records import Diary
from lab_utils.instruments.ranks.replicas import replica, replica_loss
from lab_utils.instruments.ranks.show.clock import replay
from lab_utils.instruments.ranks.show.findings import (
    close,
    collectives_of,
    in_time,
    link_of,
    sends_of,
    stopped,
)
from lab_utils.kit.task import Case, Finding

STEPS = 2
"""Steps of training that are asked for: what is left of the first shows in the second."""


def replica_diary(given: Mapping[str, Any]) -> Diary:
    """What a rank does that starts each bucket as soon as it can, in two steps."""
    diary: Diary = []
    request = 0
    everybody = list(range(given["ranks"]))
    for _ in range(STEPS):
        diary += [["compute", given["seconds"] / 2, f"F{n}"] for n in range(given["layers"])]
        ready: set[int] = set()
        started: list[int] = []
        waiting = [set(bucket) for bucket in given["buckets"]]
        for layer in reversed(range(given["layers"])):
            diary.append(["compute", given["seconds"], f"B{layer}"])
            ready |= {2 * layer, 2 * layer + 1}
            for bucket in [one for one in waiting if one <= ready]:
                waiting.remove(bucket)
                nbytes = sum(8 * given["width"] ** (2 - p % 2) for p in bucket)
                diary.append(["collective", request, "all_reduce", everybody, nbytes, "all"])
                started.append(request)
                request += 1
        diary += [["wait", one] for one in started]
    return diary


def mean_gradients(
    given: Mapping[str, Any], step: int, weights: Sequence[float]
) -> list[torch.Tensor]:
    """Gradients of one process that has all samples: the ranks' losses by these weights."""
    parameters = replica(given)
    losses = [replica_loss(given, parameters, rank, step) for rank in range(len(weights))]
    pairs = zip(losses, weights, strict=True)
    loss = torch.stack([one * weight for one, weight in pairs]).sum() / sum(weights)
    return list(torch.autograd.grad(loss, parameters))


def own_gradient(given: Mapping[str, Any], step: int, rank: int, place: int) -> torch.Tensor:
    """What a rank has for a parameter before it has heard of anybody."""
    parameters = replica(given)
    loss = replica_loss(given, parameters, rank, step)
    return torch.autograd.grad(loss, parameters)[place]


Numbers = Sequence[float] | None


@dataclass(frozen=True)
class Right:
    """What is right in a data-parallel step."""

    gradients: Callable[[int], list[torch.Tensor]]
    """Of a step, those that every rank must have in the end."""
    words: str
    """What they are."""
    look: Callable[[Numbers, int, int, int], str]
    """Why numbers are others: (numbers, step, rank, parameter)."""


def judge_replicas(case: Case, answer: Mapping[str, Any], right: Right) -> list[Finding]:
    """The right gradients, a message a bucket, no more time than needed, no hook left."""
    if found := stopped(answer):
        return found
    for step in range(STEPS):
        wanted = right.gradients(step)
        for rank, told in enumerate(answer["told"]):
            for place, gradient in enumerate(wanted):
                got = told[step]["gradients"][place]
                if got is None or not close(got, gradient):
                    name = f"step {step}, rank {rank}: the gradient of parameter {place}"
                    look = right.look(got, step, rank, place)
                    return [Finding(f"{name} is another", right.words, look)]
    return _messages(case, answer) or _time(case, answer) or _hooks_left(answer)


def _messages(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    sizes = [parameter.nbytes for parameter in replica(case.given)]
    wanted = sorted(STEPS * [sum(sizes[p] for p in bucket) for bucket in case.given["buckets"]])
    for rank, diary in enumerate(answer["diaries"]):
        got = sorted(nbytes for _, _, nbytes in collectives_of(diary))
        if got == wanted and not sends_of(diary):
            continue
        told = f"rank {rank}: {len(got)} all-reduces, {sum(got):,} bytes, in two steps"
        if len(got) > len(wanted) and sum(got) == sum(wanted):
            look = (
                "Gradients of one bucket travel in one tensor: put a bucket's gradients into one "
                "tensor first."
            )
        elif len(got) > len(wanted):
            look = "Something travels besides the buckets: are hooks of the first step still there?"
        else:
            look = "There is one all-reduce for each bucket in each step."
        return [Finding(told, f"{len(wanted)} all-reduces, {sum(wanted):,} bytes", look)]
    return []


def _time(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    diaries = [replica_diary(case.given) for _ in range(case.given["ranks"])]
    look = (
        "The all-reduce of a bucket can start when its last gradient is there, while backward goes "
        "on: all_reduce(…, async_op=True) in a hook, and wait after backward."
    )
    return in_time(case, answer, replay(diaries, link_of(case)).end, look)


def _hooks_left(answer: Mapping[str, Any]) -> list[Finding]:
    left = max(step["hooks"] for told in answer["told"] for step in told)
    if not left:
        return []
    look = "Your function runs once a step: remove its hooks, or there are more in every step."
    return [Finding(f"{left} hooks are left on the parameters", "no hook is left", look)]
