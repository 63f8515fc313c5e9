"""Task 2.3: a data-parallel step, beside one process that has all images."""

from __future__ import annotations

from collections.abc import Mapping
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


def judge_step(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.3: the gradients of the whole batch, a message a bucket, no more time than needed."""

    def look(got: Numbers, step: int, rank: int, place: int) -> str:
        return _look(case, got, step, rank, place)

    def gradients(step: int) -> list[torch.Tensor]:
        return whole_batch(case.given, step)

    right = Right(gradients, "the gradient of all images together", look)
    return judge_replicas(case, answer, right)


def whole_batch(given: Mapping[str, Any], step: int) -> list[torch.Tensor]:
    """Gradients of one process that has the images of all ranks."""
    return mean_gradients(given, step, [float(rows) for rows in given["rows"]])


def _look(case: Case, got: Numbers, step: int, rank: int, place: int) -> str:
    ranks = case.given["ranks"]
    if got is None:
        return "There is no gradient: put what was summed back where it belongs."
    even = mean_gradients(case.given, step, [1.0] * ranks)[place]
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
    own = own_gradient(case.given, step, rank, place)
    share = case.given["rows"][rank] / sum(case.given["rows"])
    if close(got, own) or close(got, own * share):
        return (
            "This is the rank's own gradient: the sum never came back. Wait for the request, then "
            "put each part of the bucket into its parameter's gradient."
        )
    return "Each part of a bucket goes back to its own parameter, in its own shape."
