"""Cycles against area of many designs: choose one on the Pareto front, and its film plays."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lab_utils.instruments.systolic.designs import Design
from lab_utils.instruments.systolic.show.film import SystolicFilm
from lab_utils.kit.charts.axes import turned
from lab_utils.kit.charts.colors import BLUE, ORANGE, PALE
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.charts.svg import document, line, text
from lab_utils.kit.errors import LabError

_LEFT, _TOP, _WIDE, _HIGH = 74, 40, 560, 250
_DOT = 2  # pixels: designs that fall on the same dot are drawn once
_CAPTION = "Grey: all designs. Blue: those that no other design beats. Orange: the one chosen."
Point = tuple[float, float]


class FrontFilm(Live):
    """The widget that ``pareto_film`` returns; its controls are attributes.

    Args:
        designs: all of them.
        points: cycles and area (square micrometres) of each.
        front: places of those that no other design beats.
        gemm: the small product of the film.
    """

    def __init__(
        self,
        designs: Sequence[Design],
        points: Sequence[Point],
        front: Sequence[int],
        gemm: Sequence[int] = (12, 6, 9),
    ) -> None:
        if not front:
            raise LabError("the front is empty: there is nothing to choose from")
        w = widgets()
        self.designs, self.points, self.gemm = list(designs), list(points), gemm
        self.front = _one_each(points, front)
        self._dots = _dots(points)
        self.chosen = w.IntSlider(
            description="design", min=1, max=len(self.front), layout={"width": "70%"}
        )
        self.picture, self.film = w.HTML(), self._film()
        self.widget = w.VBox([self.chosen, self.picture, self.film.widget])
        self.chosen.observe(lambda _: self._choose(), "value")
        self.picture.value = self.at(1).html
        self.static = self.at((1 + len(self.front)) // 2)

    def at(self, number: int) -> Drawing:
        """The picture with the design of this number on the front, counted from 1."""
        words = self._words(number)
        return drawing(lambda alone: self._svg(number, words, alone), words, _CAPTION)

    def _choose(self) -> None:
        self.picture.value = self.at(self.chosen.value).html
        self.film = self._film()
        self.widget.children = (self.chosen, self.picture, self.film.widget)
        self.film.play.playing = True

    def _film(self) -> SystolicFilm:
        design = self.designs[self.front[self.chosen.value - 1]]
        return SystolicFilm([design.dataflow], self.gemm, design.height, design.width)

    def _words(self, number: int) -> str:
        place = self.front[number - 1]
        cycles, area = self.points[place]
        return (
            f"{number} of {len(self.front)} on the front: {self.designs[place]}: "
            f"{cycles:,.0f} cycles, {area:,.0f} µm²"
        )

    def _svg(self, number: int, words: str, alone: bool) -> str:
        scale = _Scale(self.points)
        bottom, right = _TOP + _HIGH, _LEFT + _WIDE
        body = [
            text(_LEFT, 18, words, font_size=12, font_weight="bold"),
            line(_LEFT, bottom, right, bottom),
            turned(14, _TOP + _HIGH / 2, "area (µm²)"),
            text(_LEFT + _WIDE / 2, bottom + 34, "cycles of the network", text_anchor="middle"),
        ]
        for cycles in scale.marks(0):
            x, _ = scale.at((cycles, self.points[0][1]))
            body.append(line(x, _TOP, x, bottom, stroke_opacity=0.15))
            body.append(text(x, bottom + 16, f"{cycles:,.0f}", text_anchor="middle", font_size=10))
        for area in scale.marks(1):
            _, y = scale.at((self.points[0][0], area))
            body.append(line(_LEFT, y, right, y, stroke_opacity=0.15))
            body.append(text(_LEFT - 6, y + 4, f"{area:,.0f}", text_anchor="end", font_size=10))
        body.append(f'<path d="{self._dots}" stroke="{PALE}" stroke-width="2" opacity=".55"/>')
        steps = [scale.at(self.points[place]) for place in self.front]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in steps)
        body.append(f'<path d="M{path}" fill="none" stroke="{BLUE}" stroke-width="1.6"/>')
        for place, (x, y) in enumerate(steps, 1):
            size, fill = (6, ORANGE) if place == number else (3.4, BLUE)
            body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{fill}"/>')
        return document(right + 30, bottom + 46, words, body, alone)


class _Scale:
    """Both axes in logarithms: a factor of two is as long everywhere."""

    def __init__(self, points: Sequence[Point]) -> None:
        self.ends = [
            (min(one[axis] for one in points) * 0.94, max(one[axis] for one in points) * 1.06)
            for axis in (0, 1)
        ]

    def at(self, point: Point) -> tuple[float, float]:
        """Where a point stands."""
        shares = [
            math.log(value / low) / math.log(high / low)
            for value, (low, high) in zip(point, self.ends, strict=True)
        ]
        return _LEFT + shares[0] * _WIDE, _TOP + _HIGH - shares[1] * _HIGH

    def marks(self, axis: int) -> list[float]:
        """Round numbers along an axis."""
        low, high = self.ends[axis]
        powers = range(int(math.log10(low)), int(math.log10(high)) + 1)
        rounds = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        return [one for one in rounds if low <= one <= high]


def _dots(points: Sequence[Point]) -> str:
    """All designs as one path of short strokes, those on the same dot once."""
    scale = _Scale(points)
    places = {(round(x / _DOT), round(y / _DOT)) for x, y in map(scale.at, set(points))}
    return "".join(f"M{_DOT * x} {_DOT * y}h2" for x, y in sorted(places))


def _one_each(points: Sequence[Point], front: Sequence[int]) -> list[int]:
    """Of designs that are equal in both, the first; the fastest comes first."""
    first: dict[Point, int] = {}
    for place in front:
        first.setdefault(tuple(points[place]), place)  # type: ignore[arg-type]
    return [first[point] for point in sorted(first)]
