"""Cases of notebook 1, times."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.authoring.derived import CaseData, in_parts
from lab_utils.labs.hw5.published import K80, K80_ALONE, PEAKS, RESNET18, RTX8000, V100

Table = Mapping[tuple[int, int], float]
SAVING = 4


def public() -> dict[str, list[CaseData]]:
    """By task, what students have."""
    return {
        "1.1": [
            _timed("two equal batches", [32, 32], load=0.5, copy=0, launch=0.125, first=0),
            _timed("the first step is slow", [32, 32, 32], load=0.25, copy=0, launch=0.125),
            _timed("the loader copies", [32, 32, 8], load=0.25, copy=0.5, launch=0.125),
        ],
        "1.2": [
            _impossible("RTX8000", RTX8000, PEAKS["RTX8000"], SAVING),
            _impossible("V100", V100, PEAKS["V100"], SAVING),
        ],
        "1.4": [
            _speedups("two GPUs", {(1, 8): 10.0, (2, 8): 6.25}),
            _speedups("K80", K80),
        ],
        "1.5": [
            _strong("one pair", {(1, 64): 12.0, (2, 32): 8.0, (2, 64): 7.0}),
            _strong("K80", K80),
        ],
        "1.7": [
            _split("one cell", {8: 10.0}, {(1, 8): 11.0, (2, 8): 7.5}),
            _split("K80", K80_ALONE, K80),
            _split("faster than possible", {8: 10.0, 16: 9.0}, {(2, 8): 6.0, (2, 16): 4.0}),
        ],
        "1.8": [
            _bandwidth("one cell", {(2, 8): 4.0}, 64, 8_000_000_000),
            _bandwidth("K80", _k80_communication(), RESNET18.images, RESNET18.gradient_bytes),
        ],
    }


def hidden() -> dict[str, list[CaseData]]:
    """By task, what decides."""
    return {
        "1.1": [
            _timed("a short epoch", [64], load=0.75, copy=0.25, launch=0.0625),
            _timed("many batches", [16] * 11 + [3], load=0.125, copy=0.0625, launch=0.03125),
            _timed("a slow loader", [24, 24, 24, 10], load=7.0, copy=0.5, launch=0.25),
            _timed("a slow copy", [128] * 4, load=0.25, copy=5.0, launch=0.5),
            _timed("launches take longest", [4] * 6, load=0.5, copy=0.125, launch=3.0, each=0.125),
            _timed("a very slow first step", [96, 96, 96], 0.5, 0.25, 0.125, first=60.0),
            _timed("batches of every size", [1, 5, 40, 17, 256], 0.25, 0.125, 0.0625, each=0.25),
            _timed("loading in no time", [48] * 5, load=0, copy=1.5, launch=0.125),
        ],
        "1.2": [
            in_parts(
                name,
                [
                    _rated(rates, macs, images, peak, saving)
                    for rates, macs, images, peak, saving in tables
                ],
            )
            for name, tables in _IMPOSSIBLE.items()
        ],
        "1.4": [in_parts(name, [_speedups("", t) for t in tables]) for name, tables in _MANY],
        "1.5": [in_parts(name, [_strong("", t) for t in tables]) for name, tables in _MANY],
        "1.7": [
            in_parts(
                "eight GPUs",
                [
                    _split("", _ALONE, _table(_ALONE, (1, 2, 4, 8), 0.9)),
                    _split("", _ALONE, _table(_ALONE, (1, 8), 0.9) | {(8, 16): 5.5}),
                    _split("", {12: 18.0}, {(3, 12): 7.0, (1, 12): 19.0}),
                ],
            ),
            in_parts(
                "cells are missing",
                [
                    _split("", _ALONE, _table(_ALONE, (1, 2, 3), 0.4, {(2, 64), (1, 16)})),
                    _split("", {40: 12.5, 80: 11.0}, {(1, 40): 13.0, (5, 40): 2.25}),
                    _split("", _ALONE, _table(_ALONE, (4, 2), 0.5)),
                ],
            ),
            _split("batches nobody timed alone", {64: 31.5}, _table(_ALONE, (1, 4), 1.7)),
            _split("no time is lost", {10: 30.0}, {(1, 10): 31.0, (3, 10): 10.0, (2, 10): 15.0}),
            _split("one cell is impossible", _ALONE, _table(_ALONE, (2, 4), 0.5) | {(4, 64): 3.25}),
            _split("most are impossible", _ALONE, _table(_ALONE, (2, 6), -0.125)),
        ],
        "1.8": [
            in_parts(name, [_bandwidth("", *one) for one in tables])
            for name, tables in _BANDWIDTHS.items()
        ],
    }


_ALONE = {16: 47.5, 64: 31.25, 256: 28.75}


def _table(
    alone: Mapping[int, float],
    gpus: Sequence[int],
    more: float,
    without: set[tuple[int, int]] | None = None,
) -> dict[tuple[int, int], float]:
    """Times of several GPUs, ``more`` seconds above their share of the work."""
    return {
        (n, batch): seconds / n + more * (n + batch / 64)
        for n in gpus
        for batch, seconds in alone.items()
        if (n, batch) not in (without or set())
    }


#: A row that is just possible: powers of two, so that no order of operations rounds.
_JUST: tuple[list[float | None], int, int, float, float] = (
    [0.5, 4.0, 4.75, 30.0],
    2**20,
    2**10,
    1.5 * 2**40,
    4,
)
#: Rates as multiples of the peak, for a saving of 4 (the last number): each mistake marks others.
_IMPOSSIBLE: dict[str, list[tuple[list[float | None], int, int, float, float]]] = {
    "no row, and every row": [
        ([0.1, 0.6, 2.0, 3.5], 555_000_000, 50_000, 16e12, 4),
        ([2.5, 5.0], 9, 1000, 1e9, 2),
    ],
    "one row": [([0.1, 2.5, 4.5], 42_000_000, 60_000, 9e12, 4), ([0.3, 1.5, 3.0], 77, 500, 2e9, 2)],
    "several rows": [([0.5, 2.0, 4.5, 9.0, 30.0], 10**9, 10**6, 3e14, 4), _JUST],
    "a row without a time": [([0.2, None, 2.0, 7.0, None], 7 * 10**8, 10_000, 5e12, 4)],
    "no saving": [([0.2, 0.9, 1.5, 2.5, 7.0], 4 * 10**7, 2000, 1e12, 1), _JUST],
    "a saving of 2.25": [([0.2, 1.5, 3.0, 6.0, 14.0], 3 * 10**6, 50_000, 8e11, 2.25)],
}
_MANY: list[tuple[str, list[Table]]] = [
    ("eight GPUs", [_table(_ALONE, (1, 2, 4, 8), 0.75)]),
    ("batches that double", [_table({2**k: 40 - k for k in range(4, 9)}, (1, 2, 4), 0.5)]),
    (
        "cells are missing",
        [_table(_ALONE, (1, 2, 4), 0.25, {(1, 64), (2, 256)}), {(1, 30): 8.0, (3, 10): 9.0}],
    ),
    (
        "slower than one GPU",
        [{(1, 12): 5.0, (2, 12): 6.0, (1, 24): 4.5, (4, 6): 9.0, (4, 12): 5.5}],
    ),
    ("three and six GPUs", [_table({8: 20.0, 24: 16.0, 48: 15.0}, (1, 3, 6), 0.125)]),
    ("hardly any cell", [{(1, 64): 7.0, (4, 16): 3.0, (4, 64): 2.5}, {(2, 8): 5.0, (1, 16): 9.0}]),
]
_BANDWIDTHS: dict[str, list[tuple[Table, int, int]]] = {
    "a large table": [
        ({(n, b): 8.0 * n + b / 50 for n in (2, 4) for b in (32, 100)}, 50_000, 10**8)
    ],
    "eight GPUs": [({(8, 16): 12.5, (8, 64): 9.0}, 60_001, 44_695_848)],
    "three GPUs": [({(3, 7): 2.75, (3, 50): 1.25, (2, 50): 1.5}, 1000, 3_000_004)],
    "few images": [({(4, 512): 0.25, (2, 512): 0.5}, 2100, 96_232), ({(6, 8): 0.1}, 100, 480)],
    "a small network": [({(2, 32): 1.0, (5, 32): 3.0}, 6000, 96_232)],
    "a very fast network": [({(4, 64): 0.001, (7, 64): 0.002}, 10_000, 28 * 10**9)],
}


def _timed(
    name: str,
    images: list[int],
    load: float,
    copy: float,
    launch: float,
    each: float = 0.03125,
    first: float = 2.0,
    fixed: float = 0.5,
) -> CaseData:
    device = {
        "images": images,
        "load": load,
        "copy": copy,
        "launch": launch,
        "fixed": fixed,
        "each": each,
        "first": first,
    }
    seconds = sum(max(launch, fixed + each * many) for many in images)
    return {"name": name, "given": {"device": device}, "wanted": {"seconds": seconds}}


def _impossible(
    name: str, table: Mapping[int, float | None], peak: float, saving: float
) -> CaseData:
    return _rows(name, [[b, s] for b, s in table.items()], RESNET18.macs, 50_000, peak, saving)


def _rated(
    rates: Sequence[float | None], macs: int, images: int, peak: float, saving: float
) -> CaseData:
    """A table in which the rows have these rates, as multiples of the peak."""
    work = 6 * macs * images
    rows = [
        [16 * 2**place, rate and work / (rate * peak)]  # None stays None
        for place, rate in enumerate(rates)
    ]
    return _rows("", rows, macs, images, peak, saving)


def _rows(
    name: str, rows: list[list[Any]], macs: int, images: int, peak: float, saving: float
) -> CaseData:
    """A multiplication and an addition, forward once and backward twice."""
    operations = sum((1 + 1) * macs * images for _ in ("forward", "for weights", "for inputs"))
    rates = [[batch, seconds and operations / seconds / peak] for batch, seconds in rows]
    wanted = [batch for batch, rate in rates if rate is not None and rate > saving]
    given = {"rows": rows, "macs": macs, "images": images, "peak": peak, "saving": saving}
    return {"name": name, "given": given, "wanted": {"batches": wanted, "rates": rates}}


def _speedups(name: str, times: Table) -> CaseData:
    cells = [
        [gpus, batch, times[1, batch] / seconds]
        for (gpus, batch), seconds in times.items()
        if (1, batch) in times
    ]
    return {"name": name, "given": {"times": _plain(times)}, "wanted": {"cells": cells}}


def _strong(name: str, times: Table) -> CaseData:
    """Every cell beside every other, and only those kept that share a batch."""
    points = [
        [*one, *many, times[one] / times[many]]
        for one in times
        for many in times
        if one[0] == 1 < many[0] and math.prod(one) == math.prod(many)
    ]
    return {"name": name, "given": {"times": _plain(times)}, "wanted": {"points": points}}


def _split(name: str, alone: Mapping[int, float], times: Table) -> CaseData:
    given = {"alone": [list(row) for row in alone.items()], "times": _plain(times)}
    cells = [
        [gpus, batch, alone[batch] / gpus, seconds - alone[batch] / gpus]
        for (gpus, batch), seconds in times.items()
        if gpus > 1 and batch in alone
    ]
    if below := [cell[:2] for cell in cells if cell[3] < 0]:
        return {"name": name, "given": given, "wanted": {"refused": below}}
    return {"name": name, "given": given, "wanted": {"cells": cells}}


def _bandwidth(name: str, communication: Table, images: int, nbytes: int) -> CaseData:
    """Step by step: each GPU sends one of N chunks in each of 2 (N - 1) messages."""
    cells = []
    for (gpus, batch), seconds in communication.items():
        steps = len(range(0, images, gpus * batch))
        messages = [nbytes / gpus for _ in range(2 * (gpus - 1))]
        cells.append([gpus, batch, sum(messages) * steps / seconds / 1e9])
    given = {"times": _plain(communication), "images": images, "nbytes": nbytes}
    return {"name": name, "given": given, "wanted": {"cells": cells}}


def _k80_communication() -> dict[tuple[int, int], float]:
    return {
        (gpus, batch): seconds - K80_ALONE[batch] / gpus
        for (gpus, batch), seconds in K80.items()
        if gpus > 1
    }


def _plain(times: Table) -> list[list[float]]:
    return [[*cell, seconds] for cell, seconds in times.items()]
