"""The buffer film: a trace, what each level holds, hits and misses counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from lab_utils.instruments.buffers.show.walk import Access, walk
from lab_utils.kit.charts.colors import GREEN, ORANGE, RED
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.film import StepFilm
from lab_utils.kit.charts.svg import INK, document, line, rectangle, text
from lab_utils.kit.errors import LabError

_SLOT, _SHOWN, _LEFT = 30, 24, 12
_LIT = "#ffd23f"
_FOUND = {1: ("hit", GREEN), 2: ("from the second level", ORANGE), 3: ("from memory", RED)}
_CAPTION = (
    "Top: the trace; the access of this step is lit. Below, what each level holds after it: the "
    "leftmost line is the next to leave, a framed one has just come. Struck out: it left."
)


class Take(NamedTuple):
    """One pair of buffers, walked through."""

    title: str
    sizes: tuple[int, int]
    accesses: list[Access]


class BufferFilm(StepFilm):
    """The widget that ``buffer_film`` returns; its controls are attributes."""

    def __init__(self, trace: Sequence[int], buffers: Mapping[str, tuple[int, int, str]]) -> None:
        if not trace or not buffers:
            raise LabError("a film needs a trace and at least one buffer")
        self.trace = list(trace)
        self.takes = [
            Take(title, (first, second), list(walk(self.trace, first, second, policy)))
            for title, (first, second, policy) in buffers.items()
        ]
        last = len(self.trace) - 1
        super().__init__(last, 700, "access")
        self.static = self.at(last)

    def at(self, step: int) -> Drawing:
        """The picture after an access, counted from 0."""
        words = self._words(step)
        return drawing(lambda alone: self._svg(step, words, alone), words, _CAPTION)

    def _words(self, step: int) -> str:
        lines = [f"access {step + 1} of {len(self.trace)}: line {self.trace[step]}"]
        for take in self.takes:
            found = _FOUND[take.accesses[step].found][0]
            lines.append(f"{take.title}: {found}; {_told(take, step)}")
        return "\n".join(lines)

    def _svg(self, step: int, words: str, alone: bool) -> str:
        begin = max(0, min(step - _SHOWN // 2, len(self.trace) - _SHOWN))
        body = [text(_LEFT, 16, words.partition("\n")[0], font_weight="bold", font_size=13)]
        for place in range(begin, min(begin + _SHOWN, len(self.trace))):
            x = _LEFT + (place - begin) * _SLOT
            lit = place == step
            body += _slot(x, 26, str(self.trace[place]), lit, pale=place > step)
        y = 84.0
        for take in self.takes:
            body += _panel(take, step, y)
            y += 66 + 44 * bool(take.sizes[1])
        longest = max(max(take.sizes) for take in self.takes)
        slots = max(min(len(self.trace), _SHOWN), longest + 4)
        return document(max(_LEFT + slots * _SLOT + 20, 560), y, words, body, alone)


def _told(take: Take, step: int) -> str:
    found = [access.found for access in take.accesses[: step + 1]]
    told = f"{sum(level > 1 for level in found)} misses so far"
    if take.sizes[1]:
        told += f", {sum(level > 2 for level in found)} of them in both levels"
    return told


def _panel(take: Take, step: int, y: float) -> list[str]:
    """One pair of buffers."""
    access = take.accesses[step]
    found, colour = _FOUND[access.found]
    body = [
        text(_LEFT, y, take.title, font_weight="bold"),
        text(_LEFT + 7 * len(take.title) + 14, y, found, fill=colour, font_weight="bold"),
        text(_LEFT + 7 * len(take.title) + 160, y, _told(take, step)),
    ]
    levels = [(access.first, take.sizes[0], access.found > 1)]
    if take.sizes[1]:
        levels.append((access.second, take.sizes[1], access.found > 2))
    for number, (held, size, came) in enumerate(levels):
        top = y + 8 + 44 * number
        for place in range(size):
            name = str(held[place]) if place < len(held) else ""
            new = came and place == len(held) - 1
            body += _slot(_LEFT + place * _SLOT, top, name, new and not number, framed=new)
        if take.sizes[1]:
            after = _LEFT + (max(take.sizes) + 1.6) * _SLOT
            body.append(text(after, top + 17, ("first level", "second level")[number]))
    if access.gone is not None:
        x = _LEFT + take.sizes[0] * _SLOT + 14
        body += _slot(x, y + 8, str(access.gone), False, pale=True)
        body.append(line(x, y + 8, x + _SLOT - 4, y + 34, stroke=RED, stroke_width=2))
    return body


def _slot(
    x: float, y: float, words: str, lit: bool, pale: bool = False, framed: bool = False
) -> list[str]:
    look: dict[str, object] = {"fill": _LIT} if lit else {"fill": "none"}
    look |= {"stroke": "currentColor", "stroke_opacity": 0.2 if pale else 0.5}
    if framed:
        look |= {"stroke": ORANGE, "stroke_opacity": 1, "stroke_width": 3}
    ink: dict[str, object] = {"fill": INK} if lit else {"fill_opacity": 0.45 if pale else 1}
    side = _SLOT - 4
    middle = {"text_anchor": "middle", "font_size": 12}
    return [
        rectangle(x, y, side, side, rx=3, **look),
        text(x + side / 2, y + side / 2 + 4, words, **middle, **ink),
    ]
