"""The systolic-array film: the wavefront crossing the PEs, phases coloured, idle PEs hatched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lab_utils.instruments.systolic.show.registers import NOTHING, Run, phases, run
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.film import StepFilm
from lab_utils.kit.charts.svg import INK, Texture, document, line, rectangle, text
from lab_utils.kit.errors import LabError

COLOURS = {"load": "#e9c46a", "fill": "#7fb3e6", "steady": "#6cc08b", "drain": "#f0a868"}
IDLE = Texture("idle", "#c9c9c9", "M0 8L8 0M-2 2L2 -2M6 10L10 6")
_NAMES = {"os": "output-stationary", "ws": "weight-stationary", "is": "input-stationary"}
_MOVES = {
    "os": ("inputs →", "weights ↓"),
    "ws": ("inputs →", "weights stay, sums ↓"),
    "is": ("weights →", "inputs stay, sums ↓"),
}
_GRID, _LARGEST, _SMALLEST = 176, 40, 12  # pixels of a grid, of a PE at most and at least
_LEFT, _TOP, _GAP, _PANEL, _LINE = 64, 76, 34, 200, 54
_CAPTION = (
    "Yellow: what stays is being loaded. Blue: fill. Green: as busy as it gets. Orange: drain. "
    "Hatched: a PE that does nothing. A number is the step in the PE's registers. "
    "Below: busy PEs in each cycle."
)


class Take(NamedTuple):
    """One dataflow: its title, its run, and what each cycle is for."""

    title: str
    dataflow: str
    run: Run
    phases: list[str]

    @property
    def utilisation(self) -> float:
        """Share of all PEs and all cycles in which something is multiplied."""
        return float(self.run.busy.mean())


class SystolicFilm(StepFilm):
    """The widget that ``systolic_film`` returns; its controls are attributes."""

    def __init__(
        self, dataflows: Sequence[str], gemm: Sequence[int], height: int, width: int
    ) -> None:
        self.takes = [take(dataflow, gemm, height, width) for dataflow in dataflows]
        if not self.takes:
            raise LabError("a film needs at least one dataflow: os, ws or is")
        last = max(one.run.cycles for one in self.takes)
        super().__init__(last, 350, "cycle", first=1)
        # A page without a kernel shows the moment at which most is to be seen.
        self.static = self.at(_telling(self.takes))

    def at(self, cycle: int) -> Drawing:
        """The picture of a cycle; they count from 1."""
        words = "\n".join(_words(one, cycle) for one in self.takes)
        return drawing(lambda alone: _svg(self.takes, cycle, words, alone), words, _CAPTION)


def take(dataflow: str, gemm: Sequence[int], height: int, width: int) -> Take:
    """Run an M x K by K x N product of small numbers; ``gemm`` is (M, N, K)."""
    m, n, k = gemm
    rng = np.random.default_rng(0)
    ran = run(dataflow, rng.integers(1, 5, (m, k)), rng.integers(1, 5, (k, n)), height, width)
    return Take(_NAMES[dataflow], dataflow, ran, phases(ran))


def _telling(takes: Sequence[Take]) -> int:
    """A cycle in which the wavefront is on its way in most of them."""
    filling = [
        next((n for n, name in enumerate(one.phases, 1) if name == "fill"), 1) for one in takes
    ]
    return max(filling) + 2


def _words(one: Take, cycle: int) -> str:
    many, pes = one.run.cycles, one.run.busy[0].size
    if cycle > many:
        return f"{one.title}: done after {many} cycles, utilisation {one.utilisation:.0%}"
    busy, folds = int(one.run.busy[cycle - 1].sum()), int(one.run.folds[-1]) + 1
    fold = f", fold {one.run.folds[cycle - 1] + 1} of {folds}" if folds > 1 else ""
    phase = one.phases[cycle - 1]
    return f"{one.title}: cycle {cycle} of {many}{fold}, {phase}, {busy} of {pes} PEs busy"


def _svg(takes: Sequence[Take], cycle: int, words: str, alone: bool) -> str:
    body: list[str] = []
    left, bottom = 0.0, 0.0
    for one in takes:
        parts, high = _panel(one, cycle, left)
        body += parts
        left += _LEFT + _PANEL + _GAP
        bottom = max(bottom, high)
    return document(round(left), round(bottom), words, body, alone, [IDLE])


def _panel(one: Take, cycle: int, left: float) -> tuple[list[str], float]:
    """One dataflow: its array, and the line of busy PEs below; also where it ends."""
    height, width = one.run.busy.shape[1:]
    side = max(_SMALLEST, min(_LARGEST, _GRID / max(height, width)))
    x0, across, down = left + _LEFT, *_MOVES[one.dataflow]
    _title, _, told = _words(one, cycle).partition(": ")
    where, _, busy = told.rpartition(", ")
    body = [
        text(left + 8, 16, f"{one.title} ({one.dataflow})", font_weight="bold", font_size=13),
        text(left + 8, 33, where),
        text(left + 8, 49, busy),
        text(x0, _TOP - 8, down, font_size=10),
        text(x0 - 6, _TOP + height * side / 2 + 4, across, text_anchor="end", font_size=10),
    ]
    for row in range(height):
        for column in range(width):
            at = (x0 + column * side, _TOP + row * side, side)
            body.append(_pe(one, min(cycle, one.run.cycles + 1), row, column, at))
    foot = _TOP + height * side + 24
    return [*body, *_line(one, cycle, x0, foot)], foot + _LINE + 34


def _pe(one: Take, cycle: int, row: int, column: int, at: tuple[float, float, float]) -> str:
    """One PE: its colour is the phase, hatched if it does nothing, with the step it is at."""
    x, y, side = at
    done = cycle > one.run.cycles
    busy = not done and bool(one.run.busy[cycle - 1, row, column])
    loading = not done and bool(one.run.loading[cycle - 1])
    fill = COLOURS["load" if loading else one.phases[cycle - 1]] if busy or loading else IDLE.paint
    look = {"fill": fill, "stroke": "currentColor", "stroke_opacity": 0.4}
    parts = [rectangle(x + 0.5, y + 0.5, side - 1, side - 1, **look)]
    step = NOTHING if done else int(one.run.steps[cycle - 1, row, column])
    if busy and side >= 16:
        middle = {"text_anchor": "middle", "font_size": 11 if side >= 22 else 9, "fill": INK}
        parts.append(text(x + side / 2, y + side / 2 + 4, str(step + 1), **middle))
    return "".join(parts)


def _line(one: Take, cycle: int, left: float, top: float) -> list[str]:
    """Busy PEs in each cycle, coloured as the phases, with a mark at the cycle shown."""
    busy, pes = one.run.busy.sum(axis=(1, 2)), one.run.busy[0].size
    wide, foot = _PANEL / one.run.cycles, top + _LINE
    body = [
        line(left, top, left + _PANEL, top, stroke_opacity=0.2),
        line(left, foot, left + _PANEL, foot),
        text(left - 6, top + 4, f"{pes}", text_anchor="end", font_size=10),
        text(left - 6, foot + 4, "0", text_anchor="end", font_size=10),
    ]
    for number, (count, phase) in enumerate(zip(busy, one.phases, strict=True)):
        # A cycle of loading has no busy PE: a low bar shows that it costs time all the same.
        high = _LINE * (count / pes if count else 0.06 if phase == "load" else 0)
        if high:
            x = left + number * wide
            body.append(rectangle(x, foot - high, wide, round(high, 1), fill=COLOURS[phase]))
    x = left + (min(cycle, one.run.cycles) - 0.5) * wide
    body.append(line(x, top - 6, x, foot + 4, stroke_width=1.6))
    told = f"{one.run.cycles} cycles, utilisation {one.utilisation:.0%}"
    body.append(text(left, foot + 20, told))
    return body
