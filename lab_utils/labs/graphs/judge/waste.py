"""Work for nothing: clones of what is kept, clones that nobody reads, the same clone twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping

from torch import fx

from lab_utils.kit.task import Finding
from lab_utils.labs.graphs.judge.rewrite import Rewrite
from lab_utils.steps.storage import is_operation

Reads = Mapping[fx.Node, Iterable[fx.Node]]


def wasted_clones(rewrite: Rewrite, reads: Reads) -> list[Finding]:
    """What runs again for nothing; ``reads`` tells who reads what once backward is rewired."""
    dead, needed = dead_clones(reads, rewrite.clones)
    return [
        *_of_kept(rewrite),
        *_dead(rewrite, not_forgiven(rewrite, dead, needed, reads), needed),
        *_twice(rewrite, needed),
    ]


def dead_clones(reads: Reads, clones: Collection[fx.Node]) -> tuple[list[fx.Node], set[fx.Node]]:
    """Clones that nobody needs, and those that somebody does."""
    needed: set[fx.Node] = set()
    queue = [n for n in reads if n not in clones]
    while queue:
        for read in reads[queue.pop()]:
            if read in clones and read not in needed:
                needed.add(read)
                queue.append(read)
    return [clone for clone in clones if clone not in needed], needed


def not_forgiven(
    rewrite: Rewrite, dead: Collection[fx.Node], needed: Collection[fx.Node], reads: Reads
) -> list[fx.Node]:
    """Dead clones but those of a block's result: one step beyond what is needed, and the only one.

    Whoever rebuilds a block to its end has such a clone. It is work for nothing, and no mistake.
    """
    spared = rewrite.lost | set(rewrite.ends)
    read_by_clones = {read for clone in rewrite.clones for read in reads[clone]}
    values = Counter(rewrite.value(clone) for clone in rewrite.clones)
    return [
        clone
        for clone in dead
        if is_operation(clone)
        and not (
            rewrite.original.get(clone) in spared
            and any(read in needed for read in reads[clone])
            and clone not in read_by_clones
            and values[rewrite.value(clone)] == 1
        )
    ]


def _of_kept(rewrite: Rewrite) -> Iterator[Finding]:
    for clone in rewrite.clones:
        original = rewrite.original.get(clone)
        if original is None or original in rewrite.lost or clone in rewrite.needless:
            continue
        if original in rewrite.ends and not rewrite.after.readers[clone]:
            continue  # dead, and told of as such
        yield Finding(
            f"{clone.name} computes {original.name} again, which is kept",
            f"no clone of {original.name}",
            f"{original.name} is in kept_values(graph, drop): read it as it is stored. The walk "
            "back stops at kept values.",
        )


def _dead(
    rewrite: Rewrite, dead: Iterable[fx.Node], needed: Collection[fx.Node]
) -> Iterator[Finding]:
    """Clones that nobody reads; one that is read could be spared where there is another."""
    shared = {rewrite.value(clone): clone for clone in needed}
    for clone in dead:
        other = shared.get(rewrite.value(clone)) if clone.users else None
        if other is not None and rewrite.value(clone) is not None:
            yield _both(rewrite, clone, other)
        elif clone not in rewrite.needless:
            yield Finding(
                f"{clone.name} is a clone that no backward node reads, nor a clone that is read",
                f"no {clone.name}",
                "It runs for nothing. Clone what a backward node reads, and what that takes.",
            )


def _twice(rewrite: Rewrite, needed: Collection[fx.Node]) -> Iterator[Finding]:
    """Values that more clones rebuild than the forward pass has nodes for."""
    there = Counter(rewrite.same[node] for node in rewrite.lost)
    first: dict[fx.Node, fx.Node] = {}
    count: Counter[fx.Node] = Counter()
    for clone in rewrite.clones:
        value = rewrite.value(clone)
        if value is None or clone not in needed or not is_operation(clone):
            continue
        count[value] += 1
        if value in there and count[value] > there[value]:
            yield _both(rewrite, clone, first[value])
        first.setdefault(value, clone)


def _both(rewrite: Rewrite, clone: fx.Node, other: fx.Node) -> Finding:
    name = rewrite.original[clone].name
    return Finding(
        f"{clone.name} and {other.name} both rebuild {name}",
        f"one clone of {name}, shared by all its readers",
        "What was cloned for one reader serves later ones too: every further clone is "
        "the same work once more.",
    )
