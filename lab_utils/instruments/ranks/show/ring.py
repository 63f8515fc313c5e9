"""A ring all-reduce step by step: who holds which partial sum, and what is sent when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab_utils.instruments.ranks.records import Diary

Held = list[list[frozenset[int]]]
"""By rank and chunk, whose numbers are in it."""


class Moment(NamedTuple):
    """The ring after some steps."""

    held: Held
    sent: tuple[int, ...]
    """By rank, which chunk it has just sent to the next one; empty at the start."""
    adding: bool
    """Whether what arrived was added, in the first half; in the second it replaces."""


def ring_moments(ranks: int) -> list[Moment]:
    """The start, and what is held after each of the 2 (N - 1) steps."""
    held = [[frozenset({rank}) for _ in range(ranks)] for rank in range(ranks)]
    moments = [Moment(held, (), True)]
    for step in range(2 * (ranks - 1)):
        adding = step < ranks - 1
        sent = tuple((rank - step) % ranks for rank in range(ranks))  # what has just arrived
        before = moments[-1].held
        after = [list(row) for row in before]
        for rank in range(ranks):
            other = (rank + 1) % ranks
            arrived = before[rank][sent[rank]]
            after[other][sent[rank]] = arrived | (
                before[other][sent[rank]] if adding else frozenset()
            )
        moments.append(Moment(after, sent, adding))
    return moments


def ring_diaries(ranks: int, nbytes: int) -> list[Diary]:
    """What ranks do that pass chunks of ``nbytes`` around a ring, 2 (ranks - 1) times."""
    return [_diary(rank, ranks, [nbytes] * (2 * (ranks - 1))) for rank in range(ranks)]


def _diary(rank: int, ranks: int, sizes: Sequence[int]) -> Diary:
    diary: Diary = []
    for step, nbytes in enumerate(sizes):
        sent, got = 2 * step, 2 * step + 1
        diary.append(["send", sent, (rank + 1) % ranks, nbytes, 0, "float32"])
        diary.append(["recv", got, (rank - 1) % ranks, nbytes, 0, "float32"])
        diary += [["wait", got], ["wait", sent]]
    return diary
