"""A collective as data: who sends which chunks to whom, step by step.

The data of every rank is cut into equally many chunks of equal size. In a step all messages leave
before any arrives. What a rank gets, it adds to its own chunk or puts in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab_utils.instruments.network.dims import SWITCH, Dim
from lab_utils.kit.errors import LabError


class Send(NamedTuple):
    """A message: ``chunks`` of rank ``src`` go to ``dst``, which adds them up or takes them."""

    src: int
    dst: int
    chunks: tuple[int, ...]
    add: bool


Schedule = Sequence[Sequence[Send]]


def run_schedule(data: NDArray[np.int64], schedule: Schedule) -> NDArray[np.int64]:
    """What every rank has in the end.

    Args:
        data: what they start with: [rank, chunk, …].
        schedule: who sends what to whom.

    Raises:
        LabError: a message names a rank or a chunk that there is not, or goes to its sender.
    """
    held = data.copy()
    ranks, chunks = data.shape[:2]
    for number, step in enumerate(schedule):
        moving = []
        for src, dst, which, add in step:
            if not (0 <= src < ranks and 0 <= dst < ranks) or src == dst:
                raise LabError(f"step {number}: a message from {src} to {dst} of {ranks} ranks")
            if not all(0 <= one < chunks for one in which):
                raise LabError(f"step {number}: chunks {list(which)}, but there are {chunks}")
            moving.append((dst, list(which), held[src, list(which)].copy(), add))
        for dst, places, values, add in moving:
            if add:
                np.add.at(held[dst], places, values)
            else:
                held[dst, places] = values
    return held


def whose_numbers(ranks: int, chunks: int, schedule: Schedule) -> NDArray[np.int64]:
    """How often the numbers of each rank are in each chunk in the end: [rank, chunk, from].

    An all-reduce is right if all of it is 1.
    """
    start = np.zeros((ranks, chunks, ranks), dtype=np.int64)
    for rank in range(ranks):
        start[rank, :, rank] = 1
    return run_schedule(start, schedule)


def sent_by(ranks: int, schedule: Schedule) -> list[int]:
    """Chunks that each rank sends in all."""
    sent = [0] * ranks
    for step in schedule:
        for message in step:
            sent[message.src] += len(message.chunks)
    return sent


def schedule_seconds(nbytes: float, chunks: int, schedule: Schedule, dim: Dim) -> float:
    """The α–β time: in every step the slowest message, latency and bytes over bandwidth.

    Each pair of ranks has a link of its own. A message through a switch takes two.
    """
    hops = 2 if dim.kind == SWITCH else 1
    seconds = 0.0
    for step in schedule:
        most = max((len(message.chunks) for message in step), default=0)
        seconds += hops * dim.latency + most * nbytes / chunks / dim.bandwidth
    return seconds


def ring_all_reduce(ranks: int) -> list[list[Send]]:
    """A ring: every rank hands a chunk to the next, 2 (ranks - 1) times."""
    steps = []
    for step in range(2 * (ranks - 1)):
        add = step < ranks - 1
        steps.append(
            [Send(rank, (rank + 1) % ranks, ((rank - step) % ranks,), add) for rank in range(ranks)]
        )
    return steps
