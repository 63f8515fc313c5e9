"""What makes clones right: they compute the values that were let go, from what is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

import torch
from torch import fx

from lab_utils.kit.task import Finding
from lab_utils.labs.graphs.judge.rewrite import Rewrite, is_late
from lab_utils.labs.graphs.nodes import is_clone
from lab_utils.steps.compare.structure import Facts
from lab_utils.steps.graph import Phase, operator_name, phase
from lab_utils.steps.kept import is_early
from lab_utils.steps.storage import draws_numbers, is_operation, overwritten_inputs

_BATCH_NORM = str(torch.ops.aten.native_batch_norm.default)
_STATISTICS = ("3", "4")  # where it takes its running mean and variance: a clone takes none


def clone_findings(rewrite: Rewrite) -> dict[fx.Node, list[Finding]]:
    """What is wrong with each clone; those without a mistake are left out."""
    found = {c: [*_wrong(rewrite, c), *_lost_reads(rewrite, c)] for c in rewrite.clones}
    return {clone: findings for clone, findings in found.items() if findings}


def _wrong(rewrite: Rewrite, clone: fx.Node) -> Iterator[Finding]:
    original = rewrite.original.get(clone)
    if original is None:
        yield Finding(
            f"{clone.name} computes no value of the forward pass",
            "the operator and the inputs of its original",
            "Compare its operator and each of its inputs with the original's.",
        )
        return
    if clone in rewrite.needless:
        reader = rewrite.needless[clone].name
        yield Finding(
            f"{clone.name} computes {original.name} again, which is kept",
            f"no clone of {original.name}",
            f"Backward begins with {reader}, which reads {original.name}: it is still in memory."
            if original in rewrite.ends
            else f"{reader} reads the stored {original.name}: it is in memory all the time.",
        )
    elif not is_clone(clone):
        look = "mark_recomputed(clone) notes its phase, and colours it."
        yield Finding(f"{clone.name} is not marked", "a marked clone", look)
    mine, right = rewrite.after.facts[clone], rewrite.base.facts[original]
    if mine.operator != right.operator:
        wanted = operator_name(original)
        yield Finding(
            f"{clone.name} runs {operator_name(clone)}", wanted, f"{original.name} runs {wanted}."
        )
        return
    other = _other_operand(rewrite, clone, original)
    spoils = [n for n in overwritten_inputs(clone) if n not in rewrite.clones]
    if draws_numbers(clone):
        look = "Running it again gives another value: keep what it gave."
        yield Finding(f"{clone.name} draws new numbers", f"no clone of {original.name}", look)
    elif spoils:
        look = f"Running it again changes {spoils[0].name}, which others read."
        yours = f"{clone.name} overwrites {spoils[0].name} once more"
        yield Finding(yours, f"no clone of {original.name}", look)
    elif other is not None:
        yield other
    elif _constants(mine, mine) != _constants(right, mine):
        look = "Copy the node with all its arguments."
        yield Finding(f"{clone.name} has other arguments", f"those of {original.name}", look)


def left_out(rewrite: Rewrite) -> set[fx.Node]:
    """Values that have no clone, though a clone of their reader lacks them.

    Whoever forgets to clone a value has nothing to let backward read in its place: that is
    told of the clone, and not once more of backward.
    """
    return {
        read
        for clone, original in rewrite.original.items()
        for _, read in _operands(rewrite, clone, original)[1]
        if rewrite.clone_of(read) is None
    }


def updates_read(rewrite: Rewrite, clone: fx.Node) -> dict[fx.Node, fx.Node]:
    """Updates that ``clone`` reads in place of what they update, and what that is in the base.

    Where that closes a circle in a drawing, the edge stands among what the clone waits for.
    """
    original = rewrite.original.get(clone)
    late = [n for _, n in rewrite.after.facts[clone].reads if is_late(n)]
    late += rewrite.waits.get(clone, ())
    if original is None or not late:
        return {}
    missed = {rewrite.after_of.get(n): n for _, n in _operands(rewrite, clone, original)[1]}
    return {
        update: missed[read]
        for update in late
        if phase(update) is Phase.OPTIMIZER
        for _, read in rewrite.after.facts[update].reads
        if read in missed
    }


Places = list[tuple[str, fx.Node]]


def _operands(rewrite: Rewrite, clone: fx.Node, original: fx.Node) -> tuple[Places, Places]:
    """What ``clone`` reads and its original does not, and what it does not read but should."""
    mine, right = rewrite.after.facts[clone], rewrite.base.facts[original]
    have = [(place, read) for place, read in mine.reads if _counts(mine, place, mine)]
    want = [(place, read) for place, read in right.reads if _counts(right, place, mine)]
    left = Counter((place, rewrite.same[read]) for place, read in want)
    strange = []
    for place, read in have:
        value = rewrite.value(read)
        if value is not None and left[place, value]:
            left[place, value] -= 1
        else:
            strange.append((place, read))
    return strange, [(place, read) for place, read in want if left[place, rewrite.same[read]] > 0]


def _other_operand(rewrite: Rewrite, clone: fx.Node, original: fx.Node) -> Finding | None:
    strange, missed = _operands(rewrite, clone, original)
    for update, read in updates_read(rewrite, clone).items():
        return Finding(
            f"{clone.name} reads {update.name}",
            f"{read.name}, as {original.name} does",
            f"After its update {read.name} is another value: the clone gives another one, too.",
        )
    if strange:
        place, now = strange[0]
        at = [read for p, read in missed if p == place]
        if not at:
            return Finding(
                f"{clone.name} reads {now.name}",
                f"{clone.name} reads what {original.name} reads, and nothing else",
                "A solid edge is data. What a clone waits for is a dashed one.",
            )
        return Finding(
            f"{clone.name} reads {now.name}",
            f"{at[0].name} or a clone of it, in the same place",
            f"{original.name} reads {at[0].name} there: in node_copy map each argument to "
            "its clone, or to itself.",
        )
    if missed:
        return Finding(
            f"{clone.name} does not read {missed[0][1].name}",
            f"{missed[0][1].name} or a clone of it, as {original.name} does",
            "Copy the node with all its inputs.",
        )
    return None


def _counts(facts: Facts, place: str, clone: Facts) -> bool:
    """Whether the argument at ``place`` must be that of the original."""
    told = {p for p, _ in (*clone.reads, *clone.constants)}
    free = facts.operator == _BATCH_NORM and place in _STATISTICS
    return not free or place in told


def _constants(facts: Facts, clone: Facts) -> list[tuple[str, str]]:
    return [
        (place, text)
        for place, text in facts.constants
        if not (facts.operator == _BATCH_NORM and place in _STATISTICS and text == "None")
        and _counts(facts, place, clone)
    ]


def _lost_reads(rewrite: Rewrite, clone: fx.Node) -> Iterator[Finding]:
    for _, read in rewrite.after.facts[clone].reads:
        if rewrite.is_stored(read) and rewrite.base_of.get(read) in rewrite.lost:
            dropped = rewrite.base_of[read] in rewrite.drop
            why = "is dropped" if dropped else "nobody keeps until backward"
            yield Finding(
                f"{clone.name} reads {read.name}, which {why}",
                f"{clone.name} reads a clone of {read.name}",
                "A clone that reads a lost value keeps it in memory after all.",
            )


def too_much_work(clones: Iterable[fx.Node], budget: int) -> list[Finding]:
    """A finding if more than ``budget`` operators run again."""
    again = work(clones)
    if again <= budget:
        return []
    look = "Stop the walk at kept values, and share a clone between its readers."
    return [Finding(f"{again} operators run again", f"at most {budget}", look)]


def work(nodes: Iterable[fx.Node]) -> int:
    """How many operators run; views are free."""
    return sum(is_operation(node) for node in nodes)


def forward_changes(rewrite: Rewrite) -> Iterator[Finding]:
    """Forward nodes that are gone, new, or do something else than before."""
    look = "The forward pass must stay as it is."
    for node in rewrite.base.nodes:
        if node.op == "call_function" and is_early(node) and node not in rewrite.after_of:
            yield Finding(f"{node.name} is gone", f"{node.name} in the forward pass", look)
    for node in rewrite.after.nodes:
        if not rewrite.is_stored(node):
            continue
        given = rewrite.base_of.get(node)
        if given is None:
            wanted = "the forward pass as it was"
            yield Finding(f"{node.name} is new in the forward pass", wanted, look)
        else:
            yield from changed(rewrite, node, given, "In forward nothing changes.")


def changed(
    rewrite: Rewrite,
    node: fx.Node,
    given: fx.Node,
    look: str,
    excused: Collection[fx.Node] = (),
) -> Iterator[Finding]:
    """That ``node`` runs another operator or reads other values than ``given`` of the base.

    Nothing is said of ``excused`` values that it does not read.
    """
    mine, right = rewrite.after.facts[node], rewrite.base.facts[given]
    if (mine.operator, mine.constants) != (right.operator, right.constants):
        if node.op == "call_function":
            yours, wanted = operator_name(node), operator_name(given)
            if yours == wanted:
                yours, wanted = "with other arguments", f"{wanted} as it was"
            yield Finding(f"{node.name} runs {yours}", f"{given.name} runs {wanted}", look)
        return
    left = Counter((place, rewrite.same[read]) for place, read in right.reads)
    strange = []
    for place, read in mine.reads:
        value = rewrite.value(read)
        if value is not None and left[place, value]:
            left[place, value] -= 1
        else:
            strange.append((place, read))
    missed = [(place, read) for place, read in right.reads if left[place, rewrite.same[read]] > 0]
    for place, read in strange:
        at = next((n for p, n in missed if p == place), None)
        wanted = f"{node.name} reads {_right(rewrite, node, at)}" if at else "as it was"
        missed = [(p, n) for p, n in missed if n is not at]
        if (
            rewrite.value(read) is not None and at not in excused
        ):  # else it has been told of already
            yield Finding(f"{node.name} reads {read.name}", wanted, look)
    for _, read in missed:
        if read not in rewrite.after_of or read in excused:
            continue
        wanted = f"{node.name} reads {_right(rewrite, node, read)}"
        dashed = rewrite.clone_of(read) in rewrite.waits.get(node, ())
        drawn = "A dashed edge is no data: draw it solid." if dashed else look
        yield Finding(f"{node.name} does not read {read.name}", wanted, drawn)


def _right(rewrite: Rewrite, node: fx.Node, read: fx.Node) -> str:
    clone = rewrite.clone_of(read) if read in rewrite.lost and not is_early(node) else None
    return read.name if clone is None else f"{clone.name}, the clone of {read.name}"
