"""A second level behind the double buffers of ``stalls``: L2 behind each SRAM, memory behind L2.

The first level works as before: a miss moves its window on by half a buffer. Each half now comes
from L2, which holds whole pieces under LRU, and asks memory for those that it does not have. Both
wires carry at the same time. An L2 of size 0 has nothing: every half comes from memory, and the
stalls are those of one level.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from lab_utils.instruments.buffers.show.fast import lru_missed
from lab_utils.instruments.systolic.show.stalls import KILO, Layer, Misses
from lab_utils.instruments.systolic.show.traffic import Whole


class BackedLayer(Layer):
    """A layer on an array whose SRAMs for inputs and weights have a level behind them."""

    def stalls_behind(
        self, ifmap_kb: int, filter_kb: int, bandwidth: int, near: int, times: int = 2
    ) -> int:
        """Cycles in which the whole array waits.

        Args:
            ifmap_kb: first level for inputs, in kB; the second has ``times`` as much.
            filter_kb: first level for weights.
            bandwidth: words a cycle from memory to each second level.
            near: words a cycle from a second level to the first.
            times: how many times the first level the second one is; 0: there is none.
        """
        events = []
        for number, size in enumerate((ifmap_kb, filter_kb)):
            misses = self._misses(number, size)
            if len(misses.cycles):
                spent = self._spent(number, size, int(misses.halves[-1]), bandwidth, near, times)
                events.append((Misses(misses.cycles, spent[misses.halves]), 1))
        return self._late(events)

    def fetched(self, number: int, size: int, times: int) -> Whole:
        """Pieces that come from memory for each half of an operand (0 or 1), in their order."""
        cut = self._streams[number].pieces(KILO * size)
        misses = self._misses(number, size)
        halves = int(misses.halves[-1]) if len(misses.halves) else 0
        order = np.arange(cut.active + halves * cut.step) % cut.many
        missed = lru_missed(order, times * KILO * size // cut.words)
        half = (missed[missed >= cut.active] - cut.active) // max(cut.step, 1)
        return np.bincount(half, minlength=halves).astype(np.int64)

    def _spent(
        self, number: int, size: int, halves: int, bandwidth: int, near: int, times: int
    ) -> Whole:
        """Cycles until each half is there, by how many halves had been fetched."""
        words = KILO * size / 2
        step = self._streams[number].pieces(KILO * size).step
        shares = self.fetched(number, size, times) / step
        upper = ceil(words / near) if times else 0
        each = [max(upper, ceil(words * share / bandwidth)) + 1 for share in shares]
        return np.concatenate([[0], np.cumsum(each[:halves])]).astype(np.int64)
