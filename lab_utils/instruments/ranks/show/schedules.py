"""Diaries of ranks that nobody has to run: a pipeline by its schedule.

Each message leaves as soon as its step is done, and nobody waits for a send before the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab_utils.instruments.ranks.records import Diary

Schedule = Sequence[Sequence[Sequence[Any]]]
"""For each rank its steps: ("F", micro) or ("B", micro)."""


def pipeline_diaries(
    schedule: Schedule, forward: float, backward: float, nbytes: int, held: int
) -> list[Diary]:
    """What the ranks of a pipeline do.

    Args:
        schedule: the steps of each rank.
        forward: seconds of a forward step.
        backward: seconds of a backward step.
        nbytes: what goes from stage to stage for one micro-batch, either way.
        held: bytes that a stage holds for a micro-batch between its forward and its backward.
    """
    last = len(schedule) - 1
    diaries: list[Diary] = []
    for rank, steps in enumerate(schedule):
        diary: Diary = []
        sent: list[int] = []
        request = 0
        for kind, micro in steps:
            ahead = kind == "F"
            source, to = (rank - 1, rank + 1) if ahead else (rank + 1, rank - 1)
            if 0 <= source <= last:
                diary += [["recv", request, source, nbytes, 0, "float64"], ["wait", request]]
                request += 1
            diary.append(["compute", forward if ahead else backward, f"{kind}{micro}"])
            diary.append(["hold", held if ahead else -held])
            if 0 <= to <= last:
                diary.append(["send", request, to, nbytes, 0, "float64"])
                sent.append(request)
                request += 1
        diaries.append(diary + [["wait", one] for one in sent])
    return diaries
