"""What stops a run of ranks, in words."""

from __future__ import annotations

from lab_utils.kit.errors import BadAnswer


class RanksFailed(BadAnswer):
    """The ranks did not come to an end.

    ``kind`` is a word for programs: ``deadlock`` (all wait), ``ended`` (a rank waits for one that
    has ended), ``mismatch`` (two ranks do not fit together), ``unread`` (a message that nobody
    takes), ``nobody`` (a message to or from a rank that is not there), ``changed`` (a tensor was
    changed while it was sent), ``group`` (not every rank called ``new_group``), ``raised`` (an
    error of a rank's own code) or ``died`` (its process ended).
    """

    def __init__(self, kind: str, words: str, look: str = "") -> None:
        super().__init__(words, look or _LOOK.get(kind, "The message names the rank."))
        self.kind = kind


_LOOK = {
    "deadlock": (
        "Everybody waits, so nothing can ever happen. A send is done only when the other side "
        "receives: start it with isend, receive, and wait for it then."
    ),
    "ended": "Count the messages: each recv needs one send of the other rank, and the reverse.",
    "mismatch": "Both sides of a message, and all ranks of a collective, must say the same.",
    "unread": "Count the messages: each send needs one recv of the other rank.",
    "nobody": "Ranks count in a circle: after the last comes 0, as in (rank + 1) % ranks.",
    "changed": "What isend sends must stay as it is until its wait() has returned.",
    "group": "Every rank must call new_group, also those that are no members of the group.",
}
