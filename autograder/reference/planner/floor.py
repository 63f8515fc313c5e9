"""A bound that no plan can go below, with its proof: what is in memory at one step, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from autograder.reference.values import Step
from lab_utils.kit.words import size
from lab_utils.steps.kept import is_early
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import program_order

#: So many values are told one by one, the largest.
TOLD = 6


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

    def __str__(self) -> str:
        told = [f"{h.name} ({size(h.nbytes)}: {h.why})" for h in self.held[:TOLD]]
        rest = self.held[TOLD:]
        if rest:
            told.append(f"{len(rest)} more ({size(sum(h.nbytes for h in rest))})")
        return (
            f"{self.at} ({self.phase}). Then these are in memory in every plan: {', '.join(told)}"
        )


def lowest_peak(step: Step) -> Floor:
    """The floor of ``step``.

    While a node runs, what it reads and makes is in memory, and so is all that no plan
    changes: placeholders, gradients, pinned values.
    """
    if not step.order:
        return Floor(0, "nothing", "forward", ())
    total, peak, at = 0, -1, 0
    change: Counter[int] = Counter()
    needed: Counter[int] = Counter()
    for first, last, nbytes in step.fixed:
        change[first] += nbytes
        change[last + 1] -= nbytes
    for value in step.values:
        if value.pinned:
            change[value.born] += value.nbytes
            change[max(value.last_early, value.last_late) + 1] -= value.nbytes
        else:
            for place in value.touched:
                needed[place] += value.nbytes
    for place in range(len(step.order)):
        total += change[place]
        if total + needed[place] > peak:
            peak, at = total + needed[place], place
    node = step.order[at]
    held = [h for h in (*_fixed(step, at), *_values(step, at)) if h.nbytes]
    return Floor(peak, node.name, str(node.meta["phase"]), tuple(sorted(held, key=_largest)))


def _largest(held: Held) -> tuple[int, str]:
    return -held.nbytes, held.name


def _fixed(step: Step, at: int) -> list[Held]:
    """What no plan changes: given to the step, or made after the forward pass."""
    found = []
    for life in live_bytes(step.graph, program_order(step.graph)).alive(at):
        owner = life.storage.owner
        if owner.op == "placeholder":
            found.append(Held(life.name, life.nbytes, f"{life.kind}, given to the step"))
        elif not is_early(owner):
            last = step.order[life.last].name
            used = "it is in use" if life.last == at else f"{last} still needs it"
            found.append(Held(life.name, life.nbytes, f"{life.kind}, {used}"))
    return found


def _values(step: Step, at: int) -> list[Held]:
    """Of what forward makes: what the node itself uses, and what cannot be dropped."""
    found = []
    for value in step.values:
        if value.pinned:
            if value.born <= at <= max(value.last_early, value.last_late):
                found.append(Held(value.name, value.nbytes, f"kept: {value.pinned}"))
        elif at in value.touched:
            found.append(Held(value.name, value.nbytes, "this step reads or makes it"))
    return found
