"""A bound that no plan can go below, with its proof: what is in memory at one step, and why.

The proof is short where one node needs so much by itself (`lowest_peak`). Else it is a search
that found no way with fewer bytes; then it names what a node needs, the cheapest way to have that
there, what this way holds where it holds most, and what the other ways would hold (`certificate`).
"""

from __future__ import annotations

from dataclasses import dataclass

from autograder.reference.planner.backwards import ARRIVED, Backwards, Found, Move, Need, members
from autograder.reference.values import Step
from lab_utils.kit.words import size
from lab_utils.steps.kept import is_early
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import program_order

#: So many values are told one by one, the largest.
TOLD = 6
#: And so many ways beside the cheapest.
OTHERS = 3


@dataclass(frozen=True)
class Held:
    """A value that is in memory at the floor's step, whatever is recomputed."""

    name: str
    nbytes: int
    why: str


@dataclass(frozen=True)
class Floor:
    """The certificate: the bytes of all that is ``held`` while the node ``at`` runs."""

    nbytes: int
    at: str
    phase: str
    held: tuple[Held, ...]
    """Largest first; together they have ``nbytes``."""
    needed: str = ""
    """Where no node needs so much alone: which node needs what at once."""
    ways: tuple[str, ...] = ()
    """And all ways to have that there, the cheapest first; ``held`` is of this one."""

    def __str__(self) -> str:
        told = [f"{h.name} ({size(h.nbytes)}: {h.why})" for h in self.held[:TOLD]]
        rest = self.held[TOLD:]
        if rest:
            told.append(f"{len(rest)} more ({size(sum(h.nbytes for h in rest))})")
        if not self.ways:
            return (
                f"{self.at} ({self.phase}). Then these are in memory in every plan: "
                f"{', '.join(told)}"
            )
        others = self.ways[1 : 1 + OTHERS]
        more = len(self.ways) - 1 - len(others)
        also = f"; the others: {'; '.join(others)}" if others else ""
        return (
            f"{self.needed}. Ways to have that there: {len(self.ways)}, and each holds as much or "
            f"more. The cheapest is {self.ways[0]}, where these are in memory: "
            f"{', '.join(told)}{also}{f'; and {more} more' if more else ''}"
        )


def lowest_peak(step: Step) -> Floor:
    """The floor of ``step``.

    While a node runs, what it reads and makes is in memory, and so is all that no plan
    changes: placeholders, gradients, pinned values.
    """
    if not step.order:
        return Floor(0, "nothing", "forward", ())
    search = Backwards(step, 0)
    at = max(range(len(step.order)), key=lambda place: (search.base[place], -place))
    held = [*_fixed(step, at, False), *_values(search, at, search.held[at], False)]
    return Floor(
        search.base[at],
        step.order[at].name,
        str(step.order[at].meta["phase"]),
        _in_order(held),
    )


def certificate(search: Backwards, found: Found, enough: int, limit: int) -> Floor:
    """The floor that a search has proven, told from as near its narrowest step as can be.

    Args:
        search: which found it.
        found: more than ``enough`` bytes, and so no plan within them.
        enough: bytes that the search was given.
        limit: needs that a search from another node may look at.
    """
    narrow = min((need.place for need in found.tried), default=found.start)
    for further in (0, *(2**n for n in range(10))):
        if narrow + further < found.start:
            # A shorter proof takes no more needs than the one that is there.
            near = search.search(enough, min(limit, len(found.tried) + 1), narrow + further)
            if near.nbytes >= found.nbytes:
                found = near
                break
    blocked: dict[str, tuple[Need, Move]] = {}
    for need, nbytes in found.tried.items() or [(_first(search, found), enough)]:
        for move in search.moves(need, nbytes):
            if move.nbytes >= found.nbytes:
                words = _way(search, need, move)
                if words not in blocked or move.nbytes < blocked[words][1].nbytes:
                    blocked[words] = need, move
    if not blocked:  # one node needs that much alone
        return lowest_peak(search.step)
    ways = sorted(blocked, key=lambda words: (blocked[words][1].nbytes, words))
    place, held = _moment(search, *blocked[ways[0]])
    node, start = search.step.order[place], search.step.order[found.start]
    wanted = _names(search, search.held[found.start])
    return Floor(
        found.nbytes,
        node.name,
        str(node.meta["phase"]),
        _in_order(held),
        f"{start.name} ({start.meta['phase']}), which needs {wanted} at once",
        tuple(f"{words}: {size(blocked[words][1].nbytes)}" for words in ways),
    )


def _first(search: Backwards, found: Found) -> Need:
    return Need(found.start, search.held[found.start] & search.seen)


def _name(search: Backwards, index: int) -> str:
    values = search.step.values
    return values[index].name if index < len(values) else "a packed mask or a generator's state"


def _way(search: Backwards, need: Need, move: Move) -> str:
    """A way to a need, in words."""
    order = search.step.order
    if move.maker is not None:
        maker = search.step.makers[move.maker].name
        return f"to rebuild {maker} right before {order[need.place].name}"
    if move.before.place == ARRIVED:
        place = int(search.in_forward(need.values).argmax())
        idle = sum(1 << i for i in members(need.values) if search.until[i] < place)
        return f"to keep {_names(search, idle)} from the forward pass, over {order[place].name}"
    over = need.place - 1
    return f"to keep {_names(search, need.values & ~search.held[over])} over {order[over].name}"


def _names(search: Backwards, values: int) -> str:
    """The largest of ``values`` by name, the others counted."""
    largest = sorted(members(values), key=lambda i: (-search.sizes[i], i))
    more = f" and {len(largest) - TOLD} more" if len(largest) > TOLD else ""
    return (", ".join(_name(search, i) for i in largest[:TOLD]) or "nothing of forward") + more


def _moment(search: Backwards, need: Need, move: Move) -> tuple[int, list[Held]]:
    """The place at (or before) which a way holds most, and what it holds then."""
    if move.maker is not None:
        place, there = need.place, search.held_before[need.place]
        alive = max(
            search.alive[move.maker],
            key=lambda alive: search.weight((need.values | alive) & ~there),
        )
        values = need.values | alive | there
        return place, [*_fixed(search.step, place, True), *_values(search, place, values, True)]
    place = need.place - 1
    values = need.values
    if move.before.place == ARRIVED:
        place = int(search.in_forward(need.values).argmax())
        values = sum(1 << i for i in members(need.values) if search.until[i] < place)
    values |= search.held[place]
    return place, [*_fixed(search.step, place, False), *_values(search, place, values, False)]


def _in_order(held: list[Held]) -> tuple[Held, ...]:
    """Largest first; nothing without bytes."""
    return tuple(sorted((h for h in held if h.nbytes), key=lambda h: (-h.nbytes, h.name)))


def _fixed(step: Step, at: int, before: bool) -> list[Held]:
    """What no plan changes: given to the step, or made after the forward pass."""
    found = []
    for life in live_bytes(step.graph, program_order(step.graph)).alive(at):
        owner = life.storage.owner
        if owner.op == "placeholder":
            found.append(Held(life.name, life.nbytes, f"{life.kind}, given to the step"))
        elif not is_early(owner) and not (before and life.first == at):
            last = step.order[life.last].name
            used = "it is in use" if life.last == at else f"{last} still needs it"
            found.append(Held(life.name, life.nbytes, f"{life.kind}, {used}"))
    return found


def _values(search: Backwards, at: int, values: int, before: bool) -> list[Held]:
    """Of what forward makes: what is used just then, what cannot be dropped, what is kept."""
    found = []
    for index in members(values):
        value = search.step.values[index] if index < len(search.step.values) else None
        held = (search.held_before if before else search.held)[at] >> index & 1
        later = [a for a, _ in value.late_uses if a >= at] if value else []
        if value is None:
            why = "kept to rebuild a random mask"
        elif value.pinned and held:
            why = f"kept: {value.pinned}"
        elif at in value.touched and not before:
            why = "this step reads or makes it"
        elif value.born <= at <= value.last_early:
            why = f"{search.step.order[value.last_early].name} still needs it"
        elif later:
            why = f"for {search.step.order[later[0]].name}"
        else:
            why = "for what is rebuilt from it"
        found.append(Held(_name(search, index), search.sizes[index], why))
    return found
