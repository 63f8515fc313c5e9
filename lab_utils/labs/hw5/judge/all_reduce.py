"""Task 2.1: a ring all-reduce. First the sums, then the ring's way, then what its messages hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from lab_utils.instruments.ranks.show.findings import (
    neighbours,
    still_sending,
    stopped,
    used_collectives,
)
from lab_utils.instruments.ranks.show.ring_way import ITEM_BYTES, ring_way, times_inside
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.hw5.brought import BASE, brought
from lab_utils.labs.hw5.judge.ring_messages import judge_messages

_CLOSE = 1e-5
_GATHER = "In the second half a chunk replaces what is there: it is not added."


def judge_ring(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.1: every rank has the sum, the same bits, by 2 (N - 1) messages to one neighbour."""
    if found := stopped(answer) or used_collectives(answer):
        return found
    return (
        _sums(case, answer)
        or _equal_bits(answer)
        or _way(case, answer)
        or judge_messages(case, answer, neighbours(answer))
        or still_sending(answer)
    )


def _sums(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    ranks = case.given["ranks"]
    parts = [brought(case.given, rank).double().reshape(-1) for rank in range(ranks)]
    right: list[float] = torch.stack(parts).sum(0).tolist()
    exact = "seed" not in case.given
    for rank, told in enumerate(answer["told"]):
        wanted = f"rank {rank} has the sum of {ranks} ranks everywhere"
        got = told["numbers"]
        if not told["gaps"]:
            look = (
                "The tensor is a view with gaps, and what lies in the gaps has changed: write "
                "to the elements of the tensor alone."
            )
            return [Finding(f"rank {rank}: memory beside the tensor changed", wanted, look)]
        if len(got) != len(right):
            look = "The tensor keeps its shape: the sum is to stand in its place."
            return [Finding(f"rank {rank} has {len(got)} numbers", wanted, look)]
        far = [
            place
            for place, (a, b) in enumerate(zip(got, right, strict=True))
            if a != b and (exact or abs(a - b) > _CLOSE * max(abs(b), 1))
        ]
        if far:
            yours, look = _who(case, rank, got, parts, far)
            words = f"rank {rank}: {len(far)} of {len(got)} elements differ; element {far[0]} holds"
            return [Finding(f"{words} {yours}", wanted, look)]
    return []


def _who(
    case: Case,
    rank: int,
    got: Sequence[float],
    parts: Sequence[torch.Tensor],
    far: Sequence[int],
) -> tuple[str, str]:
    """Whose numbers are in the first wrong element, and what was misunderstood."""
    place, ranks = far[0], case.given["ranks"]
    number, unit = got[place], float(parts[0][place])
    plain = "Each chunk goes around twice: N - 1 steps that add, then N - 1 steps that hand on."
    if [got[p] for p in far] == [float(parts[rank][p]) for p in far] and len(far) == len(got):
        if case.given["layout"] != "plain":
            return "what the rank brought", (
                "The tensor itself is as it was: reshape, flatten and contiguous make a copy of "
                "a tensor with another layout. Copy the sums back into it."
            )
        return "what the rank brought", "The sum must stand in the tensor itself, in place."
    often = None if "seed" in case.given else times_inside(number, unit, ranks, BASE)
    if often is None:
        return f"{number:g}", plain
    inside = sum(map(bool, often))
    if max(often) > 1:
        return f"{inside} ranks, some of them more than once", _GATHER
    if inside == ranks - 1 and ranks > 2:
        return f"the sum of {inside} of {ranks} ranks", (
            "One rank is missing: the first half has N - 1 steps, from 0 to N - 2."
        )
    look = "It holds a sum that is not complete: in the second half hand on what is complete."
    return f"the sum of {inside} of {ranks} ranks", look


def _equal_bits(answer: Mapping[str, Any]) -> list[Finding]:
    first, *others = (told["numbers"] for told in answer["told"])
    for rank, numbers in enumerate(others, 1):
        if numbers != first:
            far = sum(a != b for a, b in zip(first, numbers, strict=True))
            look = (
                "All are sums, and their last bits differ: each rank added in an order of its "
                "own. In a ring a chunk is added up once, and copied."
            )
            yours = f"ranks 0 and {rank} differ in {far} elements"
            return [Finding(yours, "the same bits on all ranks", look)]
    return []


def _way(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    many = math.prod(case.given["shape"])
    chunk = -(-many // case.given["ranks"]) * ITEM_BYTES[case.given["dtype"]]
    return ring_way(case, answer, chunk, 2)
