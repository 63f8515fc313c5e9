"""Yours beside what is wanted in notebook 1, times."""

from __future__ import annotations

from collections.abc import Sequence

from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show
from lab_utils.labs.hw5.judge.times import cells_of, same


def speedups_shown(case: Case, answer: Sequence[Sequence[float]]) -> Drawing:
    """A bar for each cell."""
    return _cells(case, answer, "speed-up (times)", "An outline is what is wanted.")


def bandwidth_shown(case: Case, answer: Sequence[Sequence[float]]) -> Drawing:
    """A bar for each cell."""
    caption = "The message is the same in every step. Is the bandwidth?"
    return _cells(case, answer, "bandwidth (GB/s)", caption)


def _cells(case: Case, answer: Sequence[Sequence[float]], column: str, caption: str) -> Drawing:
    got, right = cells_of(answer), cells_of(case.wanted["cells"])
    rows = []
    for cell in sorted(right | got):
        gpus, batch = cell
        mine, value = got.get(cell), right.get(cell)
        agree = mine is not None and value is not None and same(mine, value)
        bar = Bar(length(mine), length(value))
        rows.append(Row(f"{gpus} x {batch}", (bar,), "" if agree else "another number"))
    return draw_bars([column], rows, caption)


SHOW: dict[str, Show] = {"1.4": speedups_shown, "1.8": bandwidth_shown}
