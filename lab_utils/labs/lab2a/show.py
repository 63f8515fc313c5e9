"""Yours beside what is wanted, for the tasks of Lab 2A."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.instruments.systolic import systolic_film
from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show
from lab_utils.labs.lab2a.judge.array import same

_OUTLINE = "Filled: yours. The outline is what is wanted."


def fold(case: Case, _answer: float) -> Any:
    """Task 1.3: the fold itself."""
    given: Mapping[str, Any] = case.given
    height, width, steps = given["height"], given["width"], given["steps"]
    gemm = {
        "os": (height, width, steps),
        "ws": (steps, width, height),
        "is": (width, steps, height),
    }[given["dataflow"]]
    return systolic_film(gemm, height, width, [given["dataflow"]])


def totals(case: Case, answer: Sequence[float]) -> Drawing:
    """Task 2.3: cycles and stalls."""
    rows = [
        Row(
            name,
            (Bar(length(mine), length(wanted)),),
            "" if same(mine, wanted) else "not as wanted",
        )
        for name, mine, wanted in zip(
            ("cycles", "stalls"), answer[:2], case.wanted["totals"][:2], strict=True
        )
    ]
    return draw_bars(["cycles"], rows, _OUTLINE)


def predictions(case: Case, answer: Sequence[float]) -> Drawing:
    """Task 3.3: each design's cycles, predicted and true; what is too far off is marked."""
    limit = case.wanted["limit"]

    def row(design: Sequence[Any], mine: float, wanted: float) -> Row:
        off = 100 * (mine - wanted) / wanted
        name = f"{design[0]} x {design[1]} {design[-1]}, {off:+.0f} %"
        mark = "" if abs(off) < limit else f"more than {limit:.1f} %"
        return Row(name, (Bar(length(mine), length(wanted)),), mark)

    rows = [
        row(design, mine, wanted)
        for design, mine, wanted in list(
            zip(case.given["asked"], answer, case.wanted["cycles"], strict=True)
        )[:12]
    ]
    return draw_bars(["cycles"], rows, _OUTLINE)


SHOW: dict[str, Show] = {"1.3": fold, "2.3": totals, "3.3": predictions}
