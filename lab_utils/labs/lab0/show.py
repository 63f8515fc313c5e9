"""Yours beside what is wanted: bytes as little squares, and a table as bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from math import prod
from typing import Any, NamedTuple

from lab_utils.kit.charts.bars import Bar, Row, draw_bars, length
from lab_utils.kit.charts.colors import RIGHT, WRONG
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import document, rectangle, text
from lab_utils.kit.task import Case, Show
from lab_utils.labs.lab0.judge import rows

MOST = 256  # squares; more bytes than this are bars
_SIDE, _STEP, _GAP, _LINE = 11, 13, 5, 32  # of a square, to the next, between elements; in a line
_HEAD, _FOOT = 22, 12


class Strip(NamedTuple):
    """So many bytes, ``each`` of them an element; the title says what they are."""

    title: str
    nbytes: int
    each: int
    colour: str = RIGHT


def squares(strips: Sequence[Strip], caption: str = "") -> Drawing:
    """One square a byte, those of an element close together."""
    words = "\n".join(strip.title for strip in strips)
    return drawing(lambda alone: _svg(strips, alone), words, caption)


def _svg(strips: Sequence[Strip], alone: bool) -> str:
    body, top = [], 8
    for strip in strips:
        body.append(text(8, top + 12, strip.title, font_weight="bold"))
        for place in range(strip.nbytes):
            line, column = divmod(place, _LINE)
            x = 8 + column * _STEP + column // strip.each * _GAP
            y = top + _HEAD + line * (_STEP + _GAP)
            body.append(rectangle(x, y, _SIDE, _SIDE, fill=strip.colour))
        top += _HEAD + -(-strip.nbytes // _LINE) * (_STEP + _GAP) + _FOOT
    finest = min(strip.each for strip in strips)
    longest = min(max(strip.nbytes for strip in strips), _LINE)
    letters = 7 * max(len(strip.title) for strip in strips)
    width = 16 + max(letters, longest * _STEP + longest // finest * _GAP)
    return document(width, top, "; ".join(strip.title for strip in strips), body, alone)


def tensor(case: Case, answer: float) -> Drawing:
    """The bytes of one tensor."""
    nbytes, elements = case.wanted["nbytes"], prod(case.given["shape"])
    colour = RIGHT if answer == nbytes else WRONG
    if elements and answer == int(answer) and 0 <= max(answer, nbytes) <= MOST:
        each = nbytes // elements
        strips = [
            Strip(f"yours: {answer:,} bytes", int(answer), each, colour),
            Strip(f"wanted: {nbytes:,} bytes, {each} for each of {elements}", nbytes, each),
        ]
        return squares(strips, "A square is a byte; those of one element stand together.")
    mark = "" if answer == nbytes else "not as wanted"
    row = Row(case.name, (Bar(length(answer), length(nbytes), elements),), mark)
    caption = "The outline is what is wanted; the dashed line would be one byte for each element."
    return draw_bars(["size (bytes)"], [row], caption)


def table(case: Case, answer: Mapping[str, Any]) -> Drawing | None:
    """The table of the file."""
    if answer["text"] is None:
        return None
    told, bars = rows(answer["text"]), []
    for name, (_, nbytes) in case.wanted["rows"].items():
        mine = None
        with suppress(KeyError, ValueError):
            mine = float(told[name])
        mark = "" if mine == nbytes else "missing" if mine is None else "not as wanted"
        bars.append(Row(name, (Bar(length(mine), length(nbytes)),), mark))
    return draw_bars(["size (bytes)"], bars, "Filled: your file. The outline is what is wanted.")


SHOW: dict[str, Show] = {"1.1": tensor, "1.2": table}
