"""The strategy map: every strategy of a system as a cell, coloured by time, with what fits.

Two triangles, without and with recomputation. A row has a degree of tp, a column one of sp; dp is
what is left. The thick line is the frontier: inside of it a device has room enough.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.charts.axes import turned
from lab_utils.kit.charts.colors import ORANGE
from lab_utils.kit.charts.drawn import Drawing, drawing, stacked
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.charts.svg import document, line, rectangle, text
from lab_utils.kit.errors import LabError
from lab_utils.labs.lab4b.rows import Row

ROOMS = (10, 20, 40, 80, 120, 160, 320, 640, 1280, 2560)
_CELL_W, _CELL_H, _LEFT, _TOP, _GAP = 50, 34, 58, 58, 74
#: From fast to slow; on the first two dark ink can be read, on the last two white.
_COLOURS = ((253, 231, 37), (109, 205, 89), (49, 104, 142), (68, 1, 84))
_INKS = ("#222", "#fff")
_CAPTION = (
    "Bright is fast, dark is slow. Thick line: inside of it a device has room enough; what does "
    "not fit is faded. Star: the fastest that fits. Ring: the fastest with endless memory."
)
Key = tuple[int, int, bool]
"""tp, sp, recompute."""


class StrategyMap(Live):
    """The widget that ``strategy_map`` returns; its controls are attributes."""

    def __init__(self, systems: Mapping[str, Sequence[Row]], room: float) -> None:
        if not systems or not all(systems.values()):
            raise LabError("a strategy map needs rows: strategies with their seconds and bytes")
        w = widgets()
        self.systems = systems
        rooms = sorted({*ROOMS, room})
        options = [(f"{one:g} GB", one) for one in rooms]
        self.room = w.SelectionSlider(
            options=options, value=room, description="memory", layout={"width": "60%"}
        )
        self.system = w.ToggleButtons(options=list(systems), style={"button_width": "auto"})
        self.picture = w.HTML()
        for control in (self.room, self.system):
            control.observe(lambda _: self._move(), "value")
        self.widget = w.VBox([self.system, self.room, self.picture])
        self._move()
        self.static = stacked(*(self.at(name, room) for name in systems))

    def _move(self) -> None:
        self.picture.value = self.at(self.system.value, self.room.value).html

    def at(self, system: str, room: float) -> Drawing:
        """The map of one system with devices of ``room`` GB."""
        rows = self.systems[system]
        words = map_words(system, rows, room)
        return drawing(lambda alone: map_svg(system, rows, room, alone), words, _CAPTION)


def map_words(system: str, rows: Sequence[Row], room: float) -> str:
    """What the map shows, in a sentence."""
    fits = [row for row in rows if row.nbytes <= room * 1e9]
    best = min(rows, key=lambda row: row.seconds)
    told = f"{system}: fastest of all {best.strategy} ({best.seconds:.2f} s)"
    if not fits:
        return f"{told}; with {room:g} GB none of {len(rows)} fits"
    found = min(fits, key=lambda row: row.seconds)
    return (
        f"{told}; with {room:g} GB {len(fits)} of {len(rows)} fit, "
        f"the fastest is {found.strategy} ({found.seconds:.2f} s)"
    )


def map_svg(system: str, rows: Sequence[Row], room: float, alone: bool) -> str:
    """The picture; ``alone`` for a file."""
    cells: dict[Key, Row] = {
        (row.strategy.tp, row.strategy.sp, row.strategy.recompute): row for row in rows
    }
    tps, sps = (sorted({key[place] for key in cells}) for place in (0, 1))
    seconds = [row.seconds for row in rows]
    scale = (math.log(min(seconds)), math.log(max(seconds)) or 1.0)
    fits = [row for row in rows if row.nbytes <= room * 1e9]
    stars = {id(min(fits, key=lambda row: row.seconds))} if fits else set()
    rings = {id(min(rows, key=lambda row: row.seconds))}
    wide = len(sps) * _CELL_W
    words = map_words(system, rows, room)
    body = [text(_LEFT, 18, words, font_size=12, font_weight="bold")]
    for half, again in enumerate((False, True)):
        left = _LEFT + half * (wide + _GAP)
        body += _frame(left, tps, sps, again)
        for y, tp in enumerate(tps):
            for x, sp in enumerate(sps):
                row = cells.get((tp, sp, again))
                if row is None:
                    continue
                at = (left + x * _CELL_W, _TOP + y * _CELL_H)
                body += _cell(at, row, _shade(row.seconds, scale), row.nbytes <= room * 1e9)
                body += _marks(at, id(row) in stars, id(row) in rings)
        body += _frontier(left, tps, sps, cells, again, room)
    width = _LEFT + 2 * wide + _GAP + 16
    return document(width, _TOP + len(tps) * _CELL_H + 34, words, body, alone)


def _frame(left: float, tps: Sequence[int], sps: Sequence[int], again: bool) -> list[str]:
    high = len(tps) * _CELL_H
    name = "with recomputation" if again else "without recomputation"
    body = [text(left, 38, name), turned(left - 38, _TOP + high / 2, "tp")]
    for place, tp in enumerate(tps):
        y = _TOP + (place + 0.62) * _CELL_H
        body.append(text(left - 8, y, str(tp), text_anchor="end", font_size=10))
    for place, sp in enumerate(sps):
        x = left + (place + 0.5) * _CELL_W
        body.append(text(x, _TOP - 5, str(sp), text_anchor="middle", font_size=10))
    middle = left + len(sps) * _CELL_W / 2
    body.append(text(middle + 90, 38, "sp (across)", text_anchor="middle", font_size=10))
    return body


def _shade(seconds: float, scale: tuple[float, float]) -> float:
    low, high = scale
    return 0.0 if high <= low else (math.log(seconds) - low) / (high - low)


def _colour(share: float) -> tuple[str, str]:
    """Fill, and an ink that can be read on it."""
    at = min(max(share, 0.0), 1.0) * (len(_COLOURS) - 1)
    place = min(int(at), len(_COLOURS) - 2)
    part = at - place
    mixed = [
        round(a + (b - a) * part) for a, b in zip(_COLOURS[place], _COLOURS[place + 1], strict=True)
    ]
    light = 0.299 * mixed[0] + 0.587 * mixed[1] + 0.114 * mixed[2]
    return f"rgb({','.join(map(str, mixed))})", _INKS[0] if light > 125 else _INKS[1]


def _cell(at: tuple[float, float], row: Row, share: float, fits: bool) -> list[str]:
    x, y = at
    fill, ink = _colour(share)
    told = f"{row.strategy}: {row.seconds:.2f} s, {row.nbytes / 1e9:,.1f} GB"
    box = rectangle(x + 1, y + 1, _CELL_W - 2, _CELL_H - 2, fill=fill, rx=3)
    middle, faded = x + _CELL_W / 2, "" if fits else ' opacity="0.38"'
    # What is faded shows the page: its own ink would not be readable on a dark one.
    look = {"text_anchor": "middle", "fill": ink if fits else "currentColor"}
    numbers = [
        text(middle, y + 14, f"{row.seconds:.3g} s", font_size=10, **look),
        text(middle, y + 27, f"dp {row.strategy.dp}", font_size=9, **look),
    ]
    box = f"<g{faded}><title>{told}</title>{box}</g>"
    return [box, *numbers]


def _marks(at: tuple[float, float], star: bool, ring: bool) -> list[str]:
    x, y = at
    body = []
    if star:
        points = []
        for place in range(10):
            size, turn = (6.5, 2.8)[place % 2], math.pi * (place / 5 - 0.5)
            points.append(
                f"{x + 43 + size * math.cos(turn):.1f},{y + 25 + size * math.sin(turn):.1f}"
            )
        body.append(f'<polygon points="{" ".join(points)}" fill="{ORANGE}" stroke="#fff"/>')
    if ring:
        body.append(
            f'<circle cx="{x + 8}" cy="{y + 25}" r="4.5" fill="#fff" stroke="{ORANGE}" '
            f'stroke-width="2.4"/>'
        )
    return body


def _frontier(
    left: float,
    tps: Sequence[int],
    sps: Sequence[int],
    cells: Mapping[Key, Row],
    again: bool,
    room: float,
) -> list[str]:
    """Lines between cells that fit and their neighbours that do not, or are not there."""

    def fits(y: int, x: int) -> bool:
        if not (0 <= y < len(tps) and 0 <= x < len(sps)):
            return False
        row = cells.get((tps[y], sps[x], again))
        return row is not None and row.nbytes <= room * 1e9

    body = []
    look: dict[str, Any] = {"stroke_width": 3, "stroke": ORANGE, "stroke_linecap": "round"}
    for y in range(len(tps)):
        for x in range(len(sps)):
            if not fits(y, x):
                continue
            a, b = left + x * _CELL_W, _TOP + y * _CELL_H
            c, d = a + _CELL_W, b + _CELL_H
            sides = {
                (y - 1, x): (a, b, c, b),
                (y + 1, x): (a, d, c, d),
                (y, x - 1): (a, b, a, d),
                (y, x + 1): (c, b, c, d),
            }
            body += [line(*ends, **look) for other, ends in sides.items() if not fits(*other)]
    return body
