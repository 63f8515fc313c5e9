"""Rows of bars that are made of parts, with a mark for what was measured and a line for a limit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE, RED
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import Texture, document, escaped, line, rectangle, text

_ROW, _BAR, _TOP, _WIDE = 30, 16, 62, 430
_LETTER = 6.2  # width of a letter of font size 11, on average
#: Parts are told apart by their lines as well as by their colours.
_LOOKS = (
    Texture("plain", BLUE, ""),
    Texture("rising", ORANGE, "M0 8L8 0"),
    Texture("dotted", GREEN, "M0 4H8"),
)


@dataclass(frozen=True)
class Stack:
    """One bar: its parts by name, what was measured, and words behind it."""

    name: str
    parts: Mapping[str, float]
    measured: float | None = None
    words: str = ""

    @property
    def total(self) -> float:
        """All parts."""
        return sum(self.parts.values())


@dataclass(frozen=True)
class Scale:
    """What the bars mean: a unit of so many, and where room ends."""

    unit: str
    each: float = 1.0
    limit: float | None = None
    limit_name: str = ""
    most: float | None = None
    """As far as the axis reaches; what the bars need, if it is not given."""


def draw_stacks(stacks: Sequence[Stack], scale: Scale, caption: str = "") -> Drawing:
    """The bars as a picture and in words."""
    words = "\n".join(f"{stack.name}: {_told(stack, scale)}" for stack in stacks)
    return drawing(lambda alone: stacks_svg(stacks, scale, alone), words, caption)


def _told(stack: Stack, scale: Scale) -> str:
    parts = ", ".join(f"{name} {value / scale.each:,.4g}" for name, value in stack.parts.items())
    words = f"{stack.total / scale.each:,.4g} {scale.unit}"
    words += f" ({parts})" if len(stack.parts) > 1 else ""
    if stack.measured is not None:
        words += f", measured {stack.measured / scale.each:,.4g} {scale.unit}"
    if scale.limit is not None and stack.total > scale.limit:
        words += ", does not fit"
    return words + (f", {stack.words}" if stack.words else "")


def stacks_svg(stacks: Sequence[Stack], scale: Scale, alone: bool) -> str:
    """The picture."""
    ends = [stack.total for stack in stacks] + [stack.measured or 0 for stack in stacks]
    most = scale.most or 1.06 * max([*ends, scale.limit or 0, 1e-30])
    left = 18 + 1.15 * _LETTER * max((len(stack.name) for stack in stacks), default=0)
    bottom = _TOP + _ROW * len(stacks)
    names = list(dict.fromkeys(name for stack in stacks for name in stack.parts))
    paint = {name: _LOOKS[place % len(_LOOKS)].paint for place, name in enumerate(names)}

    def x(value: float) -> float:
        return left + min(value / most, 1.0) * _WIDE

    body = [*_key(names, paint, stacks, left), *_axis(scale, most, x(0), bottom)]
    for place, stack in enumerate(stacks):
        y = _TOP + place * _ROW + (_ROW - _BAR) / 2
        too_much = scale.limit is not None and stack.total > scale.limit
        body.append(f"<g><title>{escaped(f'{stack.name}: {_told(stack, scale)}')}</title>")
        done = 0.0
        for name, value in stack.parts.items():
            start, done = done, done + value
            body.append(rectangle(x(start), y, x(done) - x(start), _BAR, fill=paint[name]))
        if stack.measured is not None:
            at = x(stack.measured)
            body.append(line(at, y - 5, at, y + _BAR + 5, stroke_width=3))
        body.append("</g>")
        told = {"fill": RED, "font_weight": "bold"} if too_much else {}
        words = ("✗ " if too_much else "") + stack.words
        body.append(text(left - 8, y + 12, stack.name, text_anchor="end"))
        body.append(text(left + _WIDE + 10, y + 12, words, **told))
    if scale.limit is not None:
        at = x(scale.limit)
        body.append(line(at, _TOP - 4, at, bottom, stroke_dasharray="6 3", stroke_width=1.8))
        body.append(text(at, bottom + 30, scale.limit_name, text_anchor="middle"))
    wide = left + _WIDE + 30 + _LETTER * 1.1 * max((len(s.words) for s in stacks), default=0)
    label = "; ".join(f"{stack.name}: {_told(stack, scale)}" for stack in stacks)
    return document(round(wide), bottom + 40, label, body, alone, _LOOKS)


def _key(
    names: Sequence[str], paint: Mapping[str, str], stacks: Sequence[Stack], left: float
) -> list[str]:
    parts, at = [], left
    for name in names:
        parts.append(rectangle(at, 8, 14, 12, fill=paint[name]))
        parts.append(text(at + 20, 18, name))
        at += 44 + _LETTER * len(name)
    if any(stack.measured is not None for stack in stacks):
        parts.append(line(at + 4, 4, at + 4, 24, stroke_width=3))
        parts.append(text(at + 14, 18, "measured on H100s"))
    return parts


def _axis(scale: Scale, most: float, left: float, bottom: float) -> list[str]:
    step = _round_step(most / scale.each / 5)
    parts = [line(left, _TOP, left, bottom)]
    for count in range(int(most / scale.each / step) + 1):
        at = left + count * step * scale.each / most * _WIDE
        parts.append(line(at, _TOP, at, bottom, stroke_opacity=0.13))
        mark = f"{count * step:,g}" + (f" {scale.unit}" if not count else "")
        parts.append(text(at, _TOP - 8, mark, text_anchor="middle", font_size=10))
    return parts


def _round_step(rough: float) -> float:
    """1, 2 or 5 times a power of ten, not below ``rough``."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * n for n in (1, 2, 5, 10) if power * n >= rough * (1 - 1e-9))
