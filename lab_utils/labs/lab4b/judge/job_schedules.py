"""What is right in the collectives of notebook 2: they are run on data, and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from lab_utils.instruments.network.schedule import Send, sent_by, whose_numbers
from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Case, Finding

Told = Sequence[Sequence[Sequence[Any]]]


def _schedule(answer: Told) -> list[list[Send]]:
    return [[Send(m[0], m[1], tuple(m[2]), m[3]) for m in step] for step in answer]


def judge_schedule(case: Case, answer: Told) -> list[Finding]:
    """Tasks 2.1 and 2.2: the sum, then steps, messages at a time, and bytes."""
    ranks, schedule = case.given["ranks"], _schedule(answer)
    wrong = _sum(ranks, ranks, schedule)
    if wrong:
        return wrong
    steps, most = case.wanted["steps"], case.wanted["at_once"]
    for number, step in enumerate(schedule):
        busiest = max(Counter(message.src for message in step).values(), default=0)
        if busiest > most:
            look = (
                "Through a switch a rank has one link: it sends to one other rank in a step."
                if most == 1
                else "Nobody needs to send to the same rank twice in a step."
            )
            return [_found(f"step {number}: {busiest} messages of one rank", f"{most}", look)]
    if len(schedule) != steps:
        look = (
            "The sum is right. Everybody reaches everybody at once: one step to add up, one to "
            "hand out."
            if most > 1
            else "The sum is right. Halving needs as many steps as there are halvings from all "
            "chunks to one, and doubling as many again."
        )
        return [_found(f"{len(schedule)} steps", f"{steps} steps", look)]
    sent, wanted = max(sent_by(ranks, schedule)), case.wanted["sent"]
    if sent > wanted:
        look = (
            "The sum is right, but you send more than needed: in the first half a rank sends only "
            "chunks that it will not be responsible for, each once."
        )
        return [_found(f"a rank sends {sent} chunks", f"{wanted} chunks", look)]
    longest = [max((len(m.chunks) for m in step), default=0) for step in schedule]
    if sum(longest) > case.wanted["longest"]:
        look = "The sum is right. Let every message of a step carry equally much."
        yours = f"longest messages of the steps: {longest}"
        return [_found(yours, f"{case.wanted['longest']} chunks in all", look)]
    return []


def judge_dimensions(case: Case, answer: Told) -> list[Finding]:
    """Task 2.3: the sum, messages along one dimension, and bytes in each dimension."""
    sizes = list(case.given["sizes"])
    ranks, schedule = prod(sizes), _schedule(answer)
    wrong = _sum(ranks, ranks, schedule)
    if wrong:
        return wrong
    sent = np.zeros((ranks, len(sizes)), dtype=int)
    for number, step in enumerate(schedule):
        for message in step:
            along = [
                place
                for place, (a, b) in enumerate(
                    zip(_place(message.src, sizes), _place(message.dst, sizes), strict=True)
                )
                if a != b
            ]
            if len(along) > 1:
                look = (
                    "A message travels along one dimension: sender and receiver differ in one "
                    "coordinate. Rank = x0 + size0 · (x1 + size1 · …)."
                )
                yours = f"step {number}: {message.src} sends to {message.dst}"
                return [_found(yours, "neighbours in one dimension", look)]
            sent[message.src, along[0]] += len(message.chunks)
    wanted = case.wanted["sent"]
    for place, most in enumerate(wanted):
        busiest = int(sent[:, place].max())
        if busiest > most:
            look = (
                "The sum is right, but a dimension carries too much. First add up along the first "
                "dimension, so that each rank is responsible for a part; only that part goes on to "
                "the next dimension."
            )
            yours = f"dimension {place}: a rank sends {busiest} chunks"
            return [_found(yours, f"{most} chunks", look)]
    return []


def _place(rank: int, sizes: Sequence[int]) -> list[int]:
    found = []
    for size in sizes:
        found.append(rank % size)
        rank //= size
    return found


def _sum(ranks: int, chunks: int, schedule: Sequence[Sequence[Send]]) -> list[Finding]:
    """What is wrong with the numbers that ranks have in the end."""
    try:
        held = whose_numbers(ranks, chunks, schedule)
    except LabError as error:
        look = f"Ranks and chunks are numbered from 0; there are {ranks} of each."
        return [_found(str(error), "messages between two ranks", look)]
    if (held == 1).all():
        return []
    rank, chunk, of = (int(one) for one in np.argwhere(held != 1)[0])
    times = int(held[rank, chunk, of])
    if times == 0:
        look = "Something does not get there: who has this chunk complete, and who tells this rank?"
        yours = f"rank {rank} has chunk {chunk} without the numbers of rank {of}"
    else:
        look = (
            "Numbers are added twice. Add only what the receiver does not have yet; a chunk that "
            "is complete replaces the other one: add=False."
        )
        yours = f"rank {rank} has the numbers of rank {of} {times} times in chunk {chunk}"
    return [_found(yours, "everybody's numbers, once", look)]


def _found(yours: str, wanted: str, look: str) -> Finding:
    return Finding(yours, wanted, look)
