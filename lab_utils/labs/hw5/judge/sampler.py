"""Task 3.4: a sampler, beside PyTorch's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch.utils.data.distributed import DistributedSampler

from lab_utils.kit.task import Case, Finding

Epoch = list[list[int]]
"""By rank, the numbers of its images."""


def pytorchs(given: Mapping[str, Any], epoch: int) -> Epoch:
    """What PyTorch's own sampler gives each rank."""
    rows = []
    for rank in range(given["ranks"]):
        sampler: DistributedSampler[int] = DistributedSampler(
            range(given["images"]),  # type: ignore[arg-type]
            given["ranks"],
            rank,
            seed=given["seed"],
            drop_last=given["drop_last"],
        )
        sampler.set_epoch(epoch)
        rows.append(list(sampler))
    return rows


def judge_shard(case: Case, answer: Sequence[Epoch]) -> list[Finding]:
    """Task 3.4: the same images, in the same order, on every rank and in every epoch."""
    given = case.given
    for place, epoch in enumerate(given["epochs"]):
        right, got = pytorchs(given, epoch), answer[place]
        for rank, (mine, wanted) in enumerate(zip(got, right, strict=True)):
            if mine != wanted:
                told = [f"epoch {epoch}, rank {rank}: {_few(row)}" for row in (mine, wanted)]
                return [Finding(told[0], told[1], _look(given, answer, place, got, right))]
    return []


def _look(
    given: Mapping[str, Any], answer: Sequence[Epoch], place: int, got: Epoch, right: Epoch
) -> str:
    images, ranks = given["images"], given["ranks"]
    flat = [one for row in got for one in row]
    lengths = {len(row) for row in got}
    if any(not 0 <= one < images for one in flat):
        return "Numbers of images go from 0 to images - 1."
    if place and answer[place] == answer[0]:
        return "All epochs have the order of the first one: the seed does not use the epoch."
    if len(lengths) > 1:
        return (
            "The ranks have different numbers of images, and would wait for each other for ever: "
            "pad with the first ones of the order, or with drop_last cut."
        )
    if given["drop_last"] and len(got[0]) > len(right[0]):
        return "With drop_last nothing is padded: what cannot be shared out evenly is left out."
    if not given["drop_last"] and len(got[0]) < len(right[0]):
        return (
            "Some images are missing on all ranks: pad the order with its own beginning, do not "
            "cut it."
        )
    if got == [sorted(row) for row in got] and right != [sorted(row) for row in right]:
        return "Nothing is shuffled: the order is torch.randperm with a generator of its own."
    if sorted(flat) == sorted(one for row in right for one in row):
        order = [row[at] for at in range(len(right[0])) for row in right]
        each = len(right[0])
        if got == [order[each * rank : each * (rank + 1)] for rank in range(ranks)]:
            return "Each rank takes every N-th image of the order, beginning at its own number."
        return "The order is another: a generator with seed + epoch, and torch.randperm of it."
    if got[0] and got.count(got[0]) == len(got) > 1:
        return "All ranks have the same images: each takes its own share of one common order."
    if len(set(flat)) < min(images, len(flat)) - ranks:
        return "Images are on several ranks: all ranks share one order, so no rank may be its seed."
    return "Pad with the order's own beginning, once around or several times, then take turns."


def _few(row: Sequence[int]) -> str:
    return str(list(row[:8])).replace("]", ", …]") if len(row) > 8 else str(list(row))
