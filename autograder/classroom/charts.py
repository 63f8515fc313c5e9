"""Pictures of the pages, in the kit's charts; the page's style sheet colours them by class."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from autograder.grading.verdict import Chart
from lab_utils.kit.charts.over_time import over_steps_svg
from lab_utils.kit.charts.svg import document, line, rectangle, text

_WIDTH = 460
#: The lines for which the page has colours of its own, and what they are called there.
_KEY = {"yours": "yours", "reference": "reference", "before": "before the change"}
_MIDDLE, _END = {"text_anchor": "middle"}, {"text_anchor": "end"}


@dataclass(frozen=True)
class Bar:
    """A bar of several parts: each has a length and the CSS class that colours it."""

    label: str
    parts: tuple[tuple[float, str], ...]
    note: str = ""


def lines_chart(chart: Chart) -> Markup:
    """Lines over steps with the most that is allowed, and below them which line is which."""
    known = chart.lines.keys() <= _KEY.keys()
    svg = over_steps_svg(
        chart.title, chart.lines, chart.limit, chart.unit, alone=False, key=not known
    )
    named = [(name, words) for name, words in _KEY.items() if chart.lines.get(name)]
    entry = '<span><i style="background: var(--{})"></i>{}</span>'
    key = "".join(entry.format(name, words) for name, words in named if known)
    return Markup(f'{svg}<p class="legend">{key}</p>' if key else svg)


def histogram(values: Sequence[float], most: float, classes: int = 10) -> Markup:
    """How many values lie in each of the equal classes from 0 to ``most``."""
    counts = [0] * classes
    for value in values:
        counts[min(classes - 1, int(classes * value / most)) if most else 0] += 1
    left, top, width, height = 14, 18, _WIDTH - 28, 170
    each, bottom = width / classes, top + height
    body = [line(left, bottom, left + width, bottom, class_="grid")]
    for place, count in enumerate(counts):
        x, tall = left + place * each, height * count / max(*counts, 1)
        if count:
            body.append(rectangle(x + 3, bottom - tall, each - 6, tall, rx=2, class_="bar"))
            body.append(text(x + each / 2, bottom - tall - 5, str(count), **_MIDDLE))
    for place in range(classes + 1):
        x, mark = left + place * each, f"{most * place / classes:g}"
        body.append(text(x, bottom + 16, mark, **_MIDDLE, class_="tick"))
    return _picture(bottom + 24, "How many students have how many points", body)


def bars(rows: Iterable[Bar], title: str) -> Markup:
    """Bars below one another, on one scale."""
    rows = list(rows)
    left, top, each = 180, 6, 24
    width = _WIDTH - left - 50
    longest = max((sum(length for length, _ in row.parts) for row in rows), default=0) or 1
    body = []
    for place, row in enumerate(rows):
        y, x = top + place * each, float(left)
        body.append(text(left - 8, y + 15, _short(row.label), **_END))
        for length, colour in row.parts:
            if length:
                long = width * length / longest
                body.append(rectangle(x, y + 2, long, each - 8, rx=2, class_=colour))
                x += long
        body.append(text(x + 8, y + 15, row.note, class_="tick"))
    return _picture(top + each * len(rows) + 4, title, body)


def _picture(height: float, title: str, body: Sequence[str]) -> Markup:
    return Markup(document(_WIDTH, height, title, body, alone=False))


def _short(words: str, longest: int = 25) -> str:
    return words if len(words) <= longest else f"{words[: longest - 1]}…"
