"""The row-stationary film: every register of every element, and the terms that each cycle pays."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from lab_utils.instruments.systolic.designs import Conv
from lab_utils.instruments.systolic.show.row_picture import draw_frame
from lab_utils.instruments.systolic.show.rows import Element, Ints, Moment, RowArray
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.film import StepFilm
from lab_utils.kit.errors import LabError

_LONGEST = 600  # cycles of a film
_LARGEST = 8  # rows and columns of an array that can still be read
_CAPTION = (
    "Each box is a processing element. Top: the filter row that stays, one weight a square. "
    "Below: the inputs that it holds, coloured by the row of the input they come from; the pair "
    "that is multiplied now has a frame. Σ is the sum it works on. Diagonal lines carry inputs to "
    "the next element, arrows up carry finished sums. Pale elements wait."
)


class Frame(NamedTuple):
    """One cycle, after it has happened."""

    moment: Moment
    elements: list[list[Element]]
    outputs: Ints
    paid: dict[str, int]
    """Cycles so far, by what they were for."""


class RowFilm(StepFilm):
    """The widget that ``row_film`` returns; its controls are attributes."""

    def __init__(self, conv: Conv, height: int, width: int) -> None:
        self.array = _array(conv, height, width)
        self.frames = _frames(self.array)
        last = len(self.frames) - 1
        super().__init__(last, 700, "cycle")
        self.static = self.at(min(last, self.array.s + self.array.set_rows + self.array.s))

    def at(self, cycle: int) -> Drawing:
        """The picture of a cycle, counted from 0."""
        words = self._words(cycle)
        frame, total = self.frames[cycle], Counter(f.moment.phase for f in self.frames)
        return drawing(
            lambda alone: draw_frame(self.array, frame, total, words, alone), words, _CAPTION
        )

    def _words(self, cycle: int) -> str:
        frame = self.frames[cycle]
        busy = sum(one.product is not None for line in frame.elements for one in line)
        doing = {
            "load": "filter rows are loaded",
            "stream": f"strip {frame.moment.strip // self.array.width + 1} streams",
            "drain": f"strip {frame.moment.strip // self.array.width + 1} drains",
        }[frame.moment.phase]
        paid = ", ".join(f"{name} {many}" for name, many in frame.paid.items())
        elements = self.array.height * self.array.width
        return (
            f"cycle {cycle + 1} of {len(self.frames)}: {doing}; {busy} of {elements} elements "
            f"multiply; paid so far: {paid}"
        )


def _array(conv: Conv, height: int, width: int) -> RowArray:
    """The array with small numbers in it."""
    if max(height, width) > _LARGEST:
        raise LabError(f"an array of {height} x {width} cannot be read: take at most {_LARGEST}")
    rng = np.random.default_rng(3)
    image = rng.integers(0, 10, (conv.channels, conv.height, conv.width))
    filters = rng.integers(-2, 3, (conv.filters, conv.channels, *conv[3:5]))
    if conv.height < conv.filter_height or conv.width < conv.filter_width:
        raise LabError("the filter is larger than the input: there is no output")
    return RowArray(image, filters, conv.stride, height, width)


def _frames(array: RowArray) -> list[Frame]:
    frames: list[Frame] = []
    paid = dict.fromkeys(("load", "stream", "drain"), 0)
    for moment in array.run():
        paid[moment.phase] += 1
        frames.append(Frame(moment, deepcopy(array.elements), array.outputs.copy(), dict(paid)))
        if len(frames) > _LONGEST:
            raise LabError(f"more than {_LONGEST} cycles make no film: take a smaller layer")
    return frames
