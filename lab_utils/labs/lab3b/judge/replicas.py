"""Tasks 2.6 and 2.7: replicas that average their gradients, beside one process."""

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


def judge_buckets(case: Case, answer: Sequence[Sequence[int]]) -> list[Finding]:
    """Task 2.6: in the order in which gradients arrive, as full as they may be."""
    wanted = case.wanted["buckets"]
    if [sorted(one) for one in answer] == [sorted(one) for one in wanted]:
        return []
    nbytes, most = case.given["nbytes"], case.given["most"]
    told = (str([list(one) for one in answer])[:100], str(wanted)[:100])
    flat = [one for bucket in answer for one in bucket]
    if sorted(flat) != list(range(len(nbytes))):
        look = "Every parameter is in one bucket, once."
    elif any(len(one) > 1 and sum(nbytes[p] for p in one) > most for one in answer):
        look = "A bucket is fuller than allowed: begin a new one before it would be."
    elif any(not one for one in answer):
        look = "There is an empty bucket: a parameter that is too large has one of its own."
    elif flat and answer[0] and 0 in answer[0] and len(answer) > 1:
        look = (
            "Backward starts at the end of the model: the first bucket holds the last parameters, "
            "whose gradients are there first."
        )
    elif len(answer) > len(wanted):
        look = "Some buckets could hold more: go on filling one until the next does not fit."
    else:
        look = (
            "Take the parameters from the last to the first, and fill one bucket after the other."
        )
    return [Finding(*told, look)]


def judge_overlap(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.7: the mean of all ranks, a message a bucket, no more time than needed."""
    if found := stopped(answer):
        return found
    ranks = case.given["ranks"]
    for step in range(2):
        right = one_batch(case.given, step)
        for rank, told in enumerate(answer["told"]):
            for place, gradient in enumerate(right):
                got = told[step]["gradients"][place]
                if got is None or not close(got, gradient):
                    name = f"step {step}, rank {rank}: the gradient of parameter {place}"
                    look = _overlap_look(case, got, gradient, ranks, (rank, step, place))
                    return [Finding(f"{name} is another", "the mean over all ranks", look)]
    return _bucket_messages(case, answer) or _overlap_time(case, answer) or _hooks_left(answer)


def _hooks_left(answer: Mapping[str, Any]) -> list[Finding]:
    left = max(step["hooks"] for told in answer["told"] for step in told)
    if not left:
        return []
    look = "Your function runs once a step: remove its hooks, or there are more in every step."
    return [Finding(f"{left} hooks are left on the parameters", "no hook is left", look)]


def one_batch(given: Mapping[str, Any], step: int) -> list[torch.Tensor]:
    """Gradients of one process that has the samples of all ranks."""
    parameters = replica(given)
    losses = [replica_loss(given, parameters, rank, step) for rank in range(given["ranks"])]
    loss = torch.stack(losses).mean()
    return list(torch.autograd.grad(loss, parameters))


def _overlap_look(
    case: Case,
    got: Sequence[float] | None,
    right: torch.Tensor,
    ranks: int,
    where: tuple[int, int, int],
) -> str:
    rank, step, place = where
    if got is None:
        return "There is no gradient: put what was averaged back where it belongs."
    if close(got, right * ranks):
        return "This is the sum over the ranks. Each has the mean loss of its own samples: average."
    parameters = replica(case.given)
    own = torch.autograd.grad(replica_loss(case.given, parameters, rank, step), parameters)[place]
    if close(got, own):
        return (
            "This is the rank's own gradient: the average never came back. Wait for the request, "
            "then put each part of the bucket into its parameter's gradient."
        )
    if close(got, own / ranks):
        return "This is the rank's own gradient divided by the number of ranks: it was not summed."
    return "Each part of a bucket goes back to its own parameter, in its own shape."


def _bucket_messages(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    width, buckets = case.given["width"], case.given["buckets"]
    sizes = [8 * width * (1 if place % 2 else width) for place in range(2 * case.given["layers"])]
    wanted = sorted(2 * [sum(sizes[p] for p in bucket) for bucket in buckets])
    for rank, diary in enumerate(answer["diaries"]):
        got = sorted(nbytes for _, _, nbytes in collectives_of(diary))
        if got == wanted and not sends_of(diary):
            continue
        told = f"rank {rank}: {len(got)} all-reduces, {sum(got):,} bytes, in two steps"
        if len(got) > len(wanted) and sum(got) == sum(wanted):
            look = (
                "Each parameter is sent by itself: put a bucket's gradients into one tensor first."
            )
        elif len(got) > len(wanted):
            look = "Some gradients travel twice: are hooks of the first step still there?"
        else:
            look = "There is one all-reduce for each bucket in each step."
        return [Finding(told, f"{len(wanted)} all-reduces, {sum(wanted):,} bytes", look)]
    return []


def _overlap_time(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    diaries = [replica_diary(case.given) for _ in range(case.given["ranks"])]
    look = (
        "The all-reduce of a bucket can start when its last gradient is there, while backward goes "
        "on: all_reduce(…, async_op=True) in a hook, and wait after backward."
    )
    return in_time(case, answer, replay(diaries, link_of(case)).end, look)
