"""What the messages of a ring all-reduce hold: who has the sum from elsewhere still passes it on.

Which elements make a chunk is free, and so is which chunk goes first. But what a rank sends in its
first N - 1 steps are sums over itself and the 0, 1, … N - 2 ranks before it, each length once; in
the others complete sums. A right ring has these to the last bit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any
from zlib import crc32

import torch

from lab_utils.instruments.ranks.group import raw
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.hw5.brought import brought

_MOST = 64  # elements; of larger tensors the messages are not looked into


def judge_messages(
    case: Case, answer: Mapping[str, Any], next_of: Mapping[int, int]
) -> list[Finding]:
    """Whether the messages are the sums that a ring carries."""
    ranks = case.given["ranks"]
    parts = [brought(case.given, rank).reshape(-1) for rank in range(ranks)]
    many = len(parts[0])
    if not 0 < many <= _MOST or "seed" in case.given:
        return []
    before = {to: rank for rank, to in next_of.items()}
    for rank, diary in enumerate(answer["diaries"]):
        sent = [(entry[3], entry[6]) for entry in diary if entry[0] == "send"]
        known = _known(rank, parts, before, {nbytes for nbytes, _ in sent})
        lengths: Counter[int] = Counter()
        for nbytes, checksum in sent:
            if nbytes == 0 or crc32(bytes(nbytes)) == checksum:
                continue  # an empty chunk, or nothing but padding
            length = known.get((nbytes, checksum), 0)
            lengths[length] += 1
            if length and lengths[length] <= (ranks - 1 if length == ranks else 1):
                continue
            look = (
                "A message is a chunk itself: first what the rank brought, then sums that grow "
                "by one rank a step, then N - 1 chunks that are complete."
            )
            yours = f"a message of rank {rank} holds something else"
            return [Finding(yours, "each message holds a partial or a complete sum", look)]
    return []


def _known(
    rank: int, parts: list[torch.Tensor], before: Mapping[int, int], sizes: set[int]
) -> dict[tuple[int, int], int]:
    """By size and checksum of a message, how many ranks' sum it is."""
    known: dict[tuple[int, int], int] = {}
    at, total = rank, parts[rank].clone()
    for length in range(1, len(parts) + 1):
        for chunk in _chunks(total, len(parts), sizes):
            known[len(chunk), crc32(chunk)] = length
        at = before[at]
        total = total + parts[at]
    return known


def _chunks(total: torch.Tensor, ranks: int, sizes: set[int]) -> Iterator[bytes]:
    """Whatever may be a chunk: neighbours, or every N-th; zeros may fill it up."""
    content, each = raw(total), total.element_size()
    for nbytes in sizes:
        for start in range(0, len(content), each):
            yield content[start : start + nbytes].ljust(nbytes, b"\0")
    for start in range(ranks):
        strided = raw(total[start::ranks])
        for nbytes in sizes:
            if len(strided) <= nbytes:
                yield strided.ljust(nbytes, b"\0")
