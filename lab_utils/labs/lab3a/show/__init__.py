"""Yours beside what is wanted: bars of latencies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show
from lab_utils.labs.lab3a.judge.propagation import judge_latencies, right_latencies

_CAPTION = "Filled: yours. The outline is what is wanted, on a pretended clock."


def latencies(case: Case, answer: Mapping[str, Any]) -> Drawing:
    """A bar for each node."""
    rows = []
    wrong = {finding.yours.partition(":")[0] for finding in judge_latencies(case, answer)}
    for name, right in right_latencies(case).items():
        mine = answer["latencies"].get(name)
        mark = "not as wanted" if name in wrong else ""
        rows.append(Row(name, (Bar(length(mine), length(right)),), mark))
    return draw_bars([f"{case.name} (ms)"], rows, _CAPTION)


SHOW: dict[str, Show] = {"1.5": latencies}
