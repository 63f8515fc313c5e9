"""A plan far below what a search finds, by rebuilding on the spot.

Going back through the step, a need is carried from node to node. Where it is too heavy to be
carried on, it should have *shed* values on the way: each is rebuilt right there, from what is left
of the need and from what is always in memory, so that nothing new is needed before. All that is
missing runs together, each maker once, if that is within the bytes; else what a maker reads is
rebuilt piece by piece, and makers that several pieces share run once for each of them: more time,
fewer bytes.

What to shed, and where, is learnt from dead ends: the cheapest values, where most bytes are free.
If nothing can be shed there, then something was shed that is missing now, and is kept.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from autograder.reference.planner.backwards import Backwards, Need, members
from autograder.reference.timetable import Timetable
from autograder.reference.values import Step

#: Runs of makers for one value that is shed, for each maker of the step.
RUNS_EACH = 10


class Shed(NamedTuple):
    """What is left of a need, and the makers that run for the rest, the last one first."""

    need: Need
    makers: list[int]


def shed_plan(search: Backwards, limit: int, runs: int) -> Timetable | None:
    """A plan within ``limit`` bytes, or None where this finds none.

    ``runs``: so many runs of makers are tried altogether.
    """
    return _Way(search, _Shedding(search, limit, runs)).table()


class _Shedding:
    """Takes values out of needs within ``limit`` bytes."""

    def __init__(self, search: Backwards, limit: int, runs: int) -> None:
        self.search, self.step = search, search.step
        self.limit, self.left = limit, runs
        self._alone = self._bytes_alone()
        self._failed: dict[tuple[int, int, int], int] = {}
        self._until = 0

    def free(self, need: Need) -> int:
        """The values of a need that may be shed."""
        return need.values & ~self.search.stays & ~self.search.held_before[need.place]

    def without(self, need: Need, value: int) -> Shed | None:
        """``need`` without one of its values; None where that takes too many bytes or runs."""
        self._until = max(self.left - RUNS_EACH * len(self.step.makers), 0)
        return self._without(need, value)

    def _without(self, need: Need, value: int) -> Shed | None:
        room = self.limit - self.search.base_before[need.place]
        key = need.values, self.search.held_before[need.place], value
        if self.left <= self._until or self._failed.get(key, -1) >= room:
            return None
        shed = self._together(need, value) or self._apart(need, value)
        if shed is None:
            self._failed[key] = room
        return shed

    def missing(self, need: Need, value: int) -> list[int]:
        """The makers that have to run for ``value`` when the rest of a need is there."""
        have = need.values & ~(1 << value)
        have |= self.search.stays | self.search.held_before[need.place]
        found, queue = set(), [self.step.values[value].maker]
        while queue:
            maker = queue.pop()
            if maker not in found:
                found.add(maker)
                reads = self.step.makers[maker].reads
                queue += [self.step.values[r].maker for r in reads if not have >> r & 1]
        return sorted(found)

    def _together(self, need: Need, value: int) -> Shed | None:
        """Each maker runs once, in the order of the step."""
        makers = self.missing(need, value)[::-1]
        before: Need | None = need
        for maker in makers:
            before = self._before(before, maker) if before else None
        return Shed(before, makers) if before else None

    def _apart(self, need: Need, value: int) -> Shed | None:
        """What its maker reads is rebuilt piece by piece."""
        maker = self.step.values[value].maker
        before = self._before(need, maker)
        if before is None:
            return None
        makers, new = [maker], self.free(before) & ~need.values
        # The piece that takes most to make beyond its own bytes is made first, so shed last.
        for read in sorted(members(new), key=lambda r: self._alone[r] - self.search.sizes[r]):
            if before.values >> read & 1:
                shed = self._without(before, read)
                if shed is None:
                    return None
                before, makers = shed.need, makers + shed.makers
        return Shed(before, makers)

    def _before(self, need: Need, maker: int) -> Need | None:
        """What is needed before ``maker`` runs again; None where it holds too many bytes."""
        self.left -= 1
        if need.place > self.step.makers[maker].deadline:
            return None
        move = self.search.rebuild(need, maker)
        return move.before if move.nbytes <= self.limit else None

    def _bytes_alone(self) -> list[int]:
        """For each value, the bytes to make it from nothing, piece by piece."""
        sizes, most = self.search.sizes, [0] * len(self.search.sizes)
        for index, maker in enumerate(self.step.makers):
            held, peak = 0, max(self.search.weight(alive) for alive in self.search.alive[index])
            for read in sorted(maker.reads, key=lambda r: sizes[r] - most[r]):
                peak = max(peak, held + most[read])
                held += sizes[read]
            for value in maker.values:
                most[value] = peak
        return most


class _Lesson(NamedTuple):
    """A value that is to be shed at a place, after others; what that costs stands first."""

    price: float
    value: int
    place: int
    others: tuple[int, ...]


class _Way:
    """The way back through the step, with what was learnt on it."""

    def __init__(self, search: Backwards, shedding: _Shedding) -> None:
        self.search, self.shedding = search, shedding
        self.uses = _uses(search.step)
        self.limit = shedding.limit
        self.shed_at: dict[int, list[int]] = {}
        """For each place, the values that the need sheds there."""
        self.came: dict[int, tuple[Need, int]] = {}
        """For each place that was reached: the need, and how many makers ran after it."""
        self.left: dict[int, Need] = {}
        """And what was left of it."""
        self.joined: dict[int, int] = {}
        """For each value, the place of its last use that was passed."""
        self.ran: list[tuple[int, int]] = []
        self.tried: set[tuple[int, int]] = set()
        """Places and values that were shed there at some time."""

    def table(self) -> Timetable | None:
        """All that runs again, or None where there is no way on."""
        search = self.search
        last = len(search.step.order) - 1
        if max(search.base, default=0) > self.limit:
            return None
        if last < search.late:  # backward reads nothing of forward
            return ()
        need = Need(last, search.held[last] & search.seen)
        while self.shedding.left > 0:
            self.came[need.place] = need, len(self.ran)
            for value in members(need.values & search.held[need.place]):
                self.joined[value] = need.place
            need = self.left[need.place] = self._shed(need)
            over = self._over(need)
            if over <= self.limit:
                if need.place == search.late:
                    return tuple(reversed(self.ran))
                before = need.place - 1
                need = Need(before, (need.values | search.held[before]) & search.seen)
            else:
                back = self._learn(need, over - self.limit)
                if back is None:
                    return None
                need, count = self.came[back]
                del self.ran[count:]
        return None

    def _over(self, need: Need) -> int:
        """Bytes that are held when a need is carried over the node before, or over forward."""
        if need.place == self.search.late:
            return int(self.search.in_forward(need.values).max(initial=0))
        before = need.place - 1
        idle = need.values & ~self.search.held[before]
        return self.search.base[before] + self.search.weight(idle)

    def _shed(self, need: Need) -> Need:
        """What is left of a need after all that it sheds at its place."""
        for value in self.shed_at.get(need.place, ()):
            shed = None
            if self.shedding.free(need) >> value & 1:
                shed = self.shedding.without(need, value)
            if shed is not None:
                need = shed.need
                self.ran += [(need.place, maker) for maker in shed.makers]
        return need

    def _learn(self, need: Need, nbytes: int) -> int | None:
        """Shed ``nbytes`` of a need in time, the cheapest first; the place to go on from."""
        self.shedding.left -= len(self.search.step.makers)  # so that learning ends
        ways = []
        for value, places in self._roomiest(need).items():
            untried = [place for place in places if (place, value) not in self.tried]
            found = (self._with_others(place, value) for place in untried)
            if (way := next(filter(None, found), None)) is not None:
                ways.append(way)
        back = None
        for way in sorted(ways):
            if nbytes > 0:
                self.tried.add((way.place, way.value))
                self.shed_at.setdefault(way.place, []).extend((*way.others, way.value))
                nbytes -= self.search.sizes[way.value]
                back = max(way.place, back or way.place)
        return self._keep(need) if back is None else back

    def _keep(self, need: Need) -> int | None:
        """Do not shed what would help most to rebuild a need; the place to go on from."""
        best, found = 0.0, None
        missing = self._missing(need, 0)
        for place, gone in self.shed_at.items():
            for value in gone if place > need.place else ():
                saved = missing - self._missing(need, 1 << value)
                gain = saved / max(self.search.sizes[value], 1)
                if not need.values >> value & 1 and gain > best:
                    best, found = gain, (place, value)
        if found is None:
            return None
        place, value = found
        self.shed_at[place] = [v for v in self.shed_at[place] if v != value]
        self.tried.add(found)
        return place

    def _missing(self, need: Need, more: int) -> int:
        """Makers that have to run for each value of a need, if there were ``more`` in memory."""
        there = Need(need.place, need.values | more)
        values = members(self.shedding.free(need))
        return sum(len(self.shedding.missing(there, value)) for value in values)

    def _with_others(self, place: int, value: int) -> _Lesson | None:
        """How to shed a value; with it others, where it cannot be shed alone."""
        need = self.left[place]
        others: list[int] = []
        makers: list[int] = []
        shed = self.shedding.without(need, value)
        for other in members(self.shedding.free(need) & ~(1 << value)):
            if shed is not None:
                break
            gone = self.shedding.without(need, other) if need.values >> other & 1 else None
            if gone is not None:
                need, makers = gone.need, makers + gone.makers
                others.append(other)
                shed = self.shedding.without(need, value)
        if shed is None:
            return None
        price = self._price(makers + shed.makers, value, place)
        return _Lesson(price, value, place, tuple(others))

    def _price(self, makers: list[int], value: int, place: int) -> float:
        """Seconds for each byte, as often as what is made of a value is still used before."""
        seconds = sum(self.search.step.makers[m].seconds + 1e-9 for m in makers)
        uses = 1 + bisect_left(self.uses[value], place)
        return seconds * uses / max(self.search.sizes[value], 1)

    def _roomiest(self, need: Need) -> dict[int, list[int]]:
        """For each value of a need, the places since its last use where most bytes are free.

        Beside the rest of the need, and without it.
        """
        search = self.search
        place = beside = bare = need.place
        found = {}
        for value in sorted(members(self.shedding.free(need)), key=self.joined.__getitem__):
            while place < self.joined[value]:
                place += 1
                if self._held(place) < self._held(beside):
                    beside = place
                if search.base_before[place] <= search.base_before[bare]:
                    bare = place
            found[value] = list(dict.fromkeys((beside, bare)))
        return found

    def _held(self, place: int) -> int:
        """Bytes in memory just before a node, the need included."""
        idle = self.left[place].values & ~self.search.held_before[place]
        return self.search.base_before[place] + self.search.weight(idle)


def _uses(step: Step) -> list[list[int]]:
    """For each value, the places of all uses in backward of what is made of it, in order."""
    below = [{index} for index in range(len(step.values))]
    for maker in reversed(step.makers):
        for read in maker.reads:
            below[read].update(*(below[v] for v in maker.values))
    return [
        sorted(first for v in values for first, _ in step.values[v].late_uses) for values in below
    ]
