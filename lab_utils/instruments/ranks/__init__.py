"""Ranks: processes that run plain ``torch.distributed`` code, with every message written down.

``run_ranks`` forks the ranks and lets each run the same function; between them lies a switch of
ours instead of a network. It knows who waits for whom, so a deadlock is told in words and nothing
hangs. What the ranks did is a ``Run``: values, and a diary of each rank (its work, its messages).
The virtual clock reads diaries, in ``show``, a folder that no sandbox has: times are judged, and
films are shown, from the diaries alone. So they have the same digits in every run.
"""

from lab_utils.instruments.ranks.errors import RanksFailed
from lab_utils.instruments.ranks.group import compute, hold
from lab_utils.instruments.ranks.records import Link, Run
from lab_utils.instruments.ranks.shown import ranks_film, ring_film, run_times, schedule_film
from lab_utils.instruments.ranks.start import run_ranks

__all__ = [
    "Link",
    "RanksFailed",
    "Run",
    "compute",
    "hold",
    "ranks_film",
    "ring_film",
    "run_ranks",
    "run_times",
    "schedule_film",
]
