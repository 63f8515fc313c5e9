"""What the messages of a ring hold: who has the sum from elsewhere still has to pass it around.

A rank's N - 1 messages to its neighbour are all that the ranks after it ever get, so their
content follows from the ring's direction alone; their order is free. Each rank adds its own to
what arrives, and in no other grouping: a right ring has these sums to the last bit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from zlib import crc32

import torch

from lab_utils.instruments.ranks.group import raw
from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab3b.numbers import chunks_of, one_whole_chunk

Contents = dict[int, list[torch.Tensor]]
"""By rank, what its messages hold, in any order."""


def judge_sums_sent(
    case: Case, answer: Mapping[str, Any], next_of: Mapping[int, int]
) -> list[Finding]:
    """Task 1.1: a message is the sum of one chunk over the ranks that it has come through."""
    ranks = case.given["ranks"]
    brought = [chunks_of(case.given, rank) for rank in range(ranks)]
    right: Contents = {rank: [] for rank in range(ranks)}
    for owner in range(ranks):
        chunk, at = (owner + 1) % ranks, next_of[owner]
        carried = brought[at][chunk].clone()
        while at != owner:
            right[at].append(carried)
            at = next_of[at]
            carried = carried + brought[at][chunk]
    look = (
        "A message is a chunk itself: in step 0 what the rank brought, after that the chunk that "
        "it has just added to."
    )
    return _held(answer, right, "sums that grow by one rank a step", look)


def judge_copies_sent(
    case: Case, answer: Mapping[str, Any], next_of: Mapping[int, int]
) -> list[Finding]:
    """Task 1.2: a rank sends each complete chunk but the one that its neighbour has."""
    ranks = case.given["ranks"]
    whole = {rank: one_whole_chunk(case.given, rank)[(rank + 1) % ranks] for rank in range(ranks)}
    right = {
        rank: [chunk for owner, chunk in whole.items() if owner != next_of[rank]]
        for rank in range(ranks)
    }
    look = (
        "A message is a complete chunk: in step 0 the one that the rank has, after that the one "
        "that has just arrived."
    )
    return _held(answer, right, "chunks that are complete", look)


def _held(answer: Mapping[str, Any], right: Contents, wanted: str, look: str) -> list[Finding]:
    for rank, diary in enumerate(answer["diaries"]):
        left = [raw(tensor) for tensor in right[rank]]
        for _, _, _, nbytes, _, _, checksum in (line for line in diary if line[0] == "send"):
            found = _of_checksum(left, nbytes, checksum)
            if found is None:
                yours = f"a message of rank {rank} holds other numbers"
                return [Finding(yours, f"the messages hold {wanted}", look)]
            left.remove(found)
    return []


def _of_checksum(contents: Sequence[bytes], nbytes: int, checksum: int) -> bytes | None:
    """Which of these was sent; zeros may fill it up to the size of the largest chunk."""
    for content in contents:
        if len(content) <= nbytes and crc32(content.ljust(nbytes, b"\0")) == checksum:
            return content
    return None
