"""Yours beside what is wanted in notebook 4, weights and what enters the layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show
from lab_utils.labs.hw5.judge.exact import max_scale, reals
from lab_utils.labs.hw5.judge.numbers import near
from lab_utils.labs.hw5.judge.profiles import entering, seen_of
from lab_utils.labs.hw5.judge.ranges import range_of


def weight_range(case: Case, answer: Mapping[str, float]) -> Drawing:
    """Task 4.1: from the lowest to the highest weight, and the 3-sigma interval."""
    weight = reals(case.given["weight"])
    right = range_of(weight)
    shift = -min(right["low"], answer["low"], right["mean"] - 3 * right["sigma"], 0)

    def row(name: str, mine: tuple[float, float], wanted: tuple[float, float]) -> Row:
        wide = right["high"] - right["low"] or 1.0
        same = all(abs(a - b) < 1e-3 * wide for a, b in zip(mine, wanted, strict=True))
        yours, right_one = ((low + shift, high + shift) for low, high in (mine, wanted))
        return Row(name, (Bar(yours, right_one),), "" if same else "another")

    def three(told: Mapping[str, float]) -> tuple[float, float]:
        return told["mean"] - 3 * told["sigma"], told["mean"] + 3 * told["sigma"]

    rows = [
        row("all weights", (answer["low"], answer["high"]), (right["low"], right["high"])),
        row("mean ± 3 sigma", three(answer), three(right)),
    ]
    caption = "Filled: yours. Outline: what is wanted. The axis begins at the lowest weight."
    return draw_bars([f"{case.name} ( )"], rows, caption)


def scales(case: Case, answer: Mapping[str, Any]) -> Drawing:
    """Task 4.7: a scale for each output."""
    steps = 2 ** (case.given["bits"] - 1) - 1
    wanted = [max_scale(row, steps) for row in reals(case.given["weight"])]
    mine = [*answer["scales"], *[0.0] * len(wanted)]
    rows = [
        Row(
            f"output {place}",
            (Bar(length(yours), length(right)),),
            "" if near(yours, right, 1e-4) else "another scale",
        )
        for place, (yours, right) in enumerate(zip(mine, wanted, strict=False))
    ]
    return draw_bars(["scale ( )"], rows, "Filled: yours. Outline: what is wanted.")


def profile(case: Case, answer: Mapping[str, Sequence[float]]) -> Drawing:
    """Task 4.8: the largest magnitude and sigma at each place."""
    rows = []
    for name, values in entering(case.given).items():
        right, mine = seen_of(values), answer.get(name)
        same = mine is not None and all(
            near(a, b, 1e-3) for a, b in zip(mine[1::2], right[1::2], strict=True)
        )
        bars = tuple(Bar(length(mine[at]) if mine else None, length(right[at])) for at in (1, 3))
        rows.append(Row(name, bars, "" if same else "another" if mine else "missing"))
    caption = "Filled: yours. Outline: what is wanted."
    return draw_bars(["largest magnitude ( )", "sigma ( )"], rows, caption)


SHOW: dict[str, Show] = {"4.1": weight_range, "4.7": scales, "4.8": profile}
