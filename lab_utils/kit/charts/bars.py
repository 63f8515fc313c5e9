"""Rows of bars: yours filled, what is wanted as an outline around it, and a word for each row.

A bar reaches from one number to another, so that it can also be a stretch of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lab_utils.kit.charts.colors import NEEDLESS, RIGHT, WRONG
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import document, escaped, line, rectangle, text
from lab_utils.kit.words import size

Span = tuple[float, float]
_ROW, _BAR, _TOP, _GAP = 26, 13, 46, 26
_LETTER = 6.2  # width of a letter of font size 11, on average


@dataclass(frozen=True)
class Bar:
    """One number, or a stretch: ``yours``, and ``wanted`` where that is known.

    ``tick`` is a third number to compare with, such as the one before a change. ``colour``
    is that of yours where comparing it with what is wanted does not tell it.
    """

    yours: Span | None
    wanted: Span | None = None
    tick: float | None = None
    colour: str = ""


@dataclass(frozen=True)
class Row:
    """A bar for each column; ``mark`` says what is wrong with them, or nothing."""

    name: str
    bars: tuple[Bar, ...]
    mark: str = ""


class Column(NamedTuple):
    """What the bars of a column show, and in which unit."""

    title: str
    unit: str

    def __str__(self) -> str:
        return f"{self.title} ({self.unit})"


def _column_of(words: str) -> Column:
    """The column that is called ``size (bytes)``."""
    title, _, unit = words.removesuffix(")").rpartition(" (")
    return Column(title, unit)


def length(value: float | None) -> Span | None:
    """The bar of a number: it begins at zero."""
    return None if value is None else (0.0, value)


def draw_bars(columns: Sequence[str], rows: Sequence[Row], caption: str) -> Drawing:
    """Rows of bars, one scale a column.

    Args:
        columns: what each column shows, with its unit in brackets at the end: "size (bytes)".
        rows: a row for each thing that is told of.
        caption: how to read it.
    """
    told = [_column_of(one) for one in columns]
    return drawing(lambda alone: _svg(told, rows, alone), _words(told, rows), caption)


def _svg(columns: Sequence[Column], rows: Sequence[Row], alone: bool) -> str:
    left = 16 + _LETTER * max((len(row.name) for row in rows), default=0)
    wide = {1: 420, 2: 260}.get(len(columns), 190)
    right = left + len(columns) * (wide + _GAP)
    bottom = _TOP + _ROW * len(rows)
    body = []
    for place, column in enumerate(columns):
        bars = [row.bars[place] for row in rows]
        body += _column(column, bars, rows, left + place * (wide + _GAP), wide)
    for place, row in enumerate(rows):
        y = _TOP + (place + 0.5) * _ROW + 4
        body.append(text(left - 8, y, row.name, text_anchor="end"))
        told = {"fill": WRONG, "font_weight": "bold"} if row.mark else {"fill": RIGHT}
        body.append(text(right, y, f"✗ {row.mark}" if row.mark else "✓", **told))
    marks = max((len(row.mark) for row in rows), default=0)
    wrong = [row for row in rows if row.mark]
    label = (
        f"{', '.join(map(str, columns))}: {len(rows) - len(wrong)} of {len(rows)} rows are right"
    )
    width = right + 24 + 1.1 * _LETTER * marks
    return document(round(width), bottom + 10, label, body, alone)


def _column(
    column: Column, bars: Sequence[Bar], rows: Sequence[Row], left: float, wide: float
) -> list[str]:
    spans = [span for bar in bars for span in (bar.yours, bar.wanted) if span]
    ticks = [bar.tick for bar in bars if bar.tick is not None]
    most = max([high for _, high in spans] + ticks, default=0)
    bottom = _TOP + _ROW * len(rows)

    def x(value: float) -> float:
        return left + max(value, 0) / (most or 1) * wide

    small = {"font_size": 10, "fill_opacity": 0.8}
    end = size(most, column.unit) if most else ""
    parts = [
        text(left, 18, str(column), font_weight="bold"),
        text(left, _TOP - 8, "0", **small),
        text(left + wide, _TOP - 8, end, text_anchor="end", **small),
        line(left, _TOP, left, bottom, stroke_opacity=0.5),
        line(left + wide, _TOP, left + wide, bottom, stroke_opacity=0.15),
    ]
    for place, (bar, row) in enumerate(zip(bars, rows, strict=True)):
        y = _TOP + place * _ROW + (_ROW - _BAR) / 2
        told = escaped(f"{row.name}, {column}: {_told(bar, column.unit)}")
        parts.append(f"<g><title>{told}</title>")
        if bar.yours:
            colour = bar.colour or _colour(bar.yours, bar.wanted, row)
            parts.append(_box(x(bar.yours[0]), x(bar.yours[1]), y, _BAR, fill=colour))
        if bar.wanted:
            look = {"fill": "none", "stroke": "currentColor", "stroke_width": 1.6}
            if not bar.yours:
                look |= {"stroke": WRONG, "stroke_dasharray": "5 3"}
            parts.append(_box(x(bar.wanted[0]), x(bar.wanted[1]), y - 2, _BAR + 4, **look))
        if bar.tick is not None:
            at = x(bar.tick)
            parts.append(line(at, y - 4, at, y + _BAR + 4, stroke_width=2, stroke_dasharray="2 2"))
        parts.append("</g>")
    return parts


def _box(left: float, right: float, y: float, high: float, **look: Any) -> str:
    """A box from ``left`` to ``right``; also nothing can be seen."""
    return rectangle(left, y, max(right - left, 2), high, **look)


def _colour(mine: Span, wanted: Span | None, row: Row) -> str:
    if wanted is None:
        return NEEDLESS if row.mark else RIGHT
    pairs = zip(mine, wanted, strict=True)
    return RIGHT if all(abs(a - b) <= 1e-6 * max(abs(b), 1) for a, b in pairs) else WRONG


def _told(bar: Bar, unit: str) -> str:
    def told(span: Span | None) -> str:
        if span is None:
            return "nothing"
        ends = [size(end, unit) for end in span if end or span[1] == 0]
        return " to ".join(dict.fromkeys(ends))

    words = f"yours {told(bar.yours)}"
    return words + (f", wanted {told(bar.wanted)}" if bar.wanted else "")


def _words(columns: Sequence[Column], rows: Sequence[Row]) -> str:
    lines = []
    for row in rows:
        told = "; ".join(
            f"{column.title} {_told(bar, column.unit)}"
            for column, bar in zip(columns, row.bars, strict=True)
        )
        lines.append(f"{'✗' if row.mark else '✓'} {row.name}: {told}")
    return "\n".join(lines)
