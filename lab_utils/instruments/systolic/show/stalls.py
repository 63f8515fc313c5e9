"""Stalls behind a double buffer, as SCALE-Sim 2.0.2 has them, fast enough for a whole space.

Half of an SRAM is active, the other half is filled meanwhile. What is fetched comes in a fixed
order, over and over. On a miss the window of what is active moves on by half a buffer, as often
as it takes; it never goes back. So a demand for something that the window has just left costs a
whole round.

Which demand misses does not depend on time, and the k-th half is ready at a time that depends on
k alone. Nothing but lateness remains: if the demand of cycle c needs half number k, the array is
late by ``ready(k) - (c + 1)``, and a layer stalls as long as its latest demand.
"""

from __future__ import annotations

from functools import cached_property
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lab_utils.instruments.systolic.designs import Conv, Gemm
from lab_utils.instruments.systolic.show.traffic import Operand, Traffic, Whole, traffic
from lab_utils.kit.errors import LabError

KILO = 1024
_SETS = 100  # into how many pieces SCALE-Sim cuts a buffer
_CHUNK = 96  # demands looked at together at first


class Misses(NamedTuple):
    """Misses of one operand: in which cycle, and how many halves had been fetched after each."""

    cycles: Whole
    halves: Whole


class Pieces(NamedTuple):
    """How a buffer cuts what is fetched: words of a piece, pieces in all, active, moved at once."""

    words: int
    many: int
    active: int
    step: int


class Stream:
    """An operand's demands, and where in the order of fetching each address stands."""

    def __init__(self, operand: Operand) -> None:
        self.operand = operand

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        """For each demand, all positions of its address in the order of fetching: often x many."""
        fetch, demand, _cycles = self.operand
        order = np.argsort(fetch, kind="stable")
        names, first, often = np.unique(fetch[order], return_index=True, return_counts=True)
        wide = np.empty((often.max(), len(names)), dtype=np.int32)
        for place in range(often.max()):
            wide[place] = order[first + np.minimum(place, often - 1)]
        self._first_asks = np.searchsorted(names, demand)
        return wide

    def pieces(self, size: int) -> Pieces:
        """How a buffer of ``size`` words cuts what is fetched."""
        piece = ceil(size / _SETS)
        lines = len(self.operand.fetch) // piece + 1
        active = min(ceil(size / 2 / piece), lines)
        return Pieces(piece, lines, active, min(ceil(size / 2 / piece), lines - active))

    def misses(self, size: int) -> Misses:
        """All misses behind a buffer of ``size`` words."""
        piece, lines, active, step = self.pieces(size)
        if step == 0:  # all of it fits
            return Misses(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
        wide = (self._places // piece).astype(np.uint16)[:, self._first_asks]
        cycles, halves = [], []
        at, start, moved, chunk = 0, 0, 0, _CHUNK
        hit: NDArray[np.bool_]
        many = wide.shape[1]
        while at < many:
            part = wide[:, at : at + chunk]
            if start + active <= lines:
                hit = np.any((part - np.uint16(start)) < active, axis=0)
            else:  # the window goes round: what is outside lies in one piece
                outside = start + active - lines
                hit = np.any((part - np.uint16(outside)) >= lines - active, axis=0)
            first = int(hit.argmin())
            if hit[first]:
                at += len(hit)
                chunk *= 2
                continue
            chunk = max(_CHUNK, min(chunk, 2 * first))
            at += first
            ahead = int(((wide[:, at].astype(np.int64) - start) % lines).min())
            jumps = -((active - 1 - ahead) // step)
            moved += jumps
            start = (start + jumps * step) % lines
            cycles.append(self.operand.cycles[at])
            halves.append(moved)
            at += 1
        return Misses(np.array(cycles, dtype=np.int64), np.array(halves, dtype=np.int64))


class Layer:
    """A layer on an array: cycles for any sizes of its SRAMs and any bandwidth."""

    def __init__(self, layer: Conv | Gemm, dataflow: str, height: int, width: int) -> None:
        self.traffic: Traffic = traffic(layer, dataflow, height, width)
        self.width = width
        self._streams = Stream(self.traffic.ifmap), Stream(self.traffic.filter)
        self._known: dict[tuple[int, int], Misses] = {}

    def stall_cycles(self, ifmap_kb: int, filter_kb: int, ofmap_kb: int, bandwidth: int) -> int:
        """Cycles in which the whole array waits.

        Raises:
            LabError: so slow a memory would also hold up what is written, which is not modelled.
        """
        half = ofmap_kb * KILO // 2
        if self.width * ceil(half / bandwidth) >= half:
            raise LabError(f"bandwidth {bandwidth} is too low: outputs would stall as well")
        events = [
            (misses, ceil(KILO * size / 2 / bandwidth) + 1)
            for number, size in enumerate((ifmap_kb, filter_kb))
            if len((misses := self._misses(number, size)).cycles)
        ]
        return self._late(events)

    def _late(self, events: list[tuple[Misses, int]]) -> int:
        """How late the array is in the end, from misses and the cycles that a half takes."""
        late = 0
        for misses, period in events:
            late = max(late, int((_ready(misses, period) - misses.cycles - 1).max()))
        if len(events) == 2:
            return self._both(events, late)
        return late

    def _both(self, events: list[tuple[Misses, int]], late: int) -> int:
        """Where both operands miss in one cycle and both are there early, SCALE-Sim saves one."""
        (first, one), (second, two) = events
        shared = np.intersect1d(first.cycles, second.cycles)
        if not len(shared):
            return late
        # Cycles gained after a demand: each shared miss counts as no cycle unless it stalls.
        worst = -len(shared)
        for misses, period in ((first, one), (second, two)):
            gained = len(shared) - np.searchsorted(shared, misses.cycles, side="right")
            worst = max(worst, int((_ready(misses, period) - misses.cycles - 1 - gained).max()))
        return worst

    def _misses(self, number: int, size: int) -> Misses:
        key = (number, size)
        if key not in self._known:
            self._known[key] = self._streams[number].misses(KILO * size)
        return self._known[key]


def _ready(misses: Misses, period: int) -> Whole:
    """When the half that each miss waits for is there; the first half was there before cycle 0."""
    ready: Whole = misses.halves * period - 1
    return ready
