"""The interpreter of loop nests: one slot for each operand, every fetch and write counted.

It knows no formula. It takes the steps one by one, asks which tile each operand needs, and
fetches it if another one is in the slot. ``product`` does the same with real numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab_utils.instruments.tiles import PRODUCT, Operand, Place

Tile = tuple[int, ...]


class Move(NamedTuple):
    """What happens to one operand at one step."""

    tile: Tile
    """The one that the step needs."""
    put: bool
    """Whether it came into the slot for this step, be it from memory or as zero."""
    read: bool
    """Whether it was read from memory."""
    written: Tile | None
    """The sum that had to leave the slot for it."""


@dataclass(frozen=True)
class Counts:
    """Tiles read and written in a whole walk, by operand."""

    reads: dict[str, int]
    writes: dict[str, int]

    @property
    def total(self) -> int:
        """All of them together."""
        return sum(self.reads.values()) + sum(self.writes.values())


def walk(order: Iterable[Place], operands: Sequence[Operand] = PRODUCT) -> Iterator[list[Move]]:
    """What each step moves, an entry for each operand. Sums in slots at the end are not told."""
    slot: list[Tile | None] = [None] * len(operands)
    begun: list[set[Tile]] = [set() for _ in operands]
    for place in order:
        moves = []
        for number, operand in enumerate(operands):
            tile = tuple(place[axis] for axis in operand.axes)
            before = slot[number]
            if tile == before:
                moves.append(Move(tile, False, False, None))
                continue
            read = not operand.is_sum or tile in begun[number]
            begun[number].add(tile)
            slot[number] = tile
            moves.append(Move(tile, True, read, before if operand.is_sum else None))
        yield moves


def count(order: Iterable[Place], operands: Sequence[Operand] = PRODUCT) -> Counts:
    """Tiles read and written by a whole walk, the last write of each sum included.

    The same as adding up what ``walk`` tells, for all steps at once.
    """
    steps = np.array(list(order), dtype=np.int64)
    reads, writes = {}, {}
    for operand in operands:
        if not len(steps):
            put = begun = 0
        else:
            numbers = np.ravel_multi_index(
                tuple(steps[:, axis] for axis in operand.axes),
                tuple(1 + steps[:, axis].max() for axis in operand.axes),
            )
            put = 1 + int(np.count_nonzero(numbers[1:] != numbers[:-1]))
            begun = len(np.unique(numbers)) if operand.is_sum else 0
        reads[operand.name] = put - begun
        if operand.is_sum:
            writes[operand.name] = put
    return Counts(reads, writes)


def product(
    order: Iterable[Place], a: NDArray[Any], b: NDArray[Any], tiles: Place
) -> tuple[NDArray[Any], Counts]:
    """The product as the order computes it, and the tiles moved meanwhile.

    Args:
        order: steps (m, n, k).
        a: the left matrix.
        b: the right matrix.
        tiles: into how many parts M, N and K are cut.
    """
    tm, tn, tk = tiles
    left, right = _cut(a, tm, tk), _cut(b, tk, tn)
    memory = {"A": left, "B": right, "C": _cut(np.full((len(a), b.shape[1]), np.nan), tm, tn)}
    slot: dict[str, tuple[Tile, NDArray[Any]]] = {}
    reads, writes = dict.fromkeys("ABC", 0), {"C": 0}

    def put_back() -> None:
        where, part = slot["C"]
        memory["C"][where][...] = part
        writes["C"] += 1

    for m, n, k in order:
        for name, where in (("A", (m, k)), ("B", (k, n)), ("C", (m, n))):
            if name in slot and slot[name][0] == where:
                continue
            if name == "C" and "C" in slot:
                put_back()
            part = memory[name][where].copy()
            if name == "C" and np.isnan(part).all():
                part = np.zeros_like(part)  # nothing was added yet
            else:
                reads[name] += 1
            slot[name] = (where, part)
        slot["C"][1].__iadd__(slot["A"][1] @ slot["B"][1])
    if "C" in slot:
        put_back()
    rows = [np.hstack([memory["C"][m, n] for n in range(tn)]) for m in range(tm)]
    return np.vstack(rows), Counts(reads, writes)


def _cut(matrix: NDArray[Any], down: int, across: int) -> dict[Tile, NDArray[Any]]:
    """The tiles of a matrix, by row and column."""
    return {
        (row, column): part
        for row, band in enumerate(np.vsplit(matrix, down))
        for column, part in enumerate(np.hsplit(band, across))
    }
