"""A plan in its most general form: which makers run again, before which node, how often.

A choice of fates lets a value be rebuilt once, or for each of its uses. A timetable says for
each moment of backward what runs again just then; from there on readers read the new copy, and
the older one is free when its last reader has run.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np

from autograder.reference.simulate import Fate, Simulated, Simulator
from autograder.reference.values import NEVER, Step

Timetable = tuple[tuple[int, int], ...]
"""Place and maker of all that runs again, in the order of running: before that place's node."""


def packs(step: Step, maker: int, state_bytes: int) -> bool:
    """Whether a drawn mask is kept packed (it is smaller so), and not drawn again."""
    made = step.makers[maker]
    return made.draw is not None and made.packed_bytes <= state_bytes


def fates_of(simulator: Simulator, table: Timetable) -> tuple[int, ...]:
    """For each value whether it is rebuilt at all; all others are kept for whoever reads them."""
    fates: list[int] = [Fate.KEPT] * len(simulator.step.values)
    for _, maker in table:
        packed = packs(simulator.step, maker, simulator.state_bytes)
        for value in simulator.step.makers[maker].values:
            if simulator.step.values[value].pinned is None:
                fates[value] = Fate.PACKED if packed else Fate.DROPPED
    return tuple(fates)


def holds_on(step: Step, value: int, place: int) -> bool:
    """Whether readers stay with the copy they have when ``value`` is made anew before ``place``."""
    made = step.values[value]
    return made.pinned is not None or any(a < place <= b for a, b in made.late_uses)


def simulate_table(simulator: Simulator, table: Timetable) -> Simulated:
    """The exact peak and the added time of a timetable."""
    return _Table(simulator, table).simulated()


class _Table:
    """Steps of the rewritten program: ``at[place]`` of a node, and those of clones before it."""

    def __init__(self, simulator: Simulator, table: Timetable) -> None:
        self.simulator, self.step, self.table = simulator, simulator.step, table
        self.at: list[int] = []
        self.runs: list[dict[int, int]] = []
        """For each entry of the timetable, the step of each of its maker's places."""
        count, entry = 0, 0
        for place in range(simulator.length):
            while entry < len(table) and table[entry][0] == place:
                maker = self.step.makers[table[entry][1]]
                packed = packs(self.step, table[entry][1], simulator.state_bytes)
                steps = {}
                for number, own in enumerate(maker.places):
                    if packed and number == maker.draw:
                        steps[own] = count - 1  # unpacked where its memory was allocated
                    else:
                        steps[own] = count
                        count += 1
                self.runs.append(steps)
                entry += 1
            self.at.append(count)
            count += 1
        self.steps = count
        self.copies: list[list[list[int]]] = [
            [[self.at[v.born], self.at[v.last_early]]] for v in self.step.values
        ]
        """Of each value: first and last step of each copy that is read, the original first."""

    def simulated(self) -> Simulated:
        change = np.zeros(self.steps + 1, dtype=np.int64)
        short: list[tuple[int, int, int]] = []  # of copies that nobody reads, and kept masks
        starts = [min(steps.values()) for steps in self.runs]
        for (place, index), steps, start in zip(self.table, self.runs, starts, strict=True):
            maker = self.step.makers[index]
            for read, own in maker.reads.items():
                self._use(read, steps[own])
            for value in maker.values:
                made = steps[self.step.values[value].made]
                if holds_on(self.step, value, place):
                    short.append((start, made, self.step.values[value].nbytes))
                else:
                    self._serve(value, start)
                    self.copies[value].append([start, made])
        for value in range(len(self.step.values)):
            self._serve(value, self.steps)
        short += self._masks()
        for value, copies in enumerate(self.copies):
            short += [(a, b, self.step.values[value].nbytes) for a, b in copies]
        for first, last, nbytes in short:
            change[first] += nbytes
            change[last + 1] -= nbytes
        line = np.cumsum(change[:-1])
        nodes = np.array(self.at)
        of_node = np.searchsorted(nodes, np.arange(self.steps))
        clones = np.ones(self.steps, dtype=bool)
        clones[nodes] = False
        fixed, before = self.simulator.fixed_bytes
        line += np.where(clones, before[of_node], fixed[of_node])
        return self._result(line, of_node, clones)

    def _result(self, line: np.ndarray, of_node: np.ndarray, clones: np.ndarray) -> Simulated:
        tops = np.flatnonzero(line == line.max())
        first = [NEVER] * len(self.step.makers)
        spans: dict[int, list[tuple[int, int]]] = {}
        seconds = 0.0
        for place, maker in self.table:
            first[maker] = min(first[maker], place)
            spans.setdefault(maker, []).append((place, place))
            made = self.step.makers[maker]
            packed = packs(self.step, maker, self.simulator.state_bytes)
            seconds += made.pack_seconds + made.unpacked_seconds if packed else made.seconds
        places = tuple(dict.fromkeys(of_node[tops].tolist()))
        return Simulated(
            int(line[tops[0]]), seconds, places, bool(clones[tops[0]]), first, spans, line
        )

    def _use(self, value: int, step: int) -> None:
        """A clone reads the newest copy, until ``step``."""
        copy = self.copies[value][-1]
        copy[1] = max(copy[1], step)

    def _serve(self, value: int, until: int) -> None:
        """Let the newest copy live for all uses in backward that begin before ``until``."""
        copy = self.copies[value][-1]
        made = self.step.values[value]
        if made.pinned is not None:
            copy[1] = max(copy[1], self.at[max(made.last_early, made.last_late)])
            return
        for first, last in made.late_uses:
            if copy[0] < self.at[first] < until:
                copy[1] = max(copy[1], self.at[last])

    def _masks(self) -> list[tuple[int, int, int]]:
        """What drawn masks leave from their draw to the last time that they are rebuilt."""
        last: dict[int, dict[int, int]] = {}
        for (_, maker), steps in zip(self.table, self.runs, strict=True):
            last[maker] = steps
        found = []
        state = self.simulator.state_bytes
        for index, steps in last.items():
            made = self.step.makers[index]
            if made.draw is not None:
                drawn = made.places[made.draw]
                packed = packs(self.step, index, state)
                first = self.at[drawn] + packed
                read = steps[made.places[0] if packed else drawn]
                found.append((first, read, made.packed_bytes if packed else state))
        return found


def cheaper(simulator: Simulator, table: Timetable, budget: int, tries: int) -> Timetable:
    """The same without entries that the budget does not need, the most expensive first."""
    makers = simulator.step.makers
    limit = max(budget, simulate_table(simulator, table).peak)
    for entry in sorted(set(table), key=lambda e: (-makers[e[1]].seconds, e))[:tries]:
        at = bisect_left(table, entry[0], key=lambda e: e[0])
        at = table.index(entry, at)
        without = (*table[:at], *table[at + 1 :])
        if simulate_table(simulator, without).peak <= limit:
            table = without
    return _without_dead(simulator.step, table)


def _without_dead(step: Step, table: Timetable) -> Timetable:
    """The same without entries that make nothing which is read."""
    uses = [sorted(a for a, _ in value.late_uses) for value in step.values]
    following: dict[int, int] = {}  # of a value: the place before which it is made anew next
    read: set[int] = set()  # by later entries that stay, before the value is made anew
    kept = []
    for place, index in reversed(table):
        maker, needed = step.makers[index], False
        for value in maker.values:
            if not holds_on(step, value, place):
                served = [u for u in uses[value] if place <= u < following.get(value, NEVER)]
                needed |= bool(served) or value in read
        if not needed:
            continue
        kept.append((place, index))
        for value in maker.values:
            if not holds_on(step, value, place):
                following[value] = place
                read.discard(value)
        read.update(maker.reads)
    return tuple(reversed(kept))


def entries(table: Sequence[tuple[int, int]]) -> dict[int, list[int]]:
    """For each place the makers that run again before it, in order."""
    found: dict[int, list[int]] = {}
    for place, maker in table:
        found.setdefault(place, []).append(maker)
    return found
