"""What the edges of an array ask for in each cycle, and the order in which memory brings it.

An operand has two lists of addresses. ``demand``: what the array asks for, cycle by cycle.
``fetch``: what is brought into its SRAM, in an order that is fixed before the run. Both follow
SCALE-Sim 2.0.2: operands that enter skewed are fetched diagonal by diagonal, the one that stays
row by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab_utils.instruments.systolic.designs import Conv, Gemm

Whole = NDArray[np.int64]
EMPTY = -1
"""The address of what an unused PE would get."""


class Operand(NamedTuple):
    """What one SRAM sees during a layer.

    Attributes:
        fetch: addresses in the order in which memory brings them.
        demand: addresses in the order in which the array asks for them.
        cycles: for each demand, the cycle in which it comes if nothing ever stalls.
    """

    fetch: Whole
    demand: Whole
    cycles: Whole


class Traffic(NamedTuple):
    """A layer on an array: its inputs, its weights, and its cycles without stalls."""

    ifmap: Operand
    filter: Operand
    cycles: int


def traffic(layer: Conv | Gemm, dataflow: str, height: int, width: int) -> Traffic:
    """Everything that both SRAMs will be asked for."""
    a, b = addresses(layer)
    if dataflow == "os":
        return _output_stationary(a, b, height, width)
    if dataflow == "ws":
        moves, stays, cycles = _one_stays(a, b, height, width)
        return Traffic(moves, stays, cycles)
    moves, stays, cycles = _one_stays(b.T, a.T, height, width)
    return Traffic(stays, moves, cycles)


def stall_free_cycles(layer: Conv | Gemm, dataflow: str, height: int, width: int) -> int:
    """Cycles if nothing ever stalls: folds, times the cycles of one."""
    a, b = addresses(layer)
    (m, k), n = a.shape, b.shape[1]
    rows, columns, steps = {"os": (m, n, k), "ws": (k, n, m), "is": (k, m, n)}[dataflow]
    load = 0 if dataflow == "os" else height
    return -(-rows // height) * -(-columns // width) * (load + height + width + steps - 2)


def addresses(layer: Conv | Gemm) -> tuple[Whole, Whole]:
    """Addresses of the inputs, M x K, and of the weights, K x N, each counted from 0."""
    if isinstance(layer, Gemm):
        return np.arange(layer.m * layer.k).reshape(layer.m, layer.k), np.arange(
            layer.n * layer.k
        ).reshape(layer.n, layer.k).T
    rows = np.arange(0, layer.height - layer.filter_height + 1, layer.stride)
    columns = np.arange(0, layer.width - layer.filter_width + 1, layer.stride)
    corner = (rows[:, None] * layer.width + columns).ravel() * layer.channels
    window = np.arange(layer.filter_height)[:, None, None] * layer.width
    window = window + np.arange(layer.filter_width)[:, None]
    window = (window * layer.channels + np.arange(layer.channels)).ravel()
    weights = np.arange(layer.filters * len(window)).reshape(layer.filters, len(window)).T
    return corner[:, None] + window, weights


def _output_stationary(a: Whole, b: Whole, height: int, width: int) -> Traffic:
    fold = height + width + a.shape[1] - 2
    rows, columns = _padded(a, height), _padded(b.T, width)  # folds x lanes x steps
    down, across = len(rows), len(columns)
    # The folds go down first: rows change with each fold, columns after each round.
    order = np.arange(down * across).reshape(across, down)
    ifmap = Operand(
        _fetched(rows.transpose(0, 2, 1), skewed=True),
        *_asked(np.tile(rows.transpose(0, 2, 1), (across, 1, 1)), order.ravel() * fold, True),
    )
    weights = Operand(
        _fetched(columns.transpose(0, 2, 1), skewed=True),
        *_asked(np.repeat(columns.transpose(0, 2, 1), down, axis=0), order.ravel() * fold, True),
    )
    return Traffic(ifmap, weights, fold * down * across)


def _one_stays(
    moving: Whole, staying: Whole, height: int, width: int
) -> tuple[Operand, Operand, int]:
    """``moving`` is T x Sr, ``staying`` Sr x Sc: what moves, what stays, cycles."""
    steps = len(moving)
    fold = 2 * height + width + steps - 2
    lanes = _padded(moving.T, height).transpose(0, 2, 1)  # folds down x steps x lanes
    columns = _padded(staying.T, width).transpose(0, 2, 1)  # folds across x Sr x lanes
    tiles = np.array([_padded(tall, height) for tall in columns])  # across x down x rows x lanes
    across, down = tiles.shape[:2]
    start = np.arange(across * down) * fold
    moves = Operand(
        _fetched(lanes, skewed=True),
        *_asked(np.tile(lanes, (across, 1, 1)), start + height, True),
    )
    # The last row enters first, so that it can move down to its place.
    turned = tiles.reshape(across * down, height, width)[:, ::-1]
    stays = Operand(_fetched(columns, skewed=False), *_asked(turned, start, False))
    return moves, stays, fold * across * down


def _padded(rows: Whole, many: int) -> Whole:
    """Cut into folds of ``many`` rows each, the last one filled up with ``EMPTY``."""
    folds = -(-len(rows) // many)
    full = np.full((folds * many, rows.shape[1]), EMPTY)
    full[: len(rows)] = rows
    return full.reshape(folds, many, rows.shape[1])


def _fetched(folds: Whole, skewed: bool) -> Whole:
    """Folds on top of each other, read row by row or diagonal by diagonal."""
    tall = folds.reshape(-1, folds.shape[2])
    order: Any = slice(None)
    if skewed:
        row, lane = np.indices(tall.shape).reshape(2, -1)
        order = np.lexsort((lane, row + lane))
    flat = tall.ravel()[order]
    return flat[flat != EMPTY]


def _asked(folds: Whole, start: Whole, skewed: bool) -> tuple[Whole, Whole]:
    """Addresses and cycles of folds x steps x lanes; a skewed lane comes one cycle later each."""
    number, step, lane = np.indices(folds.shape).reshape(3, -1)
    cycle = start[number] + step + (lane if skewed else 0)
    order = np.lexsort((lane, cycle))
    flat = folds.ravel()[order]
    return flat[flat != EMPTY], cycle[order][flat != EMPTY]
