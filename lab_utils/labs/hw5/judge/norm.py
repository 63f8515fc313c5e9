"""Task 3.8: batch norm over all ranks, beside PyTorch's own on all images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional as F

from lab_utils.instruments.ranks.show.findings import collectives_of, sends_of, stopped
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.hw5.shares import share_of

_CLOSE, _FAR = 1e-4, 2e-6  # of a number around 1; and more of it for a large mean
_BYTES = 8  # of the widest numbers


def judge_norm(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 3.8: the numbers of one large batch, by one collective of a few sums."""
    if found := stopped(answer):
        return found
    given = case.given
    shares = [share_of(given, rank).double() for rank in range(given["ranks"])]
    right = normal(torch.cat(shares), given["eps"]).split([len(share) for share in shares])
    for rank, told in enumerate(answer["told"]):
        wanted = list(right[rank].shape)
        if told["shape"] != wanted:
            look = "What you return is as large as x: every number of it, normalised."
            return [Finding(f"rank {rank}: shape {told['shape']}", str(wanted), look)]
        got = torch.tensor(told["numbers"], dtype=torch.float64).reshape(wanted)
        if not _near(got, right[rank], given):
            look = _look(given, got, shares, rank)
            yours = f"rank {rank}: the numbers differ by up to {_most(got, right[rank]):.3g}"
            return [Finding(yours, "those of one large batch", look)]
    return _messages(given, answer)


def normal(x: torch.Tensor, eps: float) -> torch.Tensor:
    """PyTorch's own batch norm, in training."""
    if not len(x):
        return x
    return F.batch_norm(x, None, None, training=True, eps=eps)


def _near(got: torch.Tensor, right: torch.Tensor, given: Mapping[str, Any]) -> bool:
    if not right.numel():
        return True
    most = _CLOSE + _FAR * given["offset"] * given["shape"][0]
    return bool(torch.isfinite(got).all()) and _most(got, right) <= most


def _most(got: torch.Tensor, right: torch.Tensor) -> float:
    return float((got - right).abs().max()) if right.numel() else 0.0


def _look(
    given: Mapping[str, Any], got: torch.Tensor, shares: list[torch.Tensor], rank: int
) -> str:
    eps, share, whole = given["eps"], shares[rank], torch.cat(shares)
    dims = [0, *range(2, whole.dim())]
    mean, var = whole.mean(dims, keepdim=True), whole.var(dims, keepdim=True, unbiased=False)
    many = whole.numel() / whole.shape[1]
    full = [one for one in shares if len(one)]
    even = torch.stack([one.mean(dims, keepdim=True) for one in full]).mean(0)
    squares = torch.stack([(one**2).mean(dims, keepdim=True) for one in full]).mean(0)
    wrong: tuple[tuple[Callable[[], torch.Tensor], str], ...] = (
        (
            lambda: normal(share, eps),
            "These are the statistics of the rank's own images: sum up over all ranks first.",
        ),
        (
            lambda: (share - even) / (squares - even**2 + eps).sqrt(),
            "The ranks have different numbers of images: sum numbers and counts, not means.",
        ),
        (
            lambda: (share - mean) / (var * many / (many - 1) + eps).sqrt(),
            "Batch norm divides by the number of numbers, not by one less.",
        ),
        (lambda: (share - mean) / var.sqrt(), "eps is missing: it is added to the variance."),
        (
            lambda: (share - mean) / (var.sqrt() + eps),
            "eps is added to the variance, inside of the root.",
        ),
        (
            lambda: (share - mean) / (var + eps),
            "Divide by the root of the variance, which is the standard deviation.",
        ),
        (lambda: share - mean, "The mean is right; now divide by the standard deviation."),
    )
    for make, words in wrong:
        if _near(got, make(), given):
            return words
    if given["offset"] >= 100:
        return (
            "The mean is large here: the mean of squares minus the square of the mean loses its "
            "digits in float32. Sum in float64."
        )
    return "Sum, sum of squares and count over images, rows and columns, for each channel."


def _messages(given: Mapping[str, Any], answer: Mapping[str, Any]) -> list[Finding]:
    channels = given["shape"][0]
    most = _BYTES * 3 * channels
    wanted = f"one collective of at most {most:,} bytes"
    for rank, diary in enumerate(answer["diaries"]):
        joined = collectives_of(diary)
        moved = sum(nbytes for *_, nbytes in joined)
        yours = f"rank {rank}: {len(joined)} collectives, {moved:,} bytes"
        if sends_of(diary) or len(joined) != 1:
            look = "One all-reduce is enough: put sums, sums of squares and counts into one tensor."
            return [Finding(yours, wanted, look)]
        if moved > most:
            look = "Images stay where they are: only sums of each channel travel."
            return [Finding(yours, wanted, look)]
    return []
