"""Choosing fates: from a greedy plan to a better one by local search.

Only values that are in memory at the current peak, and that nobody reads just then, can
lower it. They are dropped in the order of bytes for each second, until the budget is
met; then the search tries to put expensive ones back, alone or in exchange for others.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from autograder.reference.mutwo import describe, greedy
from autograder.reference.planner.descent import descend
from autograder.reference.simulate import Fate, Simulated, Simulator
from autograder.reference.timetable import Timetable
from autograder.reference.values import NEVER, Step

#: Bounds the simulations of one search, so that its time does not grow with the graph.
NODE_VISITS = 3_000_000
FEWEST, MOST = 300, 2500


class Choice(NamedTuple):
    """Fates and what they lead to."""

    fates: tuple[int, ...]
    result: Simulated
    table: Timetable | None = None
    """Where fates alone do not say when what runs again."""


class Move(NamedTuple):
    """A value's new fate, the bytes that it frees at the peak, and the time that it adds."""

    value: int
    fate: Fate
    freed: int
    seconds: float


class Search:
    """Looks for the cheapest fates whose peak is at most ``budget`` bytes."""

    def __init__(self, step: Step, budget: int) -> None:
        self.step, self.budget = step, budget
        self.simulator = Simulator(step)
        length = max(len(step.order), 1)
        self.evaluations = max(FEWEST, min(MOST, NODE_VISITS // length))
        self.free = [i for i, v in enumerate(step.values) if v.pinned is None]

    def run(self) -> Choice:
        """The best choice found; where none meets the budget, the one with the lowest peak."""
        start = self.look(self.simulator.default())
        if start.result.peak <= self.budget:
            return start
        plain = self.plain_greedy(start)
        found = [plain, self.relieve(start, capped=False), self.relieve(start, capped=True)]
        found = [self.prune(choice) for choice in found]
        return self.improve(min(found, key=self.rank))

    def descend(self, choice: Choice, share: float = 1) -> Choice:
        """Within the budget at any price, in a share of the time; then the price goes down."""
        lower = descend(self, choice, share)
        self.evaluations = max(self.evaluations, FEWEST)
        return min(choice, self.improve(self.prune(lower)), key=self.rank)

    def look(self, fates: Sequence[int]) -> Choice:
        """Simulate ``fates``, as one of those that the search may."""
        self.evaluations -= 1
        return self.simulated(fates)

    def simulated(self, fates: Sequence[int]) -> Choice:
        """What ``fates`` lead to."""
        return Choice(tuple(fates), self.simulator.simulate(fates))

    def changed(self, fates: Sequence[int], index: int) -> list[int]:
        """The fates with that of one value turned: kept where it was rebuilt, and the reverse."""
        changed, maker = list(fates), self.step.makers[self.step.values[index].maker]
        fate = Fate.DROPPED if fates[index] == Fate.KEPT else Fate.KEPT
        for value in maker.values:
            if value == index or fates[value] == Fate.REPEATED:
                changed[value] = fate
        return changed

    def rank(self, choice: Choice) -> tuple[int, float]:
        """Less is better: first within the budget, then cheap."""
        return max(choice.result.peak, self.budget), choice.result.seconds

    def plain_greedy(self, start: Choice) -> Choice:
        """The first prefix of μ-TWO's choices that meets the budget; else the lowest peak.

        On large graphs only some of the prefixes are simulated.
        """
        made_by = {maker.nodes[0]: maker.values for maker in self.step.makers}
        order = greedy(describe(self.step))
        stride = 1 + len(order) // FEWEST
        fates, best = list(start.fates), start
        for count, node in enumerate(order, 1):
            for value in made_by[node]:
                fates[value] = Fate.DROPPED
            if count % stride == 0 or count == len(order):
                best = min(best, self.simulated(fates), key=self.rank)
                if best.result.peak <= self.budget:
                    break
        return best

    def relieve(self, choice: Choice, capped: bool, limit: int = 1 << 30) -> Choice:
        """Drop what is idle at the peak, best ratio first, until the budget is met.

        ``capped`` counts no more bytes of a value than are over the budget.
        """
        best = choice
        at_once = 1 + len(self.free) // 60  # so that a large graph needs no more simulations
        while choice.result.peak > self.budget and limit > 0 and self.evaluations > 0:
            over = choice.result.peak - self.budget

            def ratio(move: Move, over: int = over) -> float:
                return (min(move.freed, over) if capped else move.freed) / (move.seconds + 1e-9)

            moves = sorted(self.moves(choice), key=ratio, reverse=True)
            if not moves:
                break
            fates = list(choice.fates)
            for move in moves[:at_once]:
                if over > 0 and fates[move.value] == choice.fates[move.value]:
                    fates[move.value] = move.fate
                    over -= move.freed
            choice = self.look(fates)
            best = min(best, choice, key=self.rank)
            limit -= 1
        return best

    def moves(self, choice: Choice) -> Iterator[Move]:
        """What could leave memory at the peak."""
        place, before = choice.result.places[0], choice.result.before
        run, first, *_ = self.simulator.reruns(choice.fates)
        for index in self.free:
            value, fate = self.step.values[index], choice.fates[index]
            maker = self.step.makers[value.maker]
            need = min(value.first_late, first[index])
            if need == NEVER or value.last_early >= place or need < place + (not before):
                continue
            if need == place and before:
                continue
            if fate == Fate.KEPT:
                seconds = self.added_seconds(value.maker, choice.fates, run)
                yield Move(index, Fate.DROPPED, value.nbytes, seconds)
                if maker.draw is not None:
                    packed = maker.pack_seconds + maker.unpacked_seconds
                    yield Move(index, Fate.PACKED, value.nbytes - maker.packed_bytes, packed)
            elif fate == Fate.PACKED:
                seconds = maker.seconds - maker.pack_seconds - maker.unpacked_seconds
                yield Move(index, Fate.DROPPED, maker.packed_bytes, max(seconds, 0.0))

    def added_seconds(self, maker: int, fates: Sequence[int], run: Sequence[int]) -> float:
        """Time of all makers that would run again if ``maker`` did, and do not yet."""
        if run[maker] < NEVER:
            return 0.0
        path = {maker: None}
        queue = [maker]
        while queue:
            for read in self.step.makers[queue.pop()].reads:
                source = self.step.values[read].maker
                if fates[read] and run[source] == NEVER and source not in path:
                    path[source] = None
                    queue.append(source)
        return sum(self.step.makers[m].seconds for m in path)

    def prune(self, choice: Choice, limit: int = 1 << 30) -> Choice:
        """Put dropped values back where the budget allows it, the most expensive first."""
        dropped = [i for i in self.free if choice.fates[i] and self.step.values[i].last_late >= 0]
        dropped.sort(key=lambda i: -self.step.makers[self.step.values[i].maker].seconds)
        for index in dropped[:limit]:
            cheaper = [Fate.DROPPED] if choice.fates[index] == Fate.REPEATED else []
            for fate in (Fate.KEPT, *cheaper):
                if self.evaluations <= 0:
                    return choice
                fates = list(choice.fates)
                for value in self.step.makers[self.step.values[index].maker].values:
                    if value == index or fates[value] == Fate.REPEATED:
                        fates[value] = fate
                choice = min(choice, self.look(fates), key=self.rank)
        return choice

    def improve(self, choice: Choice) -> Choice:
        """Change a few values at random, mend what that broke, and keep what is better."""
        draw = random.Random(0)
        best, patience = choice, 40 + 8 * len(self.free)
        while self.evaluations > 0 and patience > 0:
            patience -= 1
            fates = list(best.fates)
            changed = self.worth_changing(best)
            for index in draw.sample(changed, min(draw.randint(1, 3), len(changed))):
                options = [Fate.KEPT, Fate.DROPPED]
                if self.step.makers[self.step.values[index].maker].draw is not None:
                    options.append(Fate.PACKED)
                fates[index] = draw.choice([f for f in options if f != fates[index]])
            trial = self.relieve(self.look(fates), capped=draw.random() < 0.5, limit=8)
            if trial.result.peak <= max(self.budget, best.result.peak):
                trial = self.prune(trial, limit=12)
            best = min(best, trial, key=self.rank)
        return best

    def worth_changing(self, choice: Choice) -> list[int]:
        """Within the budget any value; above it those in memory at the peak, clones included."""
        fates, place = choice.fates, choice.result.places[0]
        if choice.result.peak <= self.budget:
            return [i for i in self.free if self.step.values[i].last_late >= 0 or fates[i]]
        run, _, last, *_ = self.simulator.reruns(fates)
        scale = self.simulator.length + 1
        found = []
        for index in self.free:
            value = self.step.values[index]
            start = run[value.maker] if fates[index] else value.born
            if start <= place <= max(value.last_late, last[index] // scale):
                found.append(index)
        return found or self.free
