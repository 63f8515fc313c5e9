"""The trade-off curve: the peak against what runs again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab_utils.pictures.memory_svg import scale_for
from lab_utils.pictures.svg import document, line, size, text

if TYPE_CHECKING:
    from lab_utils.pictures.budget import Point

_LEFT, _TOP, _WIDTH, _HEIGHT = 56, 18, 400, 200


def curve_svg(
    curve: Sequence[Point],
    chosen: Point | None = None,
    yours: Point | None = None,
    budget: int | None = None,
    alone: bool = True,
) -> str:
    """Points joined in their order, the chosen one and the student's marked."""
    shown = [*curve, *(p for p in (chosen, yours) if p)]
    scale = scale_for(max(p.peak for p in shown))
    most = max(max(p.recomputed for p in shown), 1)
    bottom = _TOP + _HEIGHT

    def at(point: Point) -> tuple[float, float]:
        return (
            _LEFT + 8 + point.recomputed / most * (_WIDTH - 16),
            bottom - point.peak / scale.top * _HEIGHT,
        )

    middle = {"text_anchor": "middle"}
    body = [
        line(_LEFT, bottom, _LEFT + _WIDTH, bottom),
        text(_LEFT + _WIDTH / 2, bottom + 32, "operators that run again", **middle),
        text(14, _TOP + _HEIGHT / 2, f"peak ({scale.unit})", **middle, transform=_TURNED),
    ]
    for tick in scale.ticks:
        y = bottom - tick * scale.factor / scale.top * _HEIGHT
        body.append(line(_LEFT, y, _LEFT + _WIDTH, y, stroke_opacity=0.15))
        body.append(text(_LEFT - 6, y + 4, f"{tick:g}", text_anchor="end"))
    for mark in sorted({0, most // 2, most}):
        x = _LEFT + 8 + mark / most * (_WIDTH - 16)
        body.append(text(x, bottom + 16, str(mark), **middle, font_size=10))
    points = "L".join("{:.1f} {:.1f}".format(*at(p)) for p in curve)
    body.append(f'<path d="M{points}" fill="none" stroke="#1f6fd0" stroke-width="1.5"/>')
    for point in curve:
        x, y = at(point)
        words = f"{len(point.drop)} dropped: {size(point.peak)}, {point.recomputed} run again"
        dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="#1f6fd0">'
        body.append(f"{dot}<title>{words}</title></circle>")
    if budget is not None:
        y = bottom - budget / scale.top * _HEIGHT
        body.append(line(_LEFT, y, _LEFT + _WIDTH, y, stroke_dasharray="6 4"))
        body.append(text(_LEFT + _WIDTH, y - 4, f"budget {size(budget)}", text_anchor="end"))
    if chosen is not None:
        x, y = at(chosen)
        body.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="none" stroke="#d35400" '
            f'stroke-width="3"><title>chosen: {size(chosen.peak)}</title></circle>'
        )
    if yours is not None:
        x, y = at(yours)
        body.append(
            f'<path d="M{x:.1f} {y - 8:.1f}l7 8l-7 8l-7 -8z" fill="#d62728" stroke="white"/>'
        )
        body.append(text(min(x + 12, _LEFT + _WIDTH - 40), y - 8, "yours", font_weight="bold"))
    best = min(curve, key=lambda p: p.peak)
    label = f"Peak against recomputed operators; the lowest is {size(best.peak)}"
    return document(_LEFT + _WIDTH + 14, bottom + 42, label, body, alone)


_TURNED = f"rotate(-90 14 {_TOP + _HEIGHT / 2:g})"
