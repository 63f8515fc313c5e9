"""A plan within a budget by any means, or the proof that there is none."""

from __future__ import annotations

from autograder.reference.planner.backwards import Backwards
from autograder.reference.planner.floor import Floor, certificate, lowest_peak
from autograder.reference.planner.search import Choice, Search
from autograder.reference.planner.shed import shed_plan
from autograder.reference.timetable import Timetable, cheaper, fates_of, simulate_table
from autograder.reference.values import Step

#: Bounds a search: needs that it looks at. What it has proven until then counts.
NEEDS = 20_000
#: Bounds the first search: needs times nodes of the step. Later ones may take four times that.
NODE_VISITS = 9_000_000
#: So many of the largest values are looked at where all are too many; the most come last.
LARGEST = (40, 80, 120)
#: Bounds each of these searches: needs.
PROOF_NEEDS = 60_000
#: Bounds a plan that sheds: runs of makers that it tries.
RUNS = 400_000
#: Share of its time that the descent has where a plan is there already.
GIVEN = 0.6
#: Entries of a timetable that are tried without, and those times the entries that there are.
TRIES, TRIED_ENTRIES = 300, 300_000


def best_choice(step: Step, budget: int) -> tuple[Choice, Floor]:
    """The cheapest choice found within ``budget`` bytes, and a floor of all choices.

    Where none is within the budget, the one with the lowest peak. The floor is then above the
    budget, unless the step is too large for a proof.
    """
    search = Search(step, budget)
    choice = search.run()
    floor = lowest_peak(step)
    if choice.result.peak <= budget:
        return choice, floor
    reach = _Reach(search, choice, floor)
    return reach.run(), reach.floor


class _Reach:
    def __init__(self, search: Search, choice: Choice, floor: Floor) -> None:
        self.search, self.start, self.best, self.floor = search, choice, choice, floor
        self.wanted = max(search.budget, floor.nbytes)

    def run(self) -> Choice:
        step, budget = self.search.step, self.search.budget
        everything = Backwards(step, len(step.values) + len(step.makers))
        few = min(NEEDS, NODE_VISITS // max(len(step.order), 1))
        if self._look(everything, self.wanted, few) and self.best.result.peak > budget:
            return self.best
        if self.best.result.peak > budget:
            self._shed(everything, self.wanted)
        if self.best.result.peak > budget and self._refute(everything):
            return self.best
        # Fates mostly lead to a cheaper plan than a timetable, where they lead to one at all.
        share = GIVEN if self.best.result.peak <= budget else 1
        self.best = min(self.best, self.search.descend(self.start, share), key=self.search.rank)
        if self.best.result.peak <= budget:
            return self.best
        least, many = self.floor.nbytes, min(NEEDS, 4 * few)
        for enough in dict.fromkeys((self.wanted, least, (self.wanted + least) // 2)):
            if self._look(everything, enough, many):
                break
        return self.best

    def _look(self, backwards: Backwards, enough: int, limit: int) -> bool:
        """Whether this search ended the matter: a plan that is wanted, or proof against it."""
        found = backwards.search(enough, limit)
        self._take(found.table)
        if found.nbytes > max(enough, self.floor.nbytes):
            self.floor = certificate(backwards, found, enough, limit)
        return self._ended()

    def _ended(self) -> bool:
        return self.best.result.peak <= max(self.search.budget, self.floor.nbytes)

    def _refute(self, everything: Backwards) -> bool:
        """Whether there is no plan within the budget, and the best one is as low as can be."""
        for most in LARGEST:
            if self._look(Backwards(self.search.step, most), self.wanted, PROOF_NEEDS):
                return True
            if self.floor.nbytes > self.wanted:
                self._shed(everything, self.floor.nbytes)
                return self._ended()
        return False

    def _shed(self, everything: Backwards, limit: int) -> None:
        """A plan within ``limit`` bytes; where that goes wrong, one further down."""
        lower = (limit + self.floor.nbytes) // 2
        for nbytes in dict.fromkeys((limit, lower)):
            table = shed_plan(everything, nbytes, RUNS)
            if table is not None:
                self._take(table)
                return

    def _take(self, table: Timetable | None) -> None:
        if table is not None:
            simulator = self.search.simulator
            tries = min(TRIES, TRIED_ENTRIES // max(len(table), 1))
            table = cheaper(simulator, table, self.search.budget, tries)
            result = simulate_table(simulator, table)
            choice = Choice(fates_of(simulator, table), result, table)
            self.best = min(self.best, choice, key=self.search.rank)
