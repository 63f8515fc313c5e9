"""Yours beside what is wanted in notebook 5, a network in integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show
from lab_utils.labs.hw5.judge.exact import int_arrays, integers, layer_out
from lab_utils.labs.hw5.judge.numbers import array_of


def forward(case: Case, answer: Sequence[Mapping[str, Any]]) -> Drawing:
    """Task 5.5: of each layer, how many numbers are right to the last bit."""
    x, rows = integers(case.given["x"]), []
    for data, one in zip(case.given["layers"], answer, strict=True):
        x = layer_out(int_arrays(data), x)
        same = 0
        if list(one["shape"]) == list(x.shape):
            same = int((array_of(one) == x).sum())
        mark = "" if same == x.size else f"{x.size - same} differ"
        rows.append(Row(str(data["name"]), (Bar(length(same), length(x.size)),), mark))
    caption = "Filled: numbers that are right to the last bit. Outline: all that the layer gives."
    return draw_bars([f"{case.name} (numbers)"], rows, caption)


SHOW: dict[str, Show] = {"5.5": forward}
