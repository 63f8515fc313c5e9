"""What a fused model moves and how long it takes, by running it; and every set of fusions tried.

The operators run one after the other on a machine that has nothing but a memory and, for each
group, a chip that forgets when the group is left. A value goes to memory only because somebody
fails to find it on his chip, or because it is left over at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations

from lab_utils.labs.lab1b.models import Arrow, Op, arrows_of

Moved = dict[str, tuple[int, int]]


def moved_by_running(
    ops: Sequence[Op], nbytes: dict[str, int], groups: Iterable[Iterable[str]]
) -> Moved:
    """Bytes that each operator reads and writes, found by demand."""
    chip_of = {name: number for number, group in enumerate(groups) for name in group}
    chips: dict[object, set[str]] = {}
    reads: dict[str, int] = {}
    written = dict.fromkeys((op.name for op in ops), 0)
    maker: dict[str, str] = {}
    asked_for: set[str] = set()
    for op in ops:
        chip = chips.setdefault(chip_of.get(op.name, op.name), set())
        reads[op.name] = 0
        for value in dict.fromkeys(op.reads):
            asked_for.add(value)
            if value in chip:
                continue
            reads[op.name] += nbytes[value]
            if value in maker:  # it is found in memory, so it was written there
                written[maker[value]] = nbytes[value]
        maker[op.makes] = op.name
        chip.add(op.makes)
    for value, name in maker.items():
        if value not in asked_for:  # what is left over is what the model was run for
            written[name] = nbytes[value]
    return {op.name: (reads[op.name], written[op.name]) for op in ops}


def seconds_by_clock(ops: Sequence[Op], moved: Moved, rate: float, bandwidth: float) -> Fraction:
    """The time on an exact clock: an operator starts when the one before has done everything."""
    now = Fraction(0)
    for op in ops:
        computed = now + Fraction(op.flops) / Fraction(rate)
        transferred = now + Fraction(sum(moved[op.name])) / Fraction(bandwidth)
        now = max(computed, transferred)
    return now


def joined(arrows: Iterable[Arrow]) -> list[set[str]]:
    """The groups that fused arrows make: whom one reaches from whom."""
    near: dict[str, set[str]] = {}
    for one, other in arrows:
        near.setdefault(one, {one}).add(other)
        near.setdefault(other, {other}).add(one)
    groups = []
    while near:
        group, frontier = set(), {next(iter(near))}
        while frontier:
            group |= frontier
            frontier = {far for name in frontier for far in near[name]} - group
        near = {name: far for name, far in near.items() if name not in group}
        groups.append(group)
    return groups


def table_of_times(
    ops: Sequence[Op], nbytes: dict[str, int], rate: float, bandwidth: float
) -> list[float]:
    """Microseconds for every set of fused arrows; bit i of the place says whether arrow i is."""
    arrows = arrows_of(ops)
    times = []
    for mask in range(1 << len(arrows)):
        groups = joined(arrow for place, arrow in enumerate(arrows) if mask >> place & 1)
        moved = moved_by_running(ops, nbytes, groups)
        times.append(round(float(seconds_by_clock(ops, moved, rate, bandwidth) * 10**6), 4))
    return times


def fewest(arrows: Sequence[Arrow], times: Sequence[float]) -> tuple[float, int, list[list[Arrow]]]:
    """The least time, how few fusions reach it, and every set of so many that does."""
    best = min(times)
    for many in range(len(arrows) + 1):
        sets = [
            [arrows[place] for place in chosen]
            for chosen in combinations(range(len(arrows)), many)
            if times[sum(1 << place for place in chosen)] == best
        ]
        if sets:
            return best, many, sets
    raise AssertionError("some set is the best one")


def greedy(arrows: Sequence[Arrow], times: Sequence[float]) -> list[Arrow]:
    """What one gets who always fuses the arrow that gains most now: not always the fewest."""
    mask = 0
    while True:
        gains = {
            place: times[mask] - times[mask | 1 << place]
            for place in range(len(arrows))
            if not mask >> place & 1
        }
        if not gains or max(gains.values()) <= 0:
            return [arrow for place, arrow in enumerate(arrows) if mask >> place & 1]
        mask |= 1 << max(gains, key=lambda place: gains[place])
