"""Pictures for the pages: small SVGs that take their colours from the page, light or dark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from markupsafe import Markup, escape

from autograder.grading.verdict import MemoryLines

WIDE, NARROW = 640, 460
"""Of a picture that has the page for itself, and of one that shares it."""
STEPS = 320
"""Points that a line has at most: more than that, nobody can see."""


@dataclass(frozen=True)
class Bar:
    """A bar of several parts: each has a length and the CSS class that colours it."""

    label: str
    parts: tuple[tuple[float, str], ...]
    note: str = ""


def memory_chart(lines: MemoryLines) -> Markup:
    """Bytes held at each step: before, yours and the reference's, with the budget."""
    left, top, width, height = 58, 12, WIDE - 70, 170
    drawn = {"before": lines.before, "yours": lines.yours, "reference": lines.reference}
    highest = max([1, lines.budget, *(max(line, default=0) for line in drawn.values())])
    scale, unit = _unit(highest)

    def y(held: float) -> float:
        return round(top + height * (1 - held / (1.08 * highest)), 1)

    shapes = []
    for tick in _ticks(highest / scale):
        at = y(tick * scale)
        shapes.append(_line(left, at, left + width, at, "grid"))
        shapes.append(_text(left - 6, at + 4, f"{tick:g} {unit}", "tick end"))
    for name, line in drawn.items():
        if points := _steps(line, left, width, y):
            if name == "yours":
                area = f"{left},{y(0)} {points} {left + width},{y(0)}"
                shapes.append(Markup('<polygon class="area" points="{}"/>').format(area))
            shapes.append(Markup('<polyline class="line {}" points="{}"/>').format(name, points))
    if lines.budget:
        at = y(lines.budget)
        shapes.append(_line(left, at, left + width, at, "budget"))
        shapes.append(_text(left + width, at - 5, "most that is allowed", "tick end"))
    shapes.append(_text(left, top + height + 18, "first step", "tick"))
    shapes.append(_text(left + width, top + height + 18, "last step", "tick end"))
    return _svg(shapes, WIDE, top + height + 26, f"Memory held at each step: {lines.title}")


def histogram(values: Sequence[float], most: float, classes: int = 10) -> Markup:
    """How many values lie in each of the equal classes from 0 to ``most``."""
    counts = [0] * classes
    for value in values:
        counts[min(classes - 1, int(classes * value / most)) if most else 0] += 1
    left, top, width, height = 14, 18, NARROW - 28, 170
    each = width / classes
    shapes = [_line(left, top + height, left + width, top + height, "grid")]
    for at, count in enumerate(counts):
        tall = height * count / max(counts, default=1) if count else 0
        x = left + at * each
        if count:
            shapes.append(_rect(x + 3, top + height - tall, each - 6, tall, "bar"))
            shapes.append(_text(x + each / 2, top + height - tall - 5, str(count), "middle"))
        shapes.append(_text(x, top + height + 16, f"{most * at / classes:g}", "tick middle"))
    shapes.append(_text(left + width, top + height + 16, f"{most:g}", "tick middle"))
    return _svg(shapes, NARROW, top + height + 24, "How many students have how many points")


def bars(rows: Iterable[Bar], title: str) -> Markup:
    """Bars below one another, on one scale."""
    rows = list(rows)
    left, top, each = 180, 6, 24
    width = NARROW - left - 50
    longest = max((sum(length for length, _ in row.parts) for row in rows), default=0) or 1
    shapes = []
    for at, row in enumerate(rows):
        y, x = top + at * each, float(left)
        shapes.append(_text(left - 8, y + 15, _short(row.label), "end"))
        for length, colour in row.parts:
            if length:
                long = width * length / longest
                shapes.append(_rect(x, y + 2, long, each - 8, colour))
                x += long
        shapes.append(_text(x + 8, y + 15, row.note, "tick"))
    return _svg(shapes, NARROW, top + each * len(rows) + 4, title)


def _steps(line: Sequence[int], left: float, width: float, y: object) -> str:
    """The corners of a line that stays level within a step; long ones are thinned, peaks kept."""
    size = max(1, -(-len(line) // STEPS))
    held = [max(line[at : at + size]) for at in range(0, len(line), size)]
    edges = [left + width * at / max(1, len(held)) for at in range(len(held) + 1)]
    assert callable(y)
    corners = [
        f"{x:.1f},{y(value)}"
        for (start, stop), value in zip(pairwise(edges), held, strict=True)
        for x in (start, stop)
    ]
    return " ".join(corners)


def _unit(highest: float) -> tuple[int, str]:
    return next((s, u) for s, u in ((10**6, "MB"), (10**3, "kB"), (1, "B")) if highest >= s)


def _ticks(highest: float) -> list[float]:
    step = next(s for p in range(9) for s in (10**p, 2 * 10**p, 5 * 10**p) if highest / s <= 5)
    return [step * at for at in range(int(highest / step) + 1)]


def _short(text: str, longest: int = 25) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _svg(shapes: Iterable[Markup], width: int, height: float, title: str) -> Markup:
    frame = '<svg viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>{}</svg>'
    return Markup(frame).format(width, round(height), title, title, Markup("").join(shapes))


def _rect(x: float, y: float, width: float, height: float, colour: str) -> Markup:
    shape = '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="2" class="{}"/>'
    return Markup(shape.format(x, y, width, height, escape(colour)))


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> Markup:
    shape = '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>'
    return Markup(shape.format(x1, y1, x2, y2, escape(colour)))


def _text(x: float, y: float, words: str, colour: str) -> Markup:
    shape = '<text x="{:.1f}" y="{:.1f}" class="{}">{}</text>'
    return Markup(shape.format(x, y, escape(colour), escape(words)))
