"""Differences in what must wait for what: by what the edges force, not edge by edge."""

from __future__ import annotations

from collections.abc import Iterator

from torch import fx

from lab_utils.steps.compare.differences import Difference, Differs, quoted
from lab_utils.steps.compare.structure import Pairs, Structure
from lab_utils.steps.graph import control_dependencies
from lab_utils.steps.storage import is_random


def waits(a: Structure, b: Structure, to_b: Pairs, to_a: Pairs) -> Iterator[Difference]:
    """Where ``b`` forces another order than ``a``; the pairs lead from one to the other."""
    wanted = [(to_b[x], to_b[z]) for x, z in a.waits if {x, z} <= to_b.keys()]
    forced = b.order.forced(wanted + [(late, early) for early, late in wanted])
    for early, late in wanted:
        by_control = to_a[early] in control_dependencies(to_a[late])
        # What overwritten memory forces follows from the data edges, but for its direction.
        if (late, early) in forced:
            yield _reversed(early, late, by_control)
        elif by_control and (early, late) not in forced:
            text = (
                f"{quoted(late)} does not wait for {quoted(early)}: "
                "nothing keeps it from running before"
            )
            yield Difference(Differs.MUST_WAIT, late.name, early.name, text)
    mine = [
        (to_a[y], to_a[z])
        for y, z in b.waits
        if {y, z} <= to_a.keys() and y in control_dependencies(z)
    ]
    forced = a.order.forced(mine + [(late, early) for early, late in mine])
    for early, late in mine:
        if (early, late) not in forced and (late, early) not in forced:
            y, z = to_b[early], to_b[late]
            text = (
                f"{quoted(z)} waits for {quoted(y)}, which is not wanted: it runs later than it may"
            )
            yield Difference(Differs.NEEDLESS_WAIT, z.name, y.name, text)


def _reversed(early: fx.Node, late: fx.Node, by_control: bool) -> Difference:
    why = "the wait is the wrong way round"
    if not by_control:
        both_random = is_random(early) and is_random(late)
        why = "both draw random numbers" if both_random else "one overwrites what the other uses"
    text = f"{quoted(late)} must run after {quoted(early)}, not before it: {why}"
    return Difference(Differs.MUST_WAIT, late.name, early.name, text)
