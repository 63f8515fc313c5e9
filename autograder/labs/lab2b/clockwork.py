"""A double buffer by the clock: one cycle after the other, no formula."""

from __future__ import annotations


def cycles_by_clock(
    compute: list[int], first: list[int], second: list[int], near: int, far: int
) -> int:
    """Cycles of all stages: both wires and the array move on by one cycle at a time."""
    clock = stage = 0
    upper, lower, work = near * sum(first[:1]), far * sum(second[:1]), 0
    while stage <= len(compute):
        while upper > 0 or lower > 0 or work > 0:
            upper, lower, work, clock = upper - 1, lower - 1, work - 1, clock + 1
        if stage < len(compute):
            work = compute[stage]
            upper = near * sum(first[stage + 1 : stage + 2])
            lower = far * sum(second[stage + 1 : stage + 2])
        stage += 1
    return clock
