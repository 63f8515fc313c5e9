"""The whole design space of Lab 2B: 64 arrays, three dataflows, 36 pairs of buffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product

import numpy as np
from numpy.typing import NDArray

from lab_utils.instruments.buffers.show.fast import lru_missed
from lab_utils.instruments.buffers.show.stages import total_cycles
from lab_utils.instruments.systolic.designs import DATAFLOWS
from lab_utils.labs.lab2b.machine import FAR, LENET, LINE, NEAR, WORD, Point
from lab_utils.labs.lab2b.show.trace import Layer, as_product, stages

Ints = NDArray[np.int64]
SIDES, KILOBYTES = range(3, 11), range(5, 11)
ARRAYS = tuple(product(DATAFLOWS, SIDES, SIDES))


def every_design(arrays: Iterable[tuple[str, int, int]] = ARRAYS) -> Iterator[list[Point]]:
    """The points of each array, all pairs of buffers at once."""
    for dataflow, height, width in arrays:
        layers = [_Timed(layer, dataflow, height, width) for layer in LENET]
        efficiency = round(sum(one.efficiency for one in layers) / len(layers), 6)
        yield [
            Point(
                height,
                width,
                dataflow,
                ifmap,
                weight,
                efficiency,
                sum(one.cycles(ifmap, weight) for one in layers),
            )
            for ifmap, weight in product(KILOBYTES, KILOBYTES)
        ]


class _Timed:
    """One layer on one array: its stages, and what misses in buffers of any size."""

    def __init__(self, layer: Layer, dataflow: str, height: int, width: int) -> None:
        parts = list(stages(layer, dataflow, height, width))
        self.compute = np.array([part.cycles for part in parts])
        self.traces = (
            _Trace([part.ifmap for part in parts]),
            _Trace([part.filter for part in parts]),
        )
        (m, k), n = as_product(layer).inputs.shape, as_product(layer).weights.shape[1]
        down, across = {"os": (m, n), "ws": (k, n), "is": (k, m)}[dataflow]
        places = -(-down // height) * height * (-(-across // width) * width)
        self.efficiency = 100 * down * across / places

    def cycles(self, ifmap: int, weight: int) -> int:
        """Cycles with first levels of so many kB, and second levels twice as large."""
        pairs = [
            trace.misses(size) for trace, size in zip(self.traces, (ifmap, weight), strict=True)
        ]
        first, second = (sum(pair[level] for pair in pairs) for level in (0, 1))
        return total_cycles(self.compute, np.asarray(first), np.asarray(second), NEAR, FAR)


class _Trace:
    """The lines of one operand, one stage after the other."""

    def __init__(self, parts: list[list[int]]) -> None:
        self.lines = np.array([line for part in parts for line in part], dtype=np.int64)
        self.stage = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        self.many = len(parts)
        self.once = np.sort(np.unique(self.lines, return_index=True)[1])
        self.misses = lru_cache(self._misses)

    def _misses(self, kilobytes: int) -> tuple[Ints, Ints]:
        """Lines that each stage fetches, into the first level and from memory."""
        size = kilobytes * 1024 // (LINE * WORD)
        near = self._missed(np.arange(len(self.lines)), size)
        far = self._missed(near, 2 * size)
        return self._by_stage(near), self._by_stage(far)

    def _by_stage(self, places: Ints) -> Ints:
        return np.bincount(self.stage[places], minlength=self.many).astype(np.int64)

    def _missed(self, asked: Ints, size: int) -> Ints:
        """Of these accesses those that miss; where all lines fit, each misses once."""
        if len(self.once) <= size:
            return self.once
        return asked[lru_missed(self.lines[asked], size)]
