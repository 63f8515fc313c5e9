"""Who waits for whom, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab_utils.instruments.ranks.errors import RanksFailed

_DOES = {"send": "to take its message", "recv": "to send"}


class Waiting(NamedTuple):
    """A rank that cannot go on."""

    rank: int
    what: str
    """``send``, ``recv``, or the name of a collective."""
    lacking: tuple[int, ...]
    """The ranks that would have to do something first."""

    def told(self) -> str:
        """As in: rank 0 waits in recv for rank 1 to send."""
        does = _DOES.get(self.what, "to join")
        return f"rank {self.rank} waits in {self.what} for rank {self.lacking[0]} {does}"


def halted(waiting: Sequence[Waiting]) -> RanksFailed:
    """Why nobody can go on: a circle of waiting ranks, or a wait for one that has ended."""
    by_rank = {one.rank: one for one in waiting}
    for one in waiting:
        if gone := [rank for rank in one.lacking if rank not in by_rank]:
            words = f"{one._replace(lacking=(gone[0],)).told()}, which has ended"
            return RanksFailed("ended", words)
    walked: list[int] = []
    rank = waiting[0].rank
    while rank not in walked:
        walked.append(rank)
        rank = by_rank[rank].lacking[0]
    circle = walked[walked.index(rank) :]
    told = ", ".join(by_rank[rank].told() for rank in sorted(circle))
    return RanksFailed("deadlock", f"a deadlock: {told}")
