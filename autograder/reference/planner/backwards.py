"""The least peak that any plan can have, and a plan that has it: a search back through the step.

A *need* is a set of values that have to be in memory when a node runs, beside what is there
anyway. Seen from its end, a step gets to a need in one of two ways: all of it was carried over
the node before; or the last thing that ran was a clone of a maker, and then everything else, and
what the maker reads, was needed before that. A way that arrives at the forward pass is a plan,
and the most bytes on it are its peak. Ways are followed by their bytes, fewest first, so that the
first to arrive has the least peak of all plans, whatever they rebuild, when and how often.

Needs may be limited to the largest values. The others count only where they are in use, so that
what is found is still a bound below every plan; a plan made of it keeps the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np

from autograder.reference.simulate import Simulator
from autograder.reference.timetable import Timetable
from autograder.reference.values import Step, needed_inputs
from lab_utils.steps.storage import Storage, storages

#: The place of all needs that arrived at the forward pass.
ARRIVED = -1


class Need(NamedTuple):
    """The values (one bit each) that must be there when the node at ``place`` starts."""

    place: int
    values: int


class Move(NamedTuple):
    """One way to a need: what was needed before, and the bytes that are held meanwhile."""

    before: Need
    nbytes: int
    maker: int | None
    """Which ran again; None: the need was carried over the node before."""


@dataclass(frozen=True)
class Found:
    """The end of a search."""

    nbytes: int
    """No plan has a lower peak (nor less than was ``enough``)."""
    table: Timetable | None
    """A plan with this peak, where the search arrived."""
    tried: dict[Need, int]
    """Every need that can be had with fewer than ``nbytes`` until the end, with its bytes."""
    start: int
    """Place at which the search began."""


class Backwards:
    """The step as a search sees it: what is held at each place whatever the plan."""

    def __init__(self, step: Step, most: int) -> None:
        self.step = step
        simulator = Simulator(step)
        self.sizes = [v.nbytes for v in step.values]
        self.until = [v.last_early for v in step.values]
        """The last place at which a value is in memory in every plan (of the forward pass)."""
        self.late = min([v.first_late for v in step.values] + [len(step.order)])
        self._held(simulator)
        self.stays = 0
        """Values that are kept in every plan, and what drawn masks leave."""
        for index, value in enumerate(step.values):
            if value.pinned is not None:
                self.stays |= 1 << index
                self.until[index] = max(value.last_early, value.last_late)
        self._makers(simulator.state_bytes)
        largest = sorted(range(len(self.sizes)), key=lambda i: (-self.sizes[i], i))[:most]
        self.seen = sum(1 << index for index in largest)
        self._weights: dict[int, int] = {0: 0}

    def _held(self, simulator: Simulator) -> None:
        """For each place, the values in memory whatever the plan, and the bytes of all."""
        length = len(self.step.order)
        turn, turn_before = [0] * (length + 2), [0] * (length + 2)
        for index, value in enumerate(self.step.values):
            spans = [(value.born, value.last_early), *value.late_uses]
            if value.pinned is not None:
                spans = [(value.born, max(value.last_early, value.last_late))]
            for first, last in spans:
                turn[first] ^= 1 << index
                turn[last + 1] ^= 1 << index
                turn_before[first + 1] ^= 1 << index
                turn_before[last + 1] ^= 1 << index
        fixed, before = simulator.fixed_bytes
        self.held, self.held_before = [], []
        """Values in use or pinned, while the node runs and just before it."""
        self.base, self.base_before = [], []
        now = just_before = now_bytes = before_bytes = 0
        for place in range(length):
            now_bytes += self._turned(turn[place], now)
            before_bytes += self._turned(turn_before[place], just_before)
            now ^= turn[place]
            just_before ^= turn_before[place]
            self.held.append(now)
            self.held_before.append(just_before)
            self.base.append(int(fixed[place]) + now_bytes)
            self.base_before.append(int(before[place]) + before_bytes)

    def _turned(self, turned: int, now: int) -> int:
        return sum(-self.sizes[i] if now >> i & 1 else self.sizes[i] for i in members(turned))

    def _makers(self, state_bytes: int) -> None:
        """For each maker: what it makes, what it reads, what is alive with each of its nodes."""
        memory = storages(self.step.graph)
        value_of: dict[Storage, int] = {}
        for maker in self.step.makers:
            node = maker.nodes[0]
            own = dict.fromkeys(s for s in memory[node] if s.owner is node)
            value_of |= dict(zip(own, maker.values, strict=True))
        self.makes, self.reads = [], []
        self.alive: list[list[int]] = []
        for maker in self.step.makers:
            mask = 0
            if maker.draw is not None:  # its mask is packed, or its generator's state is kept
                mask = 1 << len(self.sizes)
                self.sizes.append(min(maker.packed_bytes, state_bytes))
                self.until.append(maker.places[maker.draw])
                self.stays |= mask
            self.makes.append(sum(1 << v for v in maker.values))
            self.reads.append(mask | sum(1 << v for v in maker.reads))
            alive = []
            for number, (node, place) in enumerate(zip(maker.nodes, maker.places, strict=True)):
                read = {
                    value_of[s] for n in needed_inputs(node) for s in memory[n] if s in value_of
                }
                made = {v for v in maker.values if self.step.values[v].made >= place}
                drawn = mask if maker.draw is not None and number == 0 else 0
                alive.append(drawn | sum(1 << v for v in read | made))
            self.alive.append(alive)

    def weight(self, values: int) -> int:
        """Bytes of all ``values`` together."""
        found = self._weights.get(values)
        if found is None:
            found = self._weights[values] = sum(self.sizes[i] for i in members(values))
        return found

    def search(self, enough: int, limit: int, start: int | None = None) -> Found:
        """The least peak from the node at ``start`` back to the beginning.

        Args:
            enough: bytes; ways that need no more are equally good.
            limit: so many needs are looked at; then what is proven so far is told.
            start: place of the last node that counts; None: of all.
        """
        start = len(self.step.order) - 1 if start is None else start
        if start < self.late:
            return Found(max([enough, *self.base[: start + 1]]), (), {}, start)
        first = Need(start, self.held[start] & self.seen)
        bytes_of = {first: max(self.base[start], enough)}
        came: dict[Need, tuple[Need, int | None]] = {}
        heap = [(bytes_of[first], start, 0, first)]
        tried: dict[Need, int] = {}
        while heap:
            nbytes, _, _, need = heappop(heap)
            if need in tried:
                continue
            if need.place == ARRIVED or len(tried) >= limit:
                table = self._table(need, came) if need.place == ARRIVED else None
                tried = {n: b for n, b in tried.items() if b < nbytes}
                return Found(nbytes, table, tried, start)
            tried[need] = nbytes
            for move in self.moves(need, nbytes):
                then = max(nbytes, move.nbytes)
                if then < bytes_of.get(move.before, then + 1):
                    bytes_of[move.before] = then
                    came[move.before] = need, move.maker
                    lighter = self.weight(move.before.values)
                    heappush(heap, (then, move.before.place, lighter, move.before))
        raise AssertionError("keeping everything is always a way")

    def _table(self, need: Need, came: dict[Need, tuple[Need, int | None]]) -> Timetable:
        table = []
        while need in came:
            need, maker = came[need]
            if maker is not None:
                table.append((need.place, maker))
        return tuple(table)

    def moves(self, need: Need, enough: int) -> Iterator[Move]:
        """All ways to ``need``; only the best where one is, within ``enough`` bytes."""
        place, values = need
        free = values & ~self.stays & ~self.held_before[place]
        makers = dict.fromkeys(self.step.values[i].maker for i in members(free))
        rebuilt = []
        for maker in makers:
            if place > self.step.makers[maker].deadline:
                continue
            move = self.rebuild(need, maker)
            if move.nbytes <= enough and not move.before.values & ~values:
                yield move  # less is needed before it, and nothing more: better than all others
                return
            rebuilt.append(move)
        if place > self.late:
            over = place - 1
            nbytes = self.base[over] + self.weight(values & ~self.held[over])
            yield Move(Need(over, (values | self.held[over]) & self.seen), nbytes, None)
        else:
            yield Move(Need(ARRIVED, values), int(self.in_forward(values).max(initial=0)), None)
        yield from rebuilt

    def rebuild(self, need: Need, maker: int) -> Move:
        place, values = need
        there = self.held_before[place]
        nbytes = self.base_before[place] + max(
            self.weight((values | alive) & ~there) for alive in self.alive[maker]
        )
        gone = self.makes[maker] & ~self.stays & ~there
        before = (values & ~gone | self.reads[maker] | there) & self.seen
        return Move(Need(place, before), nbytes, maker)

    def in_forward(self, values: int) -> np.ndarray:
        """Bytes at each place of the forward pass when ``values`` are kept until its end."""
        change = np.zeros(self.late + 1, dtype=np.int64)
        for index in members(values):
            change[min(self.until[index] + 1, self.late)] += self.sizes[index]
        return np.cumsum(change[:-1]) + np.array(self.base[: self.late], dtype=np.int64)


def members(values: int) -> Iterator[int]:
    """The numbers of the bits that are set."""
    while values:
        lowest = values & -values
        yield lowest.bit_length() - 1
        values ^= lowest
