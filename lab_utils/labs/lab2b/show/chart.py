"""All designs in one picture: area against cycles."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lab_utils.kit.charts.axes import turned
from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import document, line, text
from lab_utils.kit.errors import LabError
from lab_utils.labs.lab2b.judge.designs import area
from lab_utils.labs.lab2b.machine import Point

_LOOK = {"os": (BLUE, "output"), "ws": (ORANGE, "weight"), "is": (GREEN, "input")}
_LEFT, _TOP, _WIDE, _HIGH = 70, 34, 540, 280
_CAPTION = (
    "Each array with its smallest buffers. Left and down is better. Rings with numbers: the "
    "designs that were chosen, in their order."
)


def draw_designs(points: Sequence[Point], best: Sequence[Point]) -> Drawing:
    """Every array with its smallest buffers; ``best`` get rings and numbers."""
    if not points:
        raise LabError("there are no designs to draw")
    smallest: dict[tuple[str, int, int], Point] = {}
    for point in points:
        array = (point.dataflow, point.height, point.width)
        smallest[array] = min(smallest.get(array, point), point, key=area)
    words = f"{len(smallest)} arrays; chosen: " + ", ".join(map(_name, best))
    shown = list(smallest.values())
    return drawing(lambda alone: _svg(shown, best, words, alone), words, _CAPTION)


def _name(point: Point) -> str:
    return f"{point.height} x {point.width} {point.dataflow} ({point.ifmap}+{point.filter} kB)"


def _svg(points: Sequence[Point], best: Sequence[Point], words: str, alone: bool) -> str:
    all_points = [*points, *best]
    low, high = (end(math.log10(p.cycles) for p in all_points) for end in (min, max))
    most = max(map(area, all_points)) * 1.05

    def place(p: Point) -> tuple[float, float]:
        across = (math.log10(p.cycles) - low) / ((high - low) or 1)
        return _LEFT + 12 + across * (_WIDE - 24), _TOP + _HIGH * (1 - area(p) / most)

    bottom = _TOP + _HIGH
    body = [line(_LEFT, bottom, _LEFT + _WIDE, bottom)]
    body.append(turned(16, _TOP + _HIGH / 2, "area (1000 µm²)"))
    body.append(text(_LEFT + _WIDE / 2, bottom + 34, "cycles", text_anchor="middle"))
    for tick in range(0, int(most), 20_000):
        y = _TOP + _HIGH * (1 - tick / most)
        body.append(line(_LEFT, y, _LEFT + _WIDE, y, stroke_opacity=0.15))
        body.append(text(_LEFT - 6, y + 4, f"{tick // 1000}", text_anchor="end", font_size=10))
    for tick in (20, 30, 50, 100, 150, 200):
        share = (math.log10(tick * 1000) - low) / ((high - low) or 1)
        if 0 <= share <= 1:
            x = _LEFT + 12 + share * (_WIDE - 24)
            body.append(text(x, bottom + 16, f"{tick},000", text_anchor="middle", font_size=10))
    key = float(_LEFT)
    for colour, name in _LOOK.values():
        body.append(f'<circle cx="{key + 6:g}" cy="14" r="4" fill="{colour}"/>')
        body.append(text(key + 16, 18, f"{name}-stationary"))
        key += 136
    for point in points:
        x, y = place(point)
        colour = _LOOK[point.dataflow][0]
        told = f"{_name(point)}: {point.cycles:,} cycles, {area(point):,.0f} µm²"
        dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}" fill-opacity="0.7"/>'
        body.append(f"<g><title>{told}</title>{dot}</g>")
    ring = 'r="7" fill="none" stroke="currentColor" stroke-width="1.6"'
    taken: list[tuple[float, float]] = []
    for number, point in enumerate(best, 1):
        x, y = place(point)
        body.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" {ring}/>')
        if all(abs(x - a) > 14 or abs(y - b) > 12 for a, b in taken):
            body.append(text(x + 9, y - 5, str(number), font_weight="bold", font_size=10))
            taken.append((x, y))
    return document(_LEFT + _WIDE + 20, bottom + 46, words, body, alone)
