"""Two routes that everybody knows, and whether messages on given routes can block each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

Pair = tuple[int, int]


def xy(src: int, dst: int, width: int) -> list[int]:
    """Along the row first, then along the column; both ends included."""
    (x, y), (to_x, to_y) = (src % width, src // width), (dst % width, dst // width)
    row = [y * width + at for at in _between(x, to_x)]
    return row + [at * width + to_x for at in _between(y, to_y)][1:]


def yx(src: int, dst: int, width: int) -> list[int]:
    """Along the column first: the way back of who comes along the row."""
    return xy(dst, src, width)[::-1]


def _between(start: int, end: int) -> range:
    step = 1 if end >= start else -1
    return range(start, end + step, step)


def circle(routes: Iterable[Sequence[int]]) -> list[Pair]:
    """Links in a circle of waiting, each before the one it waits for; empty if there is none."""
    before: dict[Pair, set[Pair]] = {}
    for route in routes:
        for held, wanted in pairwise(pairwise(route)):
            before.setdefault(wanted, set()).add(held)
    try:
        TopologicalSorter(before).prepare()
    except CycleError as error:
        found: list[Pair] = error.args[1]
        return found[:-1]
    return []
