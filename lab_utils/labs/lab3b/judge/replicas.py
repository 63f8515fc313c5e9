"""Tasks 2.6 and 2.7: replicas that average their gradients, beside one process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from lab_utils.instruments.ranks.show.findings import close
from lab_utils.instruments.ranks.show.replicas import (
    Numbers,
    Right,
    judge_replicas,
    mean_gradients,
    own_gradient,
)
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

    def look(got: Numbers, step: int, rank: int, place: int) -> str:
        return _overlap_look(case, got, step, rank, place)

    right = Right(lambda step: one_batch(case.given, step), "the mean over all ranks", look)
    return judge_replicas(case, answer, right)


def one_batch(given: Mapping[str, Any], step: int) -> list[torch.Tensor]:
    """Gradients of one process that has the samples of all ranks."""
    return mean_gradients(given, step, [1.0] * given["ranks"])


def _overlap_look(case: Case, got: Numbers, step: int, rank: int, place: int) -> str:
    ranks = case.given["ranks"]
    if got is None:
        return "There is no gradient: put what was averaged back where it belongs."
    if close(got, one_batch(case.given, step)[place] * ranks):
        return "This is the sum over the ranks. Each has the mean loss of its own samples: average."
    own = own_gradient(case.given, step, rank, place)
    if close(got, own):
        return (
            "This is the rank's own gradient: the average never came back. Wait for the request, "
            "then put each part of the bucket into its parameter's gradient."
        )
    if close(got, own / ranks):
        return "This is the rank's own gradient divided by the number of ranks: it was not summed."
    return "Each part of a bucket goes back to its own parameter, in its own shape."
