"""A profile as a picture: the time of each operator, and below it the bytes that it allocates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise

from lab_utils.kit.charts.axes import turned, worst_steps
from lab_utils.kit.charts.colors import BLUE, ORANGE
from lab_utils.kit.charts.drawn import Drawing, drawing, drawing_of_words
from lab_utils.kit.charts.svg import document, line, text
from lab_utils.kit.words import size
from lab_utils.steps.profile import Measured, Profile

_LEFT, _TOP, _WIDTH, _HEIGHT, _GAP = 64, 30, 760, 110, 34
_MOST = 380  # bars; of more operators the largest of each column is drawn


def draw_profile(profile: Profile) -> Drawing:
    """Two rows of bars in the order of the graph, the phases told apart by their ground."""
    if not profile.rows:
        return drawing_of_words(repr(profile))
    return drawing(lambda alone: _svg(profile, alone), repr(profile))


def _svg(profile: Profile, alone: bool) -> str:
    rows = profile.rows
    time = [1e6 * row.seconds for row in rows]
    held = [row.nbytes / 1e3 for row in rows]
    bottom = _TOP + 2 * _HEIGHT + _GAP
    body = _phases(rows, bottom)
    body += _bars(rows, time, _TOP, "time (µs)", BLUE, lambda v: f"{v:.1f} µs")
    below = _TOP + _HEIGHT + _GAP
    body += _bars(rows, held, below, "allocated (KB)", ORANGE, lambda v: size(1e3 * v))
    middle = {"text_anchor": "middle"}
    body.append(
        text(_LEFT + _WIDTH / 2, bottom + 18, "operators in the order of the graph", **middle)
    )
    return document(_LEFT + _WIDTH + 14, bottom + 28, repr(profile), body, alone)


def _bars(
    rows: Sequence[Measured],
    values: Sequence[float],
    top: float,
    title: str,
    colour: str,
    told: Callable[[float], str],
) -> list[str]:
    most = max(values) or 1.0
    bottom = top + _HEIGHT
    parts = [
        line(_LEFT, bottom, _LEFT + _WIDTH, bottom),
        turned(12, top + _HEIGHT / 2, title),
        text(_LEFT - 6, bottom, "0", text_anchor="end", font_size=10),
        text(
            _LEFT - 6,
            top + 8,
            f"{most:,.0f}" if most >= 100 else f"{most:.3g}",
            text_anchor="end",
            font_size=10,
        ),
        line(_LEFT, top, _LEFT + _WIDTH, top, stroke_opacity=0.15),
    ]
    wide = _WIDTH / len(values)
    for place in worst_steps(values, _MOST):
        if values[place] <= 0:
            continue
        high = max(values[place] / most * _HEIGHT, 1)
        words = escape(f"{rows[place].node}: {told(values[place])}")
        parts.append(
            f'<rect x="{_LEFT + place * wide:.1f}" y="{bottom - high:.1f}" '
            f'width="{max(wide * 0.85, _WIDTH / _MOST * 0.85):.2f}" height="{high:.1f}" '
            f'fill="{colour}"><title>{words}</title></rect>'
        )
    largest = max(range(len(values)), key=values.__getitem__)
    x = min(max(_LEFT + (largest + 0.5) * wide, _LEFT + 60), _LEFT + _WIDTH - 60)
    words = f"{rows[largest].node}: {told(values[largest])}"
    return [*parts, text(x, top - 4, words, text_anchor="middle", font_size=10)]


def _phases(rows: Sequence[Measured], bottom: float) -> list[str]:
    """Every other phase has a ground of its own, and each its name above."""
    starts = [p for p, row in enumerate(rows) if p == 0 or row.phase != rows[p - 1].phase]
    parts = []
    for number, (start, end) in enumerate(pairwise([*starts, len(rows)])):
        left, wide = _LEFT + start / len(rows) * _WIDTH, (end - start) / len(rows) * _WIDTH
        if number % 2:
            parts.append(
                f'<rect x="{left:.1f}" y="{_TOP - 2}" width="{wide:.1f}" '
                f'height="{bottom - _TOP + 2:g}" fill="#8883" stroke="none"/>'
            )
        if wide > 40:
            name = {"text_anchor": "middle", "font_weight": "bold"}
            parts.append(text(left + wide / 2, 12, rows[start].phase, **name))
    return parts
