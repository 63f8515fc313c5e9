"""Peak against work for every plan of a small graph, and the choices that lead to some."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lab_utils.kit.charts.axes import Plot, scale_for
from lab_utils.kit.charts.colors import RIGHT, WRONG
from lab_utils.kit.charts.svg import document, escaped, text
from lab_utils.kit.words import size

#: (seconds that run again, peak in bytes) of one plan.
Point = tuple[float, float]
_LOOK = {"yours": (WRONG, ""), "wanted": (RIGHT, ' stroke-dasharray="2 4"')}


class Choices(NamedTuple):
    """Plan after plan: the points that ``names``, one after the other, lead to."""

    title: str
    points: Sequence[Point]
    names: tuple[str, ...]


def choices_svg(plans: Sequence[Point], paths: Sequence[Choices], budget: int, alone: bool) -> str:
    """All ``plans`` as dots, each path over them, and the budget as a dashed line."""
    scale = scale_for(max(*(peak for _, peak in plans), budget))
    most = max(work for work, _ in plans) or 1.0
    # From just below the lowest plan: what matters is how they differ.
    floor = 0.85 * min(*(peak for _, peak in plans), budget)
    plot = Plot(scale, top=30, width=460, height=220, floor=floor)
    y = plot.y

    def x(work: float) -> float:
        return plot.left + 10 + work / most * (plot.width - 20)

    marks = [(x(mark), f"{mark:g}") for mark in (0.0, most / 2, most)]
    body = plot.axes("peak", "work that runs again (s)", marks)
    for work, peak in plans:
        body.append(f'<circle cx="{x(work):.1f}" cy="{y(peak):.1f}" r="2.5" fill="#888"/>')
    body += plot.budget(budget)
    for place, path in enumerate(paths):
        colour, dashes = _LOOK[path.title]
        joined = "L".join(f"{x(work):.1f} {y(peak):.1f}" for work, peak in path.points)
        wide = 5 if path.title == "wanted" else 2.2
        stroke = f'stroke="{colour}" stroke-width="{wide}" stroke-opacity="0.75"'
        body.append(f'<path d="M{joined}" fill="none" {stroke}{dashes}/>')
        for number, (work, peak) in enumerate(path.points):
            names = ", ".join(path.names[:number]) or "nothing dropped"
            told = escaped(f"{path.title}: {names}: {size(peak)}")
            body.append(
                f'<circle cx="{x(work):.1f}" cy="{y(peak):.1f}" r="5" fill="{colour}" '
                f'fill-opacity="0.8"><title>{told}</title></circle>'
            )
        named = f"{path.title}: {', '.join(path.names) or 'nothing'}"
        body.append(text(plot.left + 8, 12 + 14 * place, f"● {named}", fill=colour))
    told = "; ".join(f"{p.title} ends at {size(p.points[-1][1])}" for p in paths)
    label = f"Peak against recomputed work of all {len(plans)} plans; {told}"
    return document(plot.right + 14, plot.bottom + 42, label, body, alone)
