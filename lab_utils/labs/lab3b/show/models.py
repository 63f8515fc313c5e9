"""Yours beside what is wanted in notebook 3, models of memory and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show
from lab_utils.labs.lab3b.judge.models import same

_CAPTION = "Filled: yours. The outline is what is wanted."


def _parts(unit: str) -> Show:
    """A row for each stage and part."""

    def draw(case: Case, answer: Mapping[str, Sequence[float]]) -> Drawing:
        rows = []
        for part, values in case.wanted["parts"].items():
            for stage, right in enumerate(values):
                mine = answer[part][stage]
                name = f"{part}, stage {stage}" if len(values) > 1 else part
                mark = "" if same(mine, right) else "not as wanted"
                rows.append(Row(name, (Bar(length(mine), length(right)),), mark))
        return draw_bars([f"{case.name} ({unit})"], rows, _CAPTION)

    return draw


SHOW: dict[str, Show] = {
    "3.1": _parts("parameters"),
    "3.2": _parts("bytes"),
    "3.3": _parts("bytes"),
    "3.4": _parts("FLOPs"),
    "3.5": _parts("s"),
}
