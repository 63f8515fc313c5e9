"""Where the search misses a budget: down to it, whatever the time that recomputation takes.

The search wants cheap plans and looks at the peak alone; many single changes leave the peak as
it is, although they bring a plan nearer. Here the bytes above the budget are added up over all
steps, so that each change counts. A value may also be rebuilt for each of its uses anew.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from autograder.reference.rewrite import block_activations
from autograder.reference.simulate import Fate
from autograder.reference.values import Maker

if TYPE_CHECKING:
    from autograder.reference.planner.search import Choice, Search

#: Bounds all simulations and their steps, so that the time does not grow with the graph.
STEPS, LOOKS = 10_000_000, 6_000


class Change(NamedTuple):
    """A new fate of some values, and their bytes: large ones are tried earlier."""

    values: tuple[int, ...]
    fate: Fate
    nbytes: int


def descend(search: Search, start: Choice, share: float = 1) -> Choice:
    """A choice within the budget, or the best that was found: from ``start`` or from blocks.

    ``share`` of the simulations that it may make otherwise.
    """
    inside = _inside_blocks(search)
    starts = [start, search.simulated(inside), search.simulated(_large_repeated(search, inside))]
    best = start
    for begin in starts:
        best = min(best, _Descent(search, begin, share / len(starts)).run(), key=search.rank)
        if best.result.peak <= search.budget:
            break
    return best


def _inside_blocks(search: Search) -> list[int]:
    """What stays inside a block of the model is dropped, as checkpointing would do it."""
    fates, free = search.simulator.default(), set(search.free)
    inside = set(block_activations(search.step.graph))
    for maker in search.step.makers:
        if maker.name in inside:
            for value in free.intersection(maker.values):
                fates[value] = Fate.DROPPED
    return fates


def _large_repeated(search: Search, fates: Sequence[int]) -> list[int]:
    """The same, and what is at least half as large as the largest value is rebuilt each time."""
    values, changed = search.step.values, list(fates)
    largest = max((values[v].nbytes for v in search.free), default=0)
    for maker in _repeatable(search):
        if max(values[v].nbytes for v in maker.values) * 2 >= largest:
            for value in maker.values:
                changed[value] = Fate.REPEATED
    return changed


def _repeatable(search: Search) -> list[Maker]:
    """The makers whose values may all be rebuilt for each use."""
    free = set(search.free)
    last = max((search.step.values[v].last_late for v in free), default=-1)
    return [
        m
        for m in search.step.makers
        if m.draw is None and m.values and free.issuperset(m.values) and m.deadline >= last
    ]


class _Descent:
    def __init__(self, search: Search, start: Choice, share: float) -> None:
        self.search, self.step = search, search.step
        self.left = share
        self.draw = random.Random(0)
        self.changes = self._changes()
        self.best = start
        self.least = self.over(start)

    def over(self, choice: Choice) -> float:
        """Bytes above the budget, added up over all steps."""
        return float(np.maximum(choice.result.line - self.search.budget, 0).sum())

    def run(self) -> Choice:
        now, over = self.best, self.least
        while self.left > 0 and self.least > 0 and self.changes:
            now, over = self._down(now, over)
            if over <= self.least:
                self.best, self.least = now, over
            elif self.draw.random() < 0.5:
                now = self.best
            now = self._look(now.fates, self.draw.sample(self.changes, self._few()))
            over = self.over(now)
        return min(self.best, now, key=self.search.rank)

    def _down(self, now: Choice, over: float) -> tuple[Choice, float]:
        """Single changes that help, until none does."""
        better = True
        while better and over > 0:
            better = False
            for change in sorted(self.changes, key=lambda c: -c.nbytes * self.draw.random()):
                if self.left <= 0 or over == 0:
                    break
                if all(now.fates[v] == change.fate for v in change.values):
                    continue
                trial = self._look(now.fates, [change])
                then = self.over(trial)
                if then < over or (then == over and self.draw.random() < 0.3):
                    better |= then < over
                    now, over = trial, then
        return now, over

    def _few(self) -> int:
        return min(self.draw.randint(1, 6), len(self.changes))

    def _look(self, fates: Sequence[int], changes: Sequence[Change]) -> Choice:
        changed = list(fates)
        for change in changes:
            for value in change.values:
                changed[value] = change.fate
        choice = self.search.simulated(changed)
        self.left -= max(len(choice.result.line) / STEPS, 1 / LOOKS)
        return choice

    def _changes(self) -> list[Change]:
        """Every fate that a value, or all values of a maker, may get."""
        values, found = self.step.values, []
        for index in self.search.free:
            fates = [Fate.KEPT, Fate.DROPPED]
            if self.step.makers[values[index].maker].draw is not None:
                fates.append(Fate.PACKED)
            found += [Change((index,), fate, values[index].nbytes) for fate in fates]
        for maker in _repeatable(self.search):
            nbytes = sum(values[v].nbytes for v in maker.values)
            found.append(Change(tuple(maker.values), Fate.REPEATED, nbytes))
        for members in self._modules():
            nbytes = sum(values[v].nbytes for v in members)
            found += [Change(members, fate, nbytes) for fate in (Fate.KEPT, Fate.DROPPED)]
        return found

    def _modules(self) -> list[tuple[int, ...]]:
        """What a module makes, parts included: many small values that only count together."""
        made: dict[str, list[int]] = {}
        for index in self.search.free:
            node = self.step.makers[self.step.values[index].maker].nodes[0]
            parts = node.meta.get("module", "").split(".")
            for length in range(1, len(parts) + 1):
                made.setdefault(".".join(parts[:length]), []).append(index)
        return sorted({tuple(members) for members in made.values() if len(members) > 1})
