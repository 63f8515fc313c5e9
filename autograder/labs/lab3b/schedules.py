"""Schedules for the cases of notebook 2, made by playing the pipeline turn by turn.

Nobody counts warm-ups here. In each turn every rank that is free takes a step that it can take,
by a rule: GPipe takes forward as long as there is any, 1F1B takes backward where it can and does
not start more micro-batches than it may hold.
"""

from __future__ import annotations

from bisect import bisect_left

from lab_utils.labs.lab3b.judge.schedules import simulate

Steps = list[list[list[object]]]


def played(stages: int, micros: int, holds: list[int] | None) -> Steps:
    """The steps of each rank; ``holds`` says how many micro-batches each may have in flight.

    Without ``holds`` all forward steps come first.
    """
    done: dict[tuple[str, int, int], int] = {}
    nexts = [{"F": 0, "B": 0} for _ in range(stages)]
    free = [0] * stages
    steps: Steps = [[] for _ in range(stages)]
    now = 0
    while any(one["B"] < micros for one in nexts):
        for rank in range(stages):
            kind = _choice(rank, stages, micros, nexts[rank], done, now, holds)
            if free[rank] > now or kind is None:
                continue
            micro = nexts[rank][kind]
            nexts[rank][kind] += 1
            steps[rank].append([kind, micro])
            free[rank] = now + (1 if kind == "F" else 2)
            done[kind, micro, rank] = free[rank]
        now += 1
    return steps


def _choice(
    rank: int,
    stages: int,
    micros: int,
    following: dict[str, int],
    done: dict[tuple[str, int, int], int],
    now: int,
    holds: list[int] | None,
) -> str | None:
    def there(kind: str, micro: int, where: int) -> bool:
        return done.get((kind, micro, where), now + 1) <= now

    ahead, back = following["F"], following["B"]
    forward = ahead < micros and (rank == 0 or there("F", ahead, rank - 1))
    backward = back < ahead and there("F", back, rank)
    backward = backward and (rank == stages - 1 or there("B", back, rank + 1))
    if holds is None:
        return "F" if forward else "B" if backward and ahead == micros else None
    if backward:
        return "B"
    return "F" if forward and ahead - back < holds[rank] else None


def gpipe(stages: int, micros: int) -> Steps:
    """All forward, then all backward."""
    return played(stages, micros, None)


def one_f_one_b(stages: int, micros: int) -> Steps:
    """Backward as soon as possible; rank r holds at most stages - r micro-batches."""
    return played(stages, micros, [stages - rank for rank in range(stages)])


def best_end(stages: int, micros: int) -> float:
    """When a pipeline is done in which nobody waits longer than needed: forward 1, backward 2."""
    end = simulate(gpipe(stages, micros)).end
    assert end is not None
    return end


def fewest_micros(stages: int, percent: int) -> int:
    """The fewest micro-batches with at most so many percent of idle time, by trying.

    The more there are, the smaller the share: twice as many are tried until it is small enough,
    then numbers between the last two.
    """
    most = 1
    while not _is_busy(stages, most, percent):
        most *= 2
    numbers = range(1, most + 1)
    return numbers[bisect_left(numbers, True, key=lambda micros: _is_busy(stages, micros, percent))]


def _is_busy(stages: int, micros: int, percent: int) -> bool:
    whole = stages * best_end(stages, micros)
    return 100 * (whole - 3 * stages * micros) <= percent * whole
