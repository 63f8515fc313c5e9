"""Yours beside what is wanted in notebook 2, collectives and a training job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.parts import PARTS
from lab_utils.kit.task import Case, Show
from lab_utils.labs.lab4b.judge.job_numbers import MEMORY, by_key, same

_CAPTION = "Filled: yours. The outline is what is wanted."


def _bars(name: str, pairs: Mapping[str, tuple[float, float]]) -> Drawing:
    rows = [
        Row(
            what,
            (Bar(length(mine), length(right)),),
            "" if same(mine, right) else "not as wanted",
        )
        for what, (mine, right) in pairs.items()
    ]
    return draw_bars([f"{name} (bytes)"], rows, _CAPTION)


def _first(case: Case, answer: Any) -> tuple[Case, Any]:
    """Of a case with several parts the first."""
    if PARTS not in case.given:
        return case, answer
    return Case(case.name, case.given[PARTS][0], case.wanted[PARTS][0]), answer[0]


def memory(case: Case, answer: Sequence[float]) -> Drawing:
    """Task 2.6: a bar for each part."""
    case, answer = _first(case, answer)
    told = zip(MEMORY, zip(answer, case.wanted["parts"], strict=True), strict=True)
    return _bars(case.name, dict(told))


def traffic(case: Case, answer: Sequence[Sequence[Any]]) -> Drawing:
    """Task 2.5: a bar for each phase, axis and direction."""
    case, answer = _first(case, answer)
    mine, right = by_key(answer), case.wanted["totals"]
    keys = {**right, **mine} or {"nothing is sent": 0.0}
    return _bars(case.name, {key: (mine.get(key, 0.0), right.get(key, 0.0)) for key in keys})


SHOW: dict[str, Show] = {"2.5": traffic, "2.6": memory}
