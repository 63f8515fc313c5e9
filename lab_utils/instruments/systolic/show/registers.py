"""A systolic array, register by register: in every cycle each value moves on by one PE.

It knows no formula. Operands enter skewed at the edges, each PE multiplies what lies in its
registers, and a fold ends in the cycle in which the last step has reached the last PE. ``run``
gives the product, the cycles, and what every PE did in each of them.

What one cycle is:

* ``os``: inputs move right, weights move down, each PE adds to its own sum. A sum may leave in
  the cycle of its last addition.
* ``ws``: first the weights of the fold move down, one row a cycle. Then inputs move right and
  sums move down; a sum leaves at the bottom.
* ``is``: as ``ws``, with inputs and weights in each other's place.

Rows and columns that a fold leaves unused still take part in its timing: the array does not know
that they are empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab_utils.instruments.systolic.designs import DATAFLOWS
from lab_utils.kit.errors import LabError

Matrix = NDArray[Any]
NOTHING = -1
"""The step of a PE to which none has come."""


class Tile(NamedTuple):
    """The part of a product that one fold computes: where its rows and columns begin."""

    row: int
    column: int


@dataclass(frozen=True)
class Run:
    """A product as an array computed it.

    Attributes:
        product: the result, M x N.
        busy: by cycle, row and column: whether the PE multiplied.
        steps: by cycle, row and column: the number of the step (along T) in the PE's registers,
            or ``NOTHING``. An unused PE has steps too, but is never busy.
        loading: by cycle: whether the operand that stays was being loaded.
        folds: by cycle: the number of the fold.
    """

    product: Matrix
    busy: NDArray[np.bool_]
    steps: NDArray[np.int64]
    loading: NDArray[np.bool_]
    folds: NDArray[np.int64]

    @property
    def cycles(self) -> int:
        """How many there were."""
        return len(self.busy)


@dataclass
class _Film:
    """What is noted down cycle by cycle."""

    busy: list[NDArray[np.bool_]]
    steps: list[NDArray[np.int64]]
    loading: list[bool]
    folds: list[int]

    def note(
        self, fold: int, busy: NDArray[np.bool_], steps: NDArray[np.int64], loading: bool = False
    ) -> None:
        self.busy.append(busy)
        self.steps.append(steps)
        self.loading.append(loading)
        self.folds.append(fold)


class _Edge:
    """Registers through which values move, one a cycle: to the right, or down if turned."""

    def __init__(self, height: int, width: int) -> None:
        self.value = np.zeros((height, width))
        self.step = np.full((height, width), NOTHING)
        self.real = np.zeros((height, width), dtype=bool)

    def shift(self, value: Matrix, step: NDArray[np.int64], real: NDArray[np.bool_]) -> None:
        """Move all by one column; what is given enters the first."""
        for registers, entering in ((self.value, value), (self.step, step), (self.real, real)):
            registers[:, 1:] = registers[:, :-1]
            registers[:, 0] = entering


def run(dataflow: str, a: Matrix, b: Matrix, height: int, width: int) -> Run:
    """Compute ``a @ b`` on an array of ``height`` x ``width`` PEs.

    Args:
        dataflow: what stays in the array: ``os``, ``ws`` or ``is``.
        a: inputs, M x K.
        b: weights, K x N.
        height: rows of PEs.
        width: columns of PEs.

    Raises:
        LabError: the dataflow is unknown, or the matrices cannot be multiplied.
    """
    if dataflow not in DATAFLOWS:
        raise LabError(f"the dataflow {dataflow!r} is none of {', '.join(DATAFLOWS)}")
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or 0 in (*a.shape, *b.shape):
        raise LabError(f"shapes {a.shape} and {b.shape} make no product")
    if dataflow == "is":
        turned = _run(_fold_ws, b.T, a.T, (b.shape[0], a.shape[0]), height, width)
        return Run(turned.product.T, turned.busy, turned.steps, turned.loading, turned.folds)
    if dataflow == "ws":
        return _run(_fold_ws, a, b, (b.shape[0], b.shape[1]), height, width)
    return _run(_fold_os, a, b, (a.shape[0], b.shape[1]), height, width)


def _run(fold: Any, a: Matrix, b: Matrix, mapped: tuple[int, int], height: int, width: int) -> Run:
    product = np.zeros((a.shape[0], b.shape[1]))
    film = _Film([], [], [], [])
    for number, tile in enumerate(_tiles(*mapped, height, width)):
        fold(number, tile, a, b, height, width, product, film)
    return Run(
        product,
        np.array(film.busy),
        np.array(film.steps),
        np.array(film.loading),
        np.array(film.folds),
    )


def _tiles(rows: int, columns: int, height: int, width: int) -> Iterator[Tile]:
    """Tiles in the order of the folds: down, then across."""
    for column in range(0, columns, width):
        for row in range(0, rows, height):
            yield Tile(row, column)


def _fold_os(
    number: int,
    tile: Tile,
    a: Matrix,
    b: Matrix,
    height: int,
    width: int,
    product: Matrix,
    film: _Film,
) -> None:
    """Sums stay: row i of A enters row i of the array i cycles late, column j of B likewise."""
    left = a[tile.row : tile.row + height]
    top = b[:, tile.column : tile.column + width].T
    right, down = _Edge(height, width), _Edge(width, height)  # ``down`` is turned
    sums = np.zeros((height, width))
    cycle = 0
    while right.step[-1, -1] < a.shape[1] - 1:
        right.shift(*_entering(left, cycle, height))
        down.shift(*_entering(top, cycle, width))
        busy = right.real & down.real.T
        assert (right.step[busy] == down.step.T[busy]).all(), "operands of different steps met"
        sums += np.where(busy, right.value * down.value.T, 0)
        film.note(number, busy, right.step.copy())
        cycle += 1
    product[tile.row : tile.row + height, tile.column : tile.column + width] = sums[
        : len(left), : len(top)
    ]


def _fold_ws(
    number: int,
    tile: Tile,
    a: Matrix,
    b: Matrix,
    height: int,
    width: int,
    product: Matrix,
    film: _Film,
) -> None:
    """Weights stay: they move down first, the last row ahead; then the sums move down."""
    weights = b[tile.row : tile.row + height, tile.column : tile.column + width]
    stay = np.zeros((height, width))
    here = np.zeros((height, width), dtype=bool)
    nobody = np.zeros((height, width), dtype=bool)
    for row in reversed(range(height)):
        stay[1:], here[1:] = stay[:-1].copy(), here[:-1].copy()
        stay[0], here[0] = 0, False
        if row < len(weights):
            stay[0, : weights.shape[1]], here[0, : weights.shape[1]] = weights[row], True
        film.note(number, nobody, np.full((height, width), NOTHING), loading=True)
    right = _Edge(height, width)
    inputs = a[:, tile.row : tile.row + height].T  # row i of the array gets column i of A
    sums = np.zeros((height, width))
    cycle = 0
    while right.step[-1, -1] < len(a) - 1:
        right.shift(*_entering(inputs, cycle, height))
        busy = right.real & here
        sums[1:] = sums[:-1].copy()
        sums[0] = 0
        sums += np.where(busy, right.value * stay, 0)
        for column in np.flatnonzero(right.step[-1] != NOTHING):  # sums that leave at the bottom
            if column < weights.shape[1]:
                product[right.step[-1, column], tile.column + column] += sums[-1, column]
        film.note(number, busy, right.step.copy())
        cycle += 1


def _entering(
    rows: Matrix, cycle: int, height: int
) -> tuple[Matrix, NDArray[np.int64], NDArray[np.bool_]]:
    """What enters at the edge in this cycle: row i gets its element ``cycle - i``."""
    steps = cycle - np.arange(height)
    inside = (steps >= 0) & (steps < rows.shape[1])
    used = inside & (np.arange(height) < len(rows))
    values = np.zeros(height)
    values[used] = rows[np.flatnonzero(used), steps[used]]
    return values, np.where(inside, steps, NOTHING), used


def phases(run: Run) -> list[str]:
    """What each cycle is for: ``load``, ``fill``, ``steady`` or ``drain``.

    In a fold, it is steady from the first cycle with the most busy PEs to the last such cycle.
    """
    named = []
    active = run.busy.sum(axis=(1, 2))
    for cycle, fold in enumerate(run.folds):
        within = np.flatnonzero(run.folds == fold)
        most = within[active[within] == active[within].max()]
        if run.loading[cycle]:
            named.append("load")
        elif cycle < most[0]:
            named.append("fill")
        else:
            named.append("steady" if cycle <= most[-1] else "drain")
    return named
