"""Orders of tiles: those in which one operand stays, and the least that any order can move."""

from __future__ import annotations

from functools import cache
from itertools import product

from lab_utils.instruments.tiles.show.walk import count

Place = tuple[int, int, int]


def staying(keep: str, tiles: Place) -> list[Place]:
    """The loop nest that keeps an operand: the index that it does not have runs innermost."""
    tm, tn, tk = map(range, tiles)
    if keep == "A":
        return [(m, n, k) for m in tm for k in tk for n in tn]
    if keep == "B":
        return [(m, n, k) for n in tn for k in tk for m in tm]
    return [(m, n, k) for m in tm for n in tn for k in tk]


def least_of_staying(tiles: Place) -> int:
    """The fewest tiles that an order moves in which one operand stays."""
    return min(count(staying(keep, tiles)).total for keep in "ABC")


def least_by_search(tiles: Place) -> int:
    """The fewest tiles that any order moves: all orders tried, by the set of steps done.

    What the next step costs depends on that set and on the last step alone. Takes 2^steps, so
    for a dozen steps.
    """
    steps = list(product(*map(range, tiles)))

    @cache
    def rest(done: int, last: int) -> int:
        if done == (1 << len(steps)) - 1:
            return 1  # the last tile of C is written
        return min(
            _cost(done, last, new) + rest(done | 1 << new, new)
            for new in range(len(steps))
            if not done >> new & 1
        )

    def _cost(done: int, last: int, new: int) -> int:
        (m, n, k), (row, column, deep) = steps[last], steps[new]
        moved = ((m, k) != (row, deep)) + ((k, n) != (deep, column))
        if (m, n) != (row, column):
            begun = any(
                done >> place & 1 and step[:2] == (row, column) for place, step in enumerate(steps)
            )
            moved += 1 + begun
        return moved

    return min(2 + rest(1 << first, first) for first in range(len(steps)))


def least(tiles: Place) -> int:
    """The fewest tiles that any order moves.

    A step shares a tile with the one before only if they differ in one index alone, and then
    exactly one. Sharing C saves a write and a read back, and can happen Tk - 1 times for each
    tile of C; every other step saves one fetch at most.
    """
    tm, tn, tk = tiles
    steps, sums = tm * tn * tk, tm * tn
    nothing_shared = 2 * steps + steps + (steps - sums)
    shares_c = sums * (tk - 1)
    return nothing_shared - 2 * shares_c - (steps - 1 - shares_c)
