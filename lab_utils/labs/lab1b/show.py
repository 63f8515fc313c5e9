"""Yours beside what is wanted, for the tasks of Lab 1B."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.instruments.tiles import tile_film
from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show
from lab_utils.labs.lab1b.judge.fusion import same

_OUTLINE = "Filled: yours. The outline is what is wanted."


def traffic(case: Case, answer: Mapping[str, Sequence[float]]) -> Drawing:
    """Task 1.1: bytes of each operator."""
    rows = []
    for name, wanted in case.wanted["moved"].items():
        mine = answer.get(name)
        bars = tuple(Bar(length(mine[i] if mine else None), length(wanted[i])) for i in (0, 1))
        mark = "missing" if mine is None else "" if list(mine) == wanted else "not as wanted"
        rows.append(Row(name, bars, mark))
    return draw_bars(["read (bytes)", "written (bytes)"], rows, _OUTLINE)


def fusions(case: Case, answer: Sequence[Sequence[str]]) -> Drawing:
    """Task 1.3: the time without fusion, with yours, with all, and with each arrow alone."""
    arrows, times = [tuple(arrow) for arrow in case.given["arrows"]], case.given["times"]
    chosen = [tuple(arrow) for arrow in answer]
    mask = sum(1 << arrows.index(arrow) for arrow in chosen)
    best = case.wanted["time"]
    right = same(times[mask], best) and len(chosen) == case.wanted["count"]
    rows = [
        Row("nothing fused", (Bar(length(times[0])),)),
        *(
            Row(f"{maker} -> {reader} alone", (Bar(length(times[1 << place])),))
            for place, (maker, reader) in enumerate(arrows)
        ),
        Row("everything fused", (Bar(length(times[-1])),)),
        Row(
            f"yours ({len(chosen)} fused)",
            (Bar(length(times[mask]), length(best)),),
            "" if right else "not as wanted",
        ),
    ]
    return draw_bars(["time (µs)"], rows, "The outline around yours is the least time there is.")


def stationary(case: Case, answer: Sequence[float]) -> Drawing:
    """Task 2.1: the four numbers."""
    names = ("A read", "B read", "C read", "C written")
    rows = [
        Row(
            name,
            (Bar(length(mine), length(wanted)),),
            "" if mine == wanted else "not as wanted",
        )
        for name, mine, wanted in zip(names, answer, case.wanted["elements"], strict=True)
    ]
    return draw_bars(["moved (elements)"], rows, _OUTLINE)


def order(case: Case, answer: Sequence[Sequence[int]]) -> Any:
    """Tasks 2.2 and 2.3: your order beside the one in which C stays."""
    tm, tn, tk = map(range, case.given["tiles"])
    plain = [(m, n, k) for m in tm for n in tn for k in tk]
    return tile_film({"C stays": plain, "yours": [(m, n, k) for m, n, k in answer]})


def times(case: Case, answer: Sequence[float]) -> Drawing:
    """Task 2.5: compute and memory time."""
    rows = [
        Row(
            name,
            (Bar(length(1e6 * mine), length(1e6 * wanted)),),
            "" if same(mine, wanted) else "not as wanted",
        )
        for name, mine, wanted in zip(
            ("compute", "memory"), answer, case.wanted["seconds"], strict=True
        )
    ]
    return draw_bars(["time (µs)"], rows, _OUTLINE)


SHOW: dict[str, Show] = {
    "1.1": traffic,
    "1.3": fusions,
    "2.1": stationary,
    "2.2": order,
    "2.3": order,
    "2.5": times,
}
