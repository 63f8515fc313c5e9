"""Yours beside what is wanted. A task that is not in SHOW has no picture."""

from __future__ import annotations

from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show


def operations(case: Case, answer: float) -> Drawing:
    """Task 1.1."""
    wanted = case.wanted["operations"]
    mark = "" if answer == wanted else "not as wanted"
    row = Row(case.name, (Bar(length(answer), length(wanted)),), mark)
    return draw_bars(["work (operations)"], [row], "The outline is what is wanted.")


SHOW: dict[str, Show] = {"1.1": operations}
