"""Yours beside what is wanted: bars of counts, and a dot under a roof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.instruments.roofline import Machine
from lab_utils.instruments.roofline.chart import Dot, Roof, draw_roofline
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show
from lab_utils.labs.lab1a.records import layer_names

_CAPTION = "Filled: yours. The outline is what is wanted."


def _rows(mine: Mapping[str, float], wanted: Mapping[str, float], column: str) -> Drawing:
    rows = [
        Row(
            name,
            (Bar(length(mine.get(name)), length(right)),),
            "" if mine.get(name) == right else "not as wanted",
        )
        for name, right in wanted.items()
    ]
    return draw_bars([column], rows, _CAPTION)


def elements(case: Case, answer: Sequence[float]) -> Drawing:
    """Input, weight and output."""
    names = ("input", "weight", "output")
    mine, right = (dict(zip(names, n, strict=True)) for n in (answer, case.wanted["elements"]))
    return _rows(mine, right, f"{case.name} (elements)")


def operations(case: Case, answer: float) -> Drawing:
    """One number."""
    return _rows({"all": answer}, {"all": case.wanted["operations"]}, f"{case.name} (operations)")


def times(case: Case, answer: Mapping[str, Any]) -> Drawing:
    """The operator under the roof that is left when efficiencies are taken off."""
    given, right = case.given, case.wanted["times"]
    best = Machine(**given["machine"])
    real = Machine(
        f"{best.name}, as far as it is reached",
        {given["dtype"]: best.rate(given["dtype"]) * given["compute_eff"]},
        best.bandwidth * given["memory_eff"],
        best.memory,
        best.clock,
    )
    dots = [Dot("wanted", right["intensity"], given["operations"] / right["execution"])]
    mine = given["operations"] / answer["execution"]
    if abs(answer["execution"] - right["execution"]) > 1e-9 * right["execution"]:
        dots.append(Dot("yours", answer["intensity"], mine, wrong=True))
    else:
        dots = [Dot("yours, as wanted", right["intensity"], mine)]
    caption = "On the thick roof, since it runs as fast as the longer of both times allows."
    roofs = [Roof(real, given["dtype"]), Roof(best, given["dtype"])]
    return draw_roofline(roofs, dots, caption)


def _layer(unit: str) -> Show:
    """A bar for each matrix product, in the order in which they run."""

    def draw(case: Case, answer: Mapping[str, float]) -> Drawing:
        wanted = case.wanted["layer"]
        names = layer_names(Transformer(**case.given["model"]))
        return _rows(answer, {name: wanted[name] for name in names}, f"{case.name} ({unit})")

    return draw


def memory(case: Case, answer: Sequence[float]) -> Drawing:
    """Weights and cache."""
    names = ("weights", "cache")
    mine, right = (dict(zip(names, n, strict=True)) for n in (answer, case.wanted["memory"]))
    return _rows(mine, right, f"{case.name} (bytes)")


SHOW: dict[str, Show] = {
    "1.1": elements,
    "1.2": operations,
    "1.3": operations,
    "1.4": operations,
    "1.5": operations,
    "2.1": times,
    "2.4": _layer("FLOPs"),
    "2.5": _layer("elements"),
    "2.6": memory,
}
