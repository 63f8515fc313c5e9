"""The fusion film: a model's operators, what each waits for, and what the next fusion changes.

It only draws: which arrows are fused and what each operator costs, the notebook says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.charts.svg import document, line, rectangle, text
from lab_utils.labs.lab1b.models import Arrow, Op, arrows_of

Cost = tuple[float, float]
"""Seconds of computing and of moving bytes."""
Costs = Callable[[list[Arrow]], Mapping[str, Cost]]
_ROW, _BAR, _TOP, _ARCS, _NAMES, _WIDE, _GAP = 34, 9, 62, 46, 64, 250, 44
_CAPTION = (
    "Orange: time to compute. Blue: time to move bytes. The longer of the two decides. Green "
    "arrows are fused: the value between the two operators stays on chip."
)


def fusion_film(ops: Sequence[Op], arrows: Sequence[Arrow], costs: Costs) -> FusionFilm:
    """Fuse ``arrows`` one after the other, and see what becomes of each operator.

    Args:
        ops: the model.
        arrows: what is fused, in this order.
        costs: a function that takes a list of fused arrows and gives, for each operator by its
            name, the seconds it computes and the seconds it moves bytes.
    """
    return FusionFilm(ops, arrows, costs)


class FusionFilm(Live):
    """The widget that ``fusion_film`` returns; its slider is an attribute."""

    def __init__(self, ops: Sequence[Op], arrows: Sequence[Arrow], costs: Costs) -> None:
        w = widgets()
        self.ops, self.arrows, self.costs = list(ops), [(a, b) for a, b in arrows], costs
        self._most = max(seconds for pair in costs([]).values() for seconds in pair)
        self.fused = w.IntSlider(
            description="fused arrows",
            max=len(self.arrows),
            layout={"width": "60%"},
            style={"description_width": "initial"},
        )
        self.picture = w.HTML()
        self.fused.observe(lambda _: self._move(), "value")
        self.widget = w.VBox([self.fused, self.picture])
        self._move()
        self.static = self.at(*dict.fromkeys((0, len(self.arrows))))

    def at(self, *numbers: int) -> Drawing:
        """The picture with so many arrows fused; for several numbers, side by side."""
        panels = [(number, dict(self.costs(self.arrows[:number]))) for number in numbers]
        words = "\n".join(self._told(*panel) for panel in panels)
        return drawing(lambda alone: self._svg(panels, words, alone), words, _CAPTION)

    def _move(self) -> None:
        self.picture.value = self.at(self.fused.value).html

    def _told(self, number: int, costs: Mapping[str, Cost]) -> str:
        total = sum(max(pair) for pair in costs.values()) * 1e6
        wait = sum(memory > compute for compute, memory in costs.values())
        return f"{number} fused: {total:,.1f} µs, {wait} of {len(costs)} operators wait for memory"

    def _svg(self, panels: list[tuple[int, dict[str, Cost]]], words: str, alone: bool) -> str:
        body: list[str] = []
        panel_wide = _ARCS + _NAMES + _WIDE
        for place, (number, costs) in enumerate(panels):
            left = 12 + place * (panel_wide + _GAP)
            total = sum(max(pair) for pair in costs.values()) * 1e6
            head = f"{number} fused" if number else "nothing fused"
            body.append(
                text(left, 16, f"{head}: {total:,.1f} µs", font_weight="bold", font_size=13)
            )
            names = ", ".join(f"{a}–{b}" for a, b in self.arrows[:number])
            body.append(text(left, 34, names))
            body += self._arcs(left, self.arrows[:number]) + self._bars(left, costs)
        width = 12 + len(panels) * (panel_wide + _GAP)
        return document(width, _TOP + _ROW * len(self.ops) + 8, words, body, alone)

    def _arcs(self, left: float, fused: Sequence[Arrow]) -> list[str]:
        """Arrows at the left, from maker to reader; fused ones are thick."""
        row = {op.name: place for place, op in enumerate(self.ops)}
        x, parts = left + _ARCS - 4, []
        for arrow in arrows_of(self.ops):
            here, there = (_TOP + (row[name] + 0.5) * _ROW for name in arrow)
            out = min(10 + 9 * (row[arrow[1]] - row[arrow[0]] - 1), _ARCS - 8)
            colour, thick = (GREEN, 4) if arrow in fused else ("currentColor", 1.2)
            parts.append(
                f'<path d="M{x:g} {here + 5:g}h{-out:g}V{there - 5:g}h{out - 5:g}" fill="none" '
                f'stroke="{colour}" stroke-width="{thick}"/>'
                f'<path d="M{x - 6:g} {there - 9:g}l6 4l-6 4z" fill="{colour}"/>'
            )
        return parts

    def _bars(self, left: float, costs: Mapping[str, Cost]) -> list[str]:
        start = left + _ARCS + _NAMES
        bottom = _TOP + _ROW * len(self.ops)
        parts = [line(start, _TOP, start, bottom, stroke_opacity=0.5)]
        for place, op in enumerate(self.ops):
            y = _TOP + place * _ROW
            parts.append(text(left + _ARCS + 2, y + _ROW / 2 + 4, op.name))
            for number, (seconds, colour) in enumerate(
                zip(costs[op.name], (ORANGE, BLUE), strict=True)
            ):
                wide = max(seconds / self._most * (_WIDE - 60), 1)
                decides = seconds == max(costs[op.name])
                top = y + 6 + number * (_BAR + 3)
                look = {"fill": colour, "fill_opacity": 1 if decides else 0.35}
                parts.append(rectangle(start, top, wide, _BAR, **look))
                if decides:
                    told = f"{seconds * 1e6:,.1f} µs"
                    parts.append(text(start + wide + 5, top + _BAR - 1, told, font_size=10))
        return parts
