"""Task 2.3: a data-parallel step, beside one process that has all images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

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
from lab_utils.instruments.ranks.show.replicas import replica_diary
from lab_utils.kit.task import Case, Finding

_BYTES = 8  # of a number; these models are float64


def judge_step(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.3: the gradients of the whole batch, a message a bucket, no more time than needed."""
    if found := stopped(answer):
        return found
    for step in range(2):
        right = whole_batch(case.given, step)
        for rank, told in enumerate(answer["told"]):
            for place, gradient in enumerate(right):
                got = told[step]["gradients"][place]
                if got is None or not close(got, gradient):
                    yours = (
                        f"step {step}, rank {rank}: the gradient of parameter {place} is another"
                    )
                    look = _look(case, got, step, rank, place)
                    return [Finding(yours, "the gradient of all images together", look)]
    return _messages(case, answer) or _time(case, answer) or _hooks(answer)


def whole_batch(given: Mapping[str, Any], step: int) -> list[torch.Tensor]:
    """Gradients of one process that has the images of all ranks."""
    return _mean(given, step, [float(rows) for rows in given["rows"]])


def _mean(given: Mapping[str, Any], step: int, weights: Sequence[float]) -> list[torch.Tensor]:
    """Gradients of the mean of all ranks' losses, with these weights."""
    parameters = replica(given)
    losses = [replica_loss(given, parameters, rank, step) for rank in range(len(weights))]
    pairs = zip(losses, weights, strict=True)
    loss = torch.stack([one * weight for one, weight in pairs]).sum() / sum(weights)
    return list(torch.autograd.grad(loss, parameters))


def _look(case: Case, got: Sequence[float] | None, step: int, rank: int, place: int) -> str:
    ranks = case.given["ranks"]
    if got is None:
        return "There is no gradient: put what was summed back where it belongs."
    even = _mean(case.given, step, [1.0] * ranks)[place]
    if close(got, even):
        return (
            "This is the mean of the ranks' means. They have different numbers of images: weigh "
            "each by images / total."
        )
    if close(got, even * ranks):
        return "This is the sum of the ranks' mean gradients: weigh each by images / total."
    right = whole_batch(case.given, step)[place]
    if close(got, right / ranks):
        return "This is divided by the number of ranks once too often: the weights do it already."
    parameters = replica(case.given)
    own = torch.autograd.grad(replica_loss(case.given, parameters, rank, step), parameters)[place]
    share = case.given["rows"][rank] / sum(case.given["rows"])
    if close(got, own) or close(got, own * share):
        return (
            "This is the rank's own gradient: the sum never came back. Wait for the request, then "
            "put each part of the bucket into its parameter's gradient."
        )
    return "Each part of a bucket goes back to its own parameter, in its own shape."


def _messages(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    sizes = [parameter.numel() * _BYTES for parameter in replica(case.given)]
    wanted = sorted(2 * [sum(sizes[p] for p in bucket) for bucket in case.given["buckets"]])
    for rank, diary in enumerate(answer["diaries"]):
        got = sorted(nbytes for _, _, nbytes in collectives_of(diary))
        if got == wanted and not sends_of(diary):
            continue
        told = f"rank {rank}: {len(got)} all-reduces, {sum(got):,} bytes, in two steps"
        if len(got) > len(wanted) and sum(got) == sum(wanted):
            look = "Gradients of one bucket travel in one tensor: put them together first."
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


def _hooks(answer: Mapping[str, Any]) -> list[Finding]:
    left = max(step["hooks"] for told in answer["told"] for step in told)
    if not left:
        return []
    look = "Your function runs once a step: remove its hooks, or there are more in every step."
    return [Finding(f"{left} hooks are left on the parameters", "no hook is left", look)]
