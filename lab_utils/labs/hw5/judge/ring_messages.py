"""What the messages of a ring all-reduce hold: who has the sum from elsewhere still passes it on.

Which elements make a chunk is free, and so is which chunk goes first. But who is in time has no
step to spare: every chunk moves in every step. So in step s a rank sends a sum over itself and
the s ranks before it, until that is complete. Nothing but zeros is a chunk without numbers.
"""

from __future__ import annotations

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
        for step, message in enumerate(sent):
            nbytes, checksum = message
            if checksum != crc32(bytes(nbytes)) and message not in known[min(step, ranks - 1)]:
                look = (
                    "A message is a chunk itself: first what the rank brought, then sums that "
                    "grow by one rank a step, then N - 1 chunks that are complete."
                )
                yours = f"message {step} of rank {rank} holds something else"
                return [Finding(yours, "each message holds a partial or a complete sum", look)]
    return []


def _known(
    rank: int, parts: list[torch.Tensor], before: Mapping[int, int], sizes: set[int]
) -> list[set[tuple[int, int]]]:
    """Sizes and checksums that a message may have, by how many ranks are in it besides its own."""
    known = []
    at, total = rank, parts[rank].clone()
    for _ in parts:
        chunks = _chunks(total, len(parts), sizes)
        known.append({(len(chunk), crc32(chunk)) for chunk in chunks})
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
