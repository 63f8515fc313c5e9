"""Yours beside what is wanted, for the tasks of Lab 2B."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lab_utils.instruments.buffers import buffer_film, miss_curve
from lab_utils.instruments.systolic.designs import Conv
from lab_utils.instruments.systolic.rows import row_film
from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show
from lab_utils.labs.lab2b.judge.designs import score
from lab_utils.labs.lab2b.machine import Point

_OUTLINE = "Filled: yours. The outline is what is wanted."
_FILMED = 300  # cycles that are still worth watching


def misses(case: Case, _answer: Sequence[int]) -> Any:
    """Task 1.1: the buffer of the case, access by access."""
    size, policy = case.given["size"], case.given["policy"]
    if not size:
        return None
    return buffer_film(case.given["trace"], {f"{policy}, {size} lines": (size, 0, policy)})


def two_levels(case: Case, answer: Sequence[float]) -> Drawing:
    """Task 1.2: misses of the first level, and of both."""
    names = ("missed in the first level", "missed in both")
    return _beside(names, answer, case.wanted["misses"], "misses (lines)")


def anomaly(case: Case, answer: Sequence[int]) -> Drawing | None:
    """Task 1.3: misses on your trace, against the size."""
    return miss_curve(answer, range(1, case.given["size"] + 4))


def cycles(case: Case, answer: float) -> Drawing:
    """Tasks 1.4 and 2.2: cycles."""
    return _beside(("all stages",), [answer], [case.wanted["cycles"]], "time (cycles)")


def latency(case: Case, answer: float) -> Drawing:
    """Task 2.2: cycles, beside the fewest that the multiply-accumulates could take."""
    least = case.wanted["macs"] / (case.given["height"] * case.given["width"])
    wanted = case.wanted["cycles"]
    mark = "" if answer == wanted else "not as wanted"
    rows = [
        Row("your cycles", (Bar(length(answer), length(wanted), tick=least),), mark),
    ]
    caption = f"{_OUTLINE} The tick is the law: multiply-accumulates / processing elements."
    return draw_bars(["time (cycles)"], rows, caption)


def top_ten(case: Case, answer: Sequence[Sequence[Any]]) -> Drawing:
    """Task 1.5: scores, place by place."""
    mine = [score(Point(*row), case.given["goal"]) for row in answer][:10]
    wanted = [one for one, _ in case.wanted["best"]]
    rows = []
    for place in range(max(len(mine), len(wanted))):
        yours = mine[place] if place < len(mine) else None
        right = wanted[place] if place < len(wanted) else None
        mark = "" if yours == right else "not as wanted"
        rows.append(Row(f"place {place + 1}", (Bar(length(yours), length(right)),), mark))
    return draw_bars(["score ()"], rows, _OUTLINE)


def product(case: Case, answer: Sequence[float]) -> Drawing:
    """Task 2.1: M, N and K."""
    return _beside("MNK", answer, case.wanted["product"], "size (elements)")


def rows(case: Case, _answer: float) -> Any:
    """Task 2.3: the layer on its array, cycle by cycle."""
    if case.wanted["cycles"] > _FILMED:
        return None
    conv = Conv("layer", *case.given["conv"])
    return row_film(conv, case.given["height"], case.given["width"])


def _beside(
    names: Sequence[str], mine: Sequence[float], wanted: Sequence[float], column: str
) -> Drawing:
    told = [
        Row(name, (Bar(length(yours), length(right)),), "" if yours == right else "not as wanted")
        for name, yours, right in zip(names, mine, wanted, strict=True)
    ]
    return draw_bars([column], told, _OUTLINE)


SHOW: dict[str, Show] = {
    "1.1": misses,
    "1.2": two_levels,
    "1.3": anomaly,
    "1.4": cycles,
    "1.5": top_ten,
    "2.1": product,
    "2.2": latency,
    "2.3": rows,
}
