"""How a ring is judged that somebody wrote: who is in a sum, and which way its messages took."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.instruments.ranks.show.findings import (
    in_time,
    message_seconds,
    one_ring,
    sends_of,
)
from lab_utils.kit.task import Case, Finding

ITEM_BYTES = {"float16": 2, "float32": 4, "float64": 8, "int32": 4, "int64": 8}
"""Of one number, by dtype."""

_COUNT = {
    1: "In each of N - 1 steps a rank sends one chunk and receives one.",
    2: "A ring has 2 (N - 1) steps, and in each a rank sends one chunk.",
}


def ring_way(case: Case, answer: Mapping[str, Any], chunk: int, halves: int) -> list[Finding]:
    """Few messages, each of one chunk, around one ring, all ranks at the same time.

    Args:
        case: of ``ranks`` ranks that a ``link`` connects.
        answer: their ``diaries``.
        chunk: bytes of the largest chunk.
        halves: 1 if the ranks add up or hand on, 2 if they do both.
    """
    ranks = case.given["ranks"]
    steps = halves * (ranks - 1)
    wanted = f"{steps} messages of at most {chunk:,} bytes, to one neighbour"
    for rank, diary in enumerate(answer["diaries"]):
        sent = sends_of(diary)
        yours = f"rank {rank} sends {len(sent)} messages, {sum(n for _, n in sent):,} bytes"
        if any(nbytes > chunk for _, nbytes in sent):
            look = "A message is one chunk, not the whole tensor."
            return [Finding(yours, wanted, look)]
        if len(sent) != steps:
            return [Finding(yours, wanted, _COUNT[halves])]
        if len({to for to, _ in sent}) > 1:
            look = "A rank sends to one neighbour alone, always the same: that makes it a ring."
            return [Finding(f"rank {rank} sends to several ranks", wanted, look)]
    if found := one_ring(answer):
        return found
    look = (
        "All ranks can send at the same time: isend, then recv, then wait. Here some wait until "
        "others have sent."
    )
    return in_time(case, answer, steps * message_seconds(case, chunk), look)


def times_inside(number: float, unit: float, ranks: int, base: int) -> list[int] | None:
    """How often each rank is in a sum to which rank r brought ``unit * base**r``.

    None if it is no sum of theirs.
    """
    if number < 0 or number % unit:
        return None
    code, often = int(number // unit), []
    for _ in range(ranks):
        often.append(code % base)
        code //= base
    if code:
        often[-1] += code * base  # the last rank was added so often that it overflows
    return often
