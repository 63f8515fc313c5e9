"""Tasks 1.1 and 1.2: the two halves of a ring all-reduce."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lab_utils.instruments.ranks.show.findings import (
    neighbours,
    still_sending,
    stopped,
    used_collectives,
)
from lab_utils.instruments.ranks.show.ring_way import ITEM_BYTES, ring_way, times_inside
from lab_utils.kit.task import Case, Finding, Judge
from lab_utils.labs.lab3b.judge.ring_messages import judge_copies_sent, judge_sums_sent
from lab_utils.labs.lab3b.numbers import BASE, chunks_of


def judge_reduce_scatter(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.1: rank r has chunk r + 1 complete, after N - 1 messages a rank."""
    return _judged(case, answer, _sums, judge_sums_sent)


def judge_all_gather(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.2: every rank has every chunk, after N - 1 messages a rank."""
    return _judged(case, answer, _copies, judge_copies_sent)


def _judged(
    case: Case,
    answer: Mapping[str, Any],
    ends: Judge,
    sent: Callable[[Case, Mapping[str, Any], Mapping[int, int]], list[Finding]],
) -> list[Finding]:
    """What the ranks have in the end, the ring's way, what messages hold, that they are over."""
    return (
        stopped(answer)
        or used_collectives(answer)
        or _of_hasty(answer, ends(case, answer))
        or _way(case, answer)
        or sent(case, answer, neighbours(answer))
        or still_sending(answer)
    )


def _of_hasty(answer: Mapping[str, Any], findings: list[Finding]) -> list[Finding]:
    """What is wrong, for who looked into a tensor before anything had arrived in it."""
    for rank, diary in enumerate(answer["diaries"]):
        waited = {line[1] for line in diary if line[0] == "wait"}
        if any(line[0] == "recv" and line[1] not in waited for line in diary):
            yours = f"rank {rank} starts an irecv, and does not wait for it"
            look = (
                "What irecv brings is there when wait() of its request has returned. Or take recv."
            )
            return [replace(finding, yours=yours, look=look) for finding in findings]
    return findings


def _sums(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    ranks, sizes = case.given["ranks"], case.given["sizes"]
    brought = [chunks_of(case.given, rank) for rank in range(ranks)]
    for rank in range(ranks):
        mine = (rank + 1) % ranks
        got = answer["told"][rank][mine]
        wanted = f"chunk {mine} of rank {rank} is the sum of {ranks} ranks"
        if len(got) != sizes[mine]:
            look = "A chunk keeps its size: add what arrives to it, in its place."
            return [Finding(f"chunk {mine} has {len(got)} numbers", wanted, look)]
        right = sum((chunks[mine].double() for chunks in brought[1:]), brought[0][mine].double())
        for place, (a, b) in enumerate(zip(got, right.tolist(), strict=True)):
            if abs(a - b) > 1e-5 * max(abs(b), 1):
                before = sum(sizes[:mine]) + place + 1
                yours, look = _who(a, before, ranks, rank, case)
                return [Finding(f"chunk {mine} of rank {rank} holds {yours}", wanted, look)]
    return []


def _who(number: float, unit: int, ranks: int, rank: int, case: Case) -> tuple[str, str]:
    """Whose numbers are in a sum, and what was misunderstood."""
    plain = "In each step add what arrives to your own chunk of that number, and send that on."
    often = None if "seed" in case.given else times_inside(number, unit, ranks, BASE)
    if often is None:
        return f"{number:g}", plain
    inside = sum(map(bool, often))
    if max(often) > 1:
        return f"{inside} ranks, and some of them twice", (
            "A number was added twice: send a chunk once in each step, and add what arrives once."
        )
    if often == [int(r == rank) for r in range(ranks)]:
        return "what the rank itself brought", (
            "Nothing was added to the chunk that this rank should have in the end, r + 1: are "
            "there N - 1 steps, and does the last one add to it?"
        )
    if inside == 1 and not often[rank]:
        return "what one other rank brought", "What arrives is added to the chunk, not put there."
    if inside == ranks - 1 and ranks > 2:
        return f"a sum of {inside} of {ranks} ranks", (
            "One rank is missing in the sum: N - 1 steps are needed, from 0 to N - 2."
        )
    return f"a sum of {inside} of {ranks} ranks", plain


def _copies(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    sizes = case.given["sizes"]
    for rank, chunks in enumerate(answer["told"]):
        for number, (got, many) in enumerate(zip(chunks, sizes, strict=True)):
            right = [1000.0 * (number + 1) + place for place in range(many)]
            if list(map(float, got)) != right:
                return [_copy_wrong(rank, number, got, right)]
    return []


def _copy_wrong(rank: int, number: int, got: Sequence[float], right: Sequence[float]) -> Finding:
    wanted = f"chunk {number} of rank {rank} is the complete one"
    if len(got) != len(right):
        look = "A chunk keeps its size: put what arrives into it, in its place."
        return Finding(f"chunk {number} has {len(got)} numbers", wanted, look)
    value = next(a for a, b in zip(got, right, strict=True) if a != b)
    if -100 <= value < 0:
        look = "It never arrived: N - 1 steps hand N - 1 chunks on, each one that came before."
        return Finding(f"chunk {number} of rank {rank} is as it was", wanted, look)
    if any(value == one - k for one in right for k in range(1, 20)):
        look = "In this half a chunk that arrives replaces the old one: it is not added to it."
        return Finding(f"chunk {number} of rank {rank} holds {value:g}", wanted, look)
    look = "What arrives was put into another chunk: which one did the left neighbour send?"
    return Finding(f"chunk {number} of rank {rank} holds {value:g}", wanted, look)


def _way(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Half a ring, gone around as quickly as it can be."""
    chunk = max(case.given["sizes"]) * ITEM_BYTES[case.given["dtype"]]
    return ring_way(case, answer, chunk, 1)
