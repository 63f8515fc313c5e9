"""What a run of ranks leaves behind, and what a link is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

Entry = list[Any]
"""One line of a rank's diary, as plain data; numbers of requests count from 0 in each rank:

``["compute", seconds, label]``                          work that takes time
``["hold", bytes]``                                      memory taken, or given back (below 0)
``["send", request, to, bytes, tag, dtype, checksum]``   a message leaves, from now on
``["recv", request, from, bytes, tag, dtype]``           a message is asked for, from now on
``["collective", request, what, members, bytes, group, dtype]``  joins an operation of several
``["wait", request]``                                    goes on when that is done

The checksum (CRC-32 of the bytes) tells what was sent. A diary made by hand may lack it, and the
dtype of a collective.
"""
Diary = list[Entry]


class Link(NamedTuple):
    """What connects the ranks: each has one way out and one way in."""

    latency: float = 50e-6
    """Seconds until the first byte of a message arrives."""
    bandwidth: float = 1.25e9
    """Bytes a second; the default is a network of 10 Gbit/s."""


DEFAULT = Link()


@dataclass(frozen=True)
class Run:
    """What the ranks returned, wrote and did."""

    results: list[Any]
    """What the function returned, rank by rank."""
    diaries: list[Diary]
    """What each rank did, in its order; empty on a real network."""
    link: Link = DEFAULT
    printed: list[str] = field(default_factory=list)

    def messages(self) -> list[tuple[int, int, int]]:
        """Every message as (from, to, bytes), rank by rank."""
        return [
            (rank, entry[2], entry[3])
            for rank, diary in enumerate(self.diaries)
            for entry in diary
            if entry[0] == "send"
        ]

    def __repr__(self) -> str:
        sent = self.messages()
        joined = sum(e[0] == "collective" for diary in self.diaries for e in diary)
        return (
            f"{len(self.results)} ranks: {len(sent)} messages, {sum(n for *_, n in sent):,} bytes; "
            f"{joined} times a rank joined a collective"
        )
