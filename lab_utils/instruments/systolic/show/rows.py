"""A row-stationary array, register by register: the values of a convolution, cycle by cycle.

A processing element keeps one row of a filter and slides it over one row of the input, one
multiply-accumulate a cycle. It knows no formula of the time: it counts the cycles that it ran,
and every value carries the place that it came from, so that a wrong one is found at once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


class Tagged(NamedTuple):
    """A value on a wire or in a register, and where it belongs."""

    place: tuple[int, int]
    """Row and column in the input, or in the output."""
    value: int


@dataclass
class Element:
    """One processing element and its registers."""

    weights: list[int] = field(default_factory=list)
    """The filter row that it keeps."""
    window: list[Tagged] = field(default_factory=list)
    """The last inputs that it received, as many as a filter row is long."""
    partial: int = 0
    """The sum that it is working on."""
    product: tuple[int, Tagged] | None = None
    """Weight and input of this cycle."""
    tap: int | None = None
    """Which of its weights that is."""
    came: bool = False
    """Whether an input came in this cycle."""
    up: Tagged | None = None
    """The finished sum that it hands to the element above it, or out of the array."""
    output_row: int | None = None
    """The row of the output that it works for; None if it has nothing to do."""
    input_row: int | None = None
    source: tuple[int, int] | None = None
    """The element that hands it its inputs; None if they come from the buffer."""


class Moment(NamedTuple):
    """One cycle: what it is paid for, and where in the loops it is."""

    phase: str
    """``load``: filter rows come in; ``stream``: rows slide; ``drain``: the last sums go up."""
    filters: int
    channel: int
    fold: int
    strip: int
    cycle: int
    """Within its phase."""


class RowArray:
    """An array of ``height`` x ``width`` elements with a convolution to do.

    Attributes:
        image: C x rows x columns.
        filters: K x C x rows x columns.
        elements: by row and column of the array.
        outputs: K x rows x columns; filled while it runs.
        fetched: inputs that came from the buffer, not from a neighbour.
    """

    def __init__(self, image: Ints, filters: Ints, stride: int, height: int, width: int) -> None:
        self.image, self.filters, self.stride = image, filters, stride
        self.height, self.width = height, width
        many, _, self.r, self.s = filters.shape
        self.rows = (image.shape[1] - self.r) // stride + 1
        self.columns = (image.shape[2] - self.s) // stride + 1
        self.set_rows = min(self.r, height)
        self.sets = max(1, height // self.r)
        self.outputs = np.zeros((many, self.rows, self.columns), dtype=np.int64)
        self.fetched = 0
        self._clear()

    def run(self) -> Iterator[Moment]:
        """All cycles, one after the other; look at ``elements`` after each."""
        many, channels = self.filters.shape[:2]
        for first in range(0, many, self.sets):
            for channel in range(channels):
                for fold in range(0, self.r, self.set_rows):
                    yield from self._filter(first, channel, fold)

    def _filter(self, first: int, channel: int, fold: int) -> Iterator[Moment]:
        """One filter row in each element: load it, then slide it over the whole input."""
        self._clear()
        for cycle in range(self.s):
            for row, line in enumerate(self.elements):
                kernel, part = first + row // self.set_rows, fold + row % self.set_rows
                if self._is_live(row, kernel, part):
                    for element in line:
                        element.weights.append(int(self.filters[kernel, channel, part, cycle]))
            yield Moment("load", first, channel, fold, 0, cycle)
        for strip in range(0, self.rows, self.width):
            self._begin(first, fold, strip)
            cycle = 0
            while self._tick(cycle, first, channel):
                streams = cycle < self.s * self.columns
                late = 0 if streams else self.s * self.columns
                phase = "stream" if streams else "drain"
                yield Moment(phase, first, channel, fold, strip, cycle - late)
                cycle += 1

    def _begin(self, first: int, fold: int, strip: int) -> None:
        """Elements forget the rows of the last strip; filter rows stay."""
        for row, line in enumerate(self.elements):
            part = fold + row % self.set_rows
            for column, element in enumerate(line):
                out = strip + column
                busy = self._is_live(row, first + row // self.set_rows, part) and out < self.rows
                line[column] = Element(element.weights)
                line[column].output_row = out if busy else None
                line[column].input_row = out * self.stride + part if busy else None
        for row, line in enumerate(self.elements):
            for column, element in enumerate(line):
                element.source = self._source_of(row, column)
        self._wires: dict[tuple[int, int], deque[Tagged | None]] = {
            (row, column): deque([None] * self.stride)
            for row in range(self.height)
            for column in range(self.width)
        }

    def _tick(self, cycle: int, first: int, channel: int) -> bool:
        """One cycle of all elements; False if all had finished before it."""
        below = {
            (row, column): element.up
            for row, line in enumerate(self.elements)
            for column, element in enumerate(line)
        }
        arrived = {place: wire.popleft() for place, wire in self._wires.items()}
        is_running = False
        steps = self.s * self.columns
        for row, line in enumerate(self.elements):
            late = self.set_rows - 1 - row % self.set_rows  # the lowest row of a set begins
            step = cycle - late
            is_used = row < self.sets * self.set_rows
            is_running |= is_used and step < steps
            for column, element in enumerate(line):
                element.product, element.tap, element.up, element.came = None, None, None, False
                if is_used and 0 <= step < steps:
                    self._work(row, column, step, channel, arrived)
                    self._pass_on(row, column, step, first, below)
                sent = element.window[-1] if element.came else None
                self._wires[row, column].append(sent)
        return is_running

    def _work(
        self,
        row: int,
        column: int,
        step: int,
        channel: int,
        arrived: dict[tuple[int, int], Tagged | None],
    ) -> None:
        """The product of this cycle."""
        element = self.elements[row][column]
        if element.output_row is None or element.input_row is None:
            return
        x, place = divmod(step, self.s)
        wanted = (element.input_row, x * self.stride + place)
        if not any(one.place == wanted for one in element.window):
            if element.source:
                came = arrived[element.source]
                assert came is not None, (row, column, wanted)
                assert came.place == wanted, (row, column, wanted, came)
            else:
                came = Tagged(wanted, int(self.image[channel, wanted[0], wanted[1]]))
                self.fetched += 1
            element.window = [*element.window, came][-self.s :]
            element.came = True
        value = next(one for one in element.window if one.place == wanted)
        element.product, element.tap = (element.weights[place], value), place
        element.partial = (element.partial if place else 0) + element.weights[place] * value.value

    def _pass_on(
        self,
        row: int,
        column: int,
        step: int,
        first: int,
        below: dict[tuple[int, int], Tagged | None],
    ) -> None:
        """With the last product of an output the sum from below is added, and goes on up."""
        element = self.elements[row][column]
        x, place = divmod(step, self.s)
        if place < self.s - 1:
            return
        came = None
        if row % self.set_rows < self.set_rows - 1:
            came = below[row + 1, column]
        total = element.partial + (came.value if came else 0)
        out = element.output_row
        if out is None:
            return
        assert came is None or came.place == (out, x), (row, column, came)
        element.up = Tagged((out, x), total)
        if not row % self.set_rows:
            self.outputs[first + row // self.set_rows, out, x] += total

    def _source_of(self, row: int, column: int) -> tuple[int, int] | None:
        """The element that has the same input row, one column to the left."""
        in_set = row % self.set_rows + self.stride < self.set_rows
        if not column or not in_set or row >= self.sets * self.set_rows:
            return None
        source = (row + self.stride, column - 1)
        is_busy = self.elements[source[0]][source[1]].input_row is not None
        return source if is_busy else None

    def _is_live(self, row: int, kernel: int, part: int) -> bool:
        """Whether a row of the array has a filter row to keep."""
        in_set = row < self.sets * self.set_rows
        return in_set and kernel < len(self.filters) and part < self.r

    def _clear(self) -> None:
        self.elements = [[Element() for _ in range(self.width)] for _ in range(self.height)]


def convolve(image: Ints, filters: Ints, stride: int, height: int, width: int) -> tuple[Ints, int]:
    """The convolution that the array computed, and the cycles that it took."""
    array = RowArray(image, filters, stride, height, width)
    cycles = sum(1 for _ in array.run())
    return array.outputs, cycles
