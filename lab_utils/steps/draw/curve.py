"""The trade-off curve: the peak against what runs again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab_utils.kit.charts.axes import Plot, scale_for
from lab_utils.kit.charts.colors import BLUE, ORANGE, RED
from lab_utils.kit.charts.svg import document, text
from lab_utils.kit.words import size


class Point(NamedTuple):
    """One choice: what is dropped, the peak in bytes, and how many operators run again."""

    drop: tuple[str, ...]
    peak: int
    recomputed: int


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
    plot = Plot(scale, top=18, width=400, height=200)

    def across(recomputed: int) -> float:
        return plot.left + 8 + recomputed / most * (plot.width - 16)

    def at(point: Point) -> tuple[float, float]:
        return across(point.recomputed), plot.y(point.peak)

    marks = [(across(mark), str(mark)) for mark in sorted({0, most // 2, most})]
    body = plot.axes("peak", "operators that run again", marks)
    points = "L".join("{:.1f} {:.1f}".format(*at(p)) for p in curve)
    body.append(f'<path d="M{points}" fill="none" stroke="{BLUE}" stroke-width="1.5"/>')
    for point in curve:
        x, y = at(point)
        words = f"{len(point.drop)} dropped: {size(point.peak)}, {point.recomputed} run again"
        dot = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{BLUE}">'
        body.append(f"{dot}<title>{words}</title></circle>")
    if budget is not None:
        body += plot.budget(budget)
    if chosen is not None:
        x, y = at(chosen)
        body.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="none" stroke="{ORANGE}" '
            f'stroke-width="3"><title>chosen: {size(chosen.peak)}</title></circle>'
        )
    if yours is not None:
        x, y = at(yours)
        body.append(f'<path d="M{x:.1f} {y - 8:.1f}l7 8l-7 8l-7 -8z" fill="{RED}" stroke="white"/>')
        body.append(text(min(x + 12, plot.right - 40), y - 8, "yours", font_weight="bold"))
    best = min(curve, key=lambda p: p.peak)
    label = f"Peak against recomputed operators; the lowest is {size(best.peak)}"
    return document(plot.right + 14, plot.bottom + 42, label, body, alone)
