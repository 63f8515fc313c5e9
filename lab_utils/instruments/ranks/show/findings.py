"""What every run of ranks is judged by: that it came to its end, by which ways, in what time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import torch

from lab_utils.instruments.ranks.records import Link
from lab_utils.instruments.ranks.show.clock import Times, exact, replay
from lab_utils.kit.task import Case, Finding

_CLOSE = 1e-6
_STOPPED = {
    "deadlock": (
        "Everybody waits for somebody, so nothing can ever happen. A send is done only when the "
        "other side receives: start it with isend, then receive, then wait for it."
    ),
    "ended": "A rank waits for one that has ended: each recv needs one send, and the reverse.",
    "mismatch": "Two ranks do not fit together: both sides of a message must agree on its size.",
    "nobody": "Ranks count in a circle: after the last comes 0, as in (rank + 1) % ranks.",
    "unread": "A message is sent that nobody takes: each send needs one recv of the other rank.",
    "changed": "What isend sends must stay as it is until its wait() has returned.",
    "group": (
        "Every rank must call new_group, also those that are no members of the group: else real "
        "ranks wait for ever, or mix up their groups. Call it before you ask which rank you are."
    ),
}


def stopped(answer: Mapping[str, Any]) -> list[Finding]:
    """Why the ranks did not come to their end; nothing if they did."""
    kind = answer.get("stopped")
    if kind is None:
        return []
    look = _STOPPED.get(str(kind), "The ranks stopped: the message names who waits for whom.")
    return [Finding(str(answer.get("words")), "all ranks come to their end", look)]


def link_of(case: Case) -> Link:
    """What connects the ranks of a case."""
    return Link(*case.given["link"])


def times_of(case: Case, answer: Mapping[str, Any]) -> Times:
    """When everything happened in an answer."""
    return replay(answer["diaries"], link_of(case))


def sends_of(diary: Sequence[Sequence[Any]]) -> list[tuple[int, int]]:
    """Every message of a rank: to whom, how many bytes."""
    return [(entry[2], entry[3]) for entry in diary if entry[0] == "send"]


def collectives_of(diary: Sequence[Sequence[Any]]) -> list[tuple[str, tuple[int, ...], int]]:
    """Every collective of a rank: what, with whom, how many bytes."""
    return [(e[2], tuple(e[3]), e[4]) for e in diary if e[0] == "collective"]


def used_collectives(answer: Mapping[str, Any]) -> list[Finding]:
    """Whether somebody let ``torch.distributed`` do what the task asks for."""
    used = Counter(what for diary in answer["diaries"] for what, *_ in collectives_of(diary))
    if not used:
        return []
    look = "The ring is what this task asks for: take isend (or send) and recv alone."
    return [Finding(f"{min(used)} of torch.distributed is called", "send and recv alone", look)]


def still_sending(answer: Mapping[str, Any]) -> list[Finding]:
    """Whether somebody is done before a message of theirs is: nobody waits for it."""
    for rank, diary in enumerate(answer["diaries"]):
        waited = {line[1] for line in diary if line[0] == "wait"}
        if any(line[0] == "send" and line[1] not in waited for line in diary):
            look = (
                "isend only starts a message. Until wait() of its request has returned the tensor "
                "must stay as it is, and who calls your function cannot know that: wait for it."
            )
            yours = f"rank {rank} starts an isend, and does not wait for it"
            return [Finding(yours, "wait() for every isend", look)]
    return []


def neighbours(answer: Mapping[str, Any]) -> dict[int, int]:
    """To whom each rank sends its first message; to itself if it sends none."""
    first = {rank: sends_of(diary)[:1] for rank, diary in enumerate(answer["diaries"])}
    return {rank: sent[0][0] if sent else rank for rank, sent in first.items()}


def one_ring(answer: Mapping[str, Any]) -> list[Finding]:
    """Whether from neighbour to neighbour one comes through all ranks."""
    next_of, seen, at = neighbours(answer), set(), 0
    while at not in seen:
        seen.add(at)
        at = next_of[at]
    if len(seen) == len(next_of):
        return []
    look = "From neighbour to neighbour one must come through all ranks: that makes it a ring."
    return [Finding(f"a ring of {len(seen)} ranks", f"one ring of {len(next_of)}", look)]


def in_time(case: Case, answer: Mapping[str, Any], most: Fraction, look: str) -> list[Finding]:
    """Whether the ranks are done after ``most`` virtual seconds."""
    end = times_of(case, answer).end
    if end <= most * (1 + Fraction(1, 10**9)):
        return []
    return [Finding(f"{microseconds(end)} on the virtual clock", microseconds(most), look)]


def microseconds(seconds: Fraction) -> str:
    """As in 103.2 µs."""
    return f"{float(seconds * 10**6):,.6g} µs"


def message_seconds(case: Case, nbytes: int) -> Fraction:
    """How long one message takes."""
    link = link_of(case)
    return exact(link.latency) + nbytes / exact(link.bandwidth)


def close(numbers: Sequence[float], right: torch.Tensor) -> bool:
    """Whether these are the elements of a tensor, up to rounding."""
    if len(numbers) != right.numel():
        return False
    got = torch.tensor(numbers, dtype=torch.float64)
    return torch.allclose(got, right.detach().reshape(-1), rtol=_CLOSE, atol=_CLOSE)
