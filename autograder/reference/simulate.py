"""The exact peak of a rewritten step, without rewriting it.

A clone runs right before the first backward node that needs it, in the order of the
originals; it is shared by all that need it later, unless it is to be repeated. Everything
that recomputation itself holds is counted: what clones read, what they make on the way,
packed masks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import torch

from autograder.reference.values import NEVER, Step, merged


class Fate(IntEnum):
    """What becomes of a value between forward and backward."""

    KEPT = 0
    DROPPED = 1
    """Rebuilt by running its maker again; a random mask by drawing it again."""
    PACKED = 2
    """A random mask that is kept in one byte an element."""
    REPEATED = 3
    """Rebuilt for each use anew, and freed in between. All values of a maker have it, or none."""


Spans = dict[int, list[tuple[int, int]]]
"""For each maker that runs again more than once: first and last place of each use."""


@dataclass(frozen=True)
class Simulated:
    """What one choice of fates leads to."""

    peak: int
    """Bytes."""
    seconds: float
    """Time of all that runs in addition."""
    places: tuple[int, ...]
    """The nodes of the original step at which (or before which) the peak is held."""
    before: bool
    """Whether it is first held by a clone that runs before the first of them."""
    reruns: list[int]
    """For each maker, the (first) place before which it runs again; NEVER where it does not."""
    spans: Spans
    line: np.ndarray
    """Bytes at each step, clones included."""


class Reruns(NamedTuple):
    """When makers run again. A key is a place times (length + 1), plus that of an original."""

    run: list[int]
    """For each maker, the (first) place before which it runs again, or NEVER."""
    first: list[int]
    """For each value, the first place before which a clone reads it, or NEVER."""
    last: list[int]
    """For each value, the key of the last clone that reads it, or -1."""
    spans: Spans
    reads: dict[int, list[int]]
    """For each value that is repeated, the keys of the clones that read it."""


class Simulator:
    """Answers what a choice of fates leads to, in time linear in the step."""

    def __init__(self, step: Step) -> None:
        self.step = step
        self.length = max(len(step.order), 1)
        self.state_bytes = torch.get_rng_state().numel()
        change = np.zeros(self.length + 1, dtype=np.int64)
        ending = np.zeros(self.length + 1, dtype=np.int64)
        born = np.zeros(self.length + 1, dtype=np.int64)
        for first, last, nbytes in step.fixed:
            change[first] += nbytes
            change[last + 1] -= nbytes
            born[first] += nbytes
            ending[last + 1] += nbytes
        self._fixed = np.cumsum(change[:-1])
        # While clones run before a node, what the node makes is not there yet.
        self._fixed_before = self._fixed - born[:-1]
        makers = step.makers
        self._reads = [tuple(maker.reads.items()) for maker in makers]
        self._values = [
            tuple((v, step.values[v].first_late) for v in maker.values) for maker in makers
        ]
        self._born = np.array([v.born for v in step.values], dtype=np.int64)
        self._made = np.array([v.made for v in step.values], dtype=np.int64)
        self._last_early = np.array([v.last_early for v in step.values], dtype=np.int64)
        self._last_late = np.array([v.last_late for v in step.values], dtype=np.int64)
        self._nbytes = np.array([v.nbytes for v in step.values], dtype=np.int64)
        self._maker = np.array([v.maker for v in step.values], dtype=np.int64)
        self._first_place = np.array([m.places[0] for m in makers], dtype=np.int64)

    @property
    def fixed_bytes(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each node: bytes that no plan changes, while it runs and just before it runs."""
        return self._fixed, self._fixed_before

    def default(self) -> list[int]:
        """Nothing is recomputed: what backward reads is kept, what it does not read is not."""
        return [
            Fate.KEPT if v.pinned or v.last_late >= 0 else Fate.DROPPED for v in self.step.values
        ]

    def repeated(self, maker: int, fates: Sequence[int]) -> bool:
        """Whether what ``maker`` makes is rebuilt for each use anew."""
        return all(fates[v] == Fate.REPEATED for v in self.step.makers[maker].values)

    def reruns(self, fates: Sequence[int]) -> Reruns:
        """When makers run again, and when clones first and last read each value."""
        scale = self.length + 1
        run = [NEVER] * len(self._reads)
        first = [NEVER] * len(fates)
        last = [-1] * len(fates)
        spans: Spans = {}
        reads: dict[int, list[int]] = {}  # of values to be repeated: keys of clones that read them
        some_repeated = Fate.REPEATED in fates
        for maker in range(len(run) - 1, -1, -1):
            at = NEVER
            for value, late in self._values[maker]:
                if fates[value]:
                    need = first[value]
                    if late < need:
                        need = late
                    if need < at:
                        at = need
            if at == NEVER:
                continue
            run[maker] = at
            starts = [at]
            if some_repeated and self.repeated(maker, fates):
                uses = [
                    use for v, _ in self._values[maker] for use in self.step.values[v].late_uses
                ]
                for v, _ in self._values[maker]:
                    uses += [(key // scale, key // scale) for key in reads.get(v, ())]
                spans[maker] = merged(uses)
                starts = [start for start, _ in spans[maker]]
            for value, place in self._reads[maker]:
                if at < first[value]:
                    first[value] = at
                key = starts[-1] * scale + place
                if key > last[value]:
                    last[value] = key
                if some_repeated and fates[value] == Fate.REPEATED:
                    reads.setdefault(value, []).extend(s * scale + place for s in starts)
        return Reruns(run, first, last, spans, reads)

    def simulate(self, fates: Sequence[int]) -> Simulated:
        """The peak and the added time when each value has its fate."""
        reruns = self.reruns(fates)
        again = [m for m, at in enumerate(reruns.run) if at < NEVER]
        clones = self._clone_keys(reruns, again, fates)
        firsts, lasts, sizes = self._lifetimes(fates, reruns, again)
        scale = self.length + 1
        total = self.length + len(clones)
        # Fine steps: a clone's is its rank, a node's comes after the clones before it.
        fine = lambda key: key // scale + np.searchsorted(clones, key)  # noqa: E731
        change = np.bincount(fine(firsts), weights=sizes, minlength=total + 1)
        change -= np.bincount(fine(lasts) + 1, weights=sizes, minlength=total + 1)
        line = np.cumsum(change[:total])
        nodes = np.arange(self.length)
        line[fine(nodes * scale + self.length)] += self._fixed
        line[fine(clones)] += self._fixed_before[clones // scale]
        at = np.empty(total, dtype=np.int64)  # the node at or before which a fine step runs
        at[fine(nodes * scale + self.length)] = nodes
        at[fine(clones)] = clones // scale
        tops = np.flatnonzero(line == line.max())
        places = tuple(dict.fromkeys(at[tops].tolist()))
        # Every fine step of a node but the last one is a clone's.
        before = bool(tops[0] < fine(places[0] * scale + self.length))
        seconds = sum(self._seconds(m, fates) * len(reruns.spans.get(m, "1")) for m in again)
        return Simulated(
            int(line[tops[0]]), seconds, places, before, reruns.run, reruns.spans, line
        )

    def _seconds(self, index: int, fates: Sequence[int]) -> float:
        maker = self.step.makers[index]
        if fates[maker.values[0]] == Fate.PACKED:
            return maker.pack_seconds + maker.unpacked_seconds
        return maker.seconds

    def _clone_keys(self, reruns: Reruns, again: list[int], fates: Sequence[int]) -> np.ndarray:
        scale = self.length + 1
        keys: list[int] = []
        for m in again:
            maker = self.step.makers[m]
            packed = maker.draw is not None and fates[maker.values[0]] == Fate.PACKED
            # A packed mask is unpacked where its memory was allocated, and not drawn.
            keys += [
                start * scale + place
                for start, _ in reruns.spans.get(m, [(reruns.run[m], 0)])
                for number, place in enumerate(maker.places)
                if not (packed and number == maker.draw)
            ]
        return np.sort(np.array(keys, dtype=np.int64))

    def _lifetimes(
        self, fates: Sequence[int], reruns: Reruns, again: list[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """First key, last key and bytes of originals, clones, and what random masks leave."""
        fate, run = np.asarray(fates), reruns.run
        last_read = np.array(reruns.last, dtype=np.int64)
        scale = self.length + 1
        node_key = lambda place: place * scale + self.length  # noqa: E731
        late = np.where(self._last_late >= 0, node_key(self._last_late), -1)
        used = np.maximum(late, last_read)
        early = node_key(self._last_early)
        original_last = np.where(fate > 0, early, np.maximum(early, used))
        moment = np.array(run, dtype=np.int64)[self._maker] if len(fate) else self._maker
        once = moment < NEVER
        for m in reruns.spans:
            once[self.step.makers[m].values] = False
        cloned = np.flatnonzero(once)
        begin = moment[cloned] * scale + self._first_place[self._maker[cloned]]
        made = moment[cloned] * scale + self._made[cloned]
        end = np.where(fate[cloned] > 0, np.maximum(used[cloned], made), made)
        firsts = [node_key(self._born), begin]
        lasts = [original_last, end]
        sizes = [self._nbytes, self._nbytes[cloned]]
        for m in again:
            maker = self.step.makers[m]
            if maker.draw is not None:
                is_packed = fates[maker.values[0]] == Fate.PACKED
                drawn = maker.places[maker.draw]
                read = maker.places[0] if is_packed else drawn
                firsts.append(np.array([node_key(drawn + is_packed)]))
                lasts.append(np.array([run[m] * scale + read]))
                sizes.append(np.array([maker.packed_bytes if is_packed else self.state_bytes]))
        for m, spans in reruns.spans.items():
            for value in self.step.makers[m].values:
                begins = np.array([start for start, _ in spans]) * scale
                firsts.append(begins + self._first_place[m])
                lasts.append(
                    np.maximum(begins + self._made[value], self._ends(value, spans, reruns))
                )
                sizes.append(np.full(len(spans), self._nbytes[value]))
        return np.concatenate(firsts), np.concatenate(lasts), np.concatenate(sizes)

    def _ends(self, value: int, spans: list[tuple[int, int]], reruns: Reruns) -> np.ndarray:
        """For each span of its maker, the key of the last use of ``value`` in it; -1: none."""
        scale = self.length + 1
        starts = [start for start, _ in spans]
        ends = np.full(len(spans), -1, dtype=np.int64)
        late = [(f, last * scale + self.length) for f, last in self.step.values[value].late_uses]
        for place, key in [*late, *((k // scale, k) for k in reruns.reads.get(value, ()))]:
            span = bisect_right(starts, place) - 1
            ends[span] = max(ends[span], key)
        return ends
