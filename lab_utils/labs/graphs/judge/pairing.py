"""Which node of a rewritten graph stands for which, where names tell nothing.

With every clone folded into its original, a right rewrite is the graph that it was made
from; so are most wrong ones: what reads the clone or the original, and what waits, makes
no difference then. Where something does differ, readers tell what a clone is meant to be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from copy import copy

from torch import fx

from lab_utils.labs.graphs.judge.ends import ends_of
from lab_utils.labs.graphs.judge.originals import Nodes, Numbering
from lab_utils.labs.graphs.judge.rewrite import Rewrite, is_late, sides
from lab_utils.labs.graphs.nodes import is_clone
from lab_utils.steps.compare.matching import pair
from lab_utils.steps.compare.structure import Structure, reversed_edges
from lab_utils.steps.graph import topological_order
from lab_utils.steps.kept import is_early
from lab_utils.steps.storage import storages


def by_structure(base: fx.Graph, after: fx.Graph) -> Rewrite:
    """Nodes that do the same are the same, whatever they are called.

    Raises:
        LabError: data edges of one of them form a circle.
    """
    a, b, waits = sides(base, after)
    clones = {n: None for n in b.nodes if is_clone(n)}
    number = Numbering(b, clones)
    if unmarked := _unmarked(a, b, number):
        clones |= unmarked
        number = Numbering(b, clones)
    pairs = pair(_folded(a, {}, {}), _folded(b, clones, number.original))
    base_of = {y: x for x, y in pairs.items()}
    original = {c: base_of[o] for c, o in number.original.items() if o in base_of}
    rewrite = Rewrite(a, b, base_of, clones, original, waits)
    _settle(rewrite)
    rewrite.ends = ends_of(a)
    rewrite.needless = _needless(rewrite) | _of_ends(rewrite)
    memory = storages(a.nodes[0].graph)
    rewrite.drop = {
        o
        for c, o in rewrite.original.items()
        if c not in rewrite.needless
        and (o not in rewrite.ends or rewrite.after.readers[c])
        and any(s.owner is o for s in memory[o])
    }
    return rewrite


def _folded(side: Structure, clones: Collection[fx.Node], original: Nodes) -> Structure:
    """``side`` as if every reader of a clone read its original; clones are left out."""
    folded = copy(side)
    facts = {}
    for node, told in side.facts.items():
        if node not in clones:
            meant = [(place, original.get(n, n)) for place, n in told.reads]
            facts[node] = told._replace(reads=tuple(x for x in meant if x[1] not in clones))
    reads = {node: list(told.reads) for node, told in facts.items()}
    before = {node: [n for _, n in ends] for node, ends in reads.items()}
    folded.nodes = topological_order(facts, before)
    folded.facts = {node: facts[node] for node in folded.nodes}
    folded.reads, folded.readers = reads, reversed_edges(reads)
    folded.waits = []
    return folded


def _unmarked(a: Structure, b: Structure, number: Numbering) -> dict[fx.Node, None]:
    """Nodes that came in addition, compute a forward value again, and not for forward."""

    def is_forward(node: fx.Node) -> bool:
        return node.op == "call_function" and is_early(node)

    if sum(map(is_forward, b.nodes)) <= sum(map(is_forward, a.nodes)):
        return {}
    found: dict[fx.Node, None] = {}
    for node in reversed(b.nodes):
        readers = [r for _, r in b.readers[node]]
        again = is_forward(node) and number.first[node] is not node
        if again and all(not is_early(r) or r in found for r in readers):
            found[node] = None
    return dict(reversed(found.items()))


def _settle(rewrite: Rewrite) -> None:
    """Let readers tell which value a clone is meant to be, where it computes another or none."""
    cloned = Counter(rewrite.original.values())
    for clone in reversed(rewrite.after.nodes):
        wanted = _wanted(rewrite, clone) if clone in rewrite.clones else []
        mine = rewrite.original.get(clone)
        if not wanted or mine in wanted:
            continue
        alike = [o for o in wanted if rewrite.same[o] is rewrite.value(clone)]
        if not alike and mine is not None and cloned[wanted[0]]:
            continue
        rewrite.original[clone] = (alike or wanted)[0]
        if mine is not None:
            cloned[mine] -= 1
        cloned[rewrite.original[clone]] += 1


def _wanted(rewrite: Rewrite, clone: fx.Node) -> list[fx.Node]:
    """What the readers of ``clone`` read in its place in the base: forward values alone."""
    found: Counter[fx.Node] = Counter()
    for place, reader in rewrite.after.readers[clone]:
        known = rewrite.original if reader in rewrite.clones else rewrite.base_of
        if reader in known:
            here = [n for p, n in rewrite.after.facts[reader].reads if p == place]
            there = [n for p, n in rewrite.base.facts[known[reader]].reads if p == place]
            right = Counter(map(rewrite.value, (n for n in here if n is not clone)))
            for node in there:
                value = rewrite.same[node]
                if right[value]:
                    right[value] -= 1
                elif node.op == "call_function" and is_early(node):
                    found[node] += 1
    return [node for node, _ in found.most_common()]


def _of_ends(rewrite: Rewrite) -> Nodes:
    """Clones that are read by the very first node of backward: they have nothing to wait for."""
    found = {}
    for clone, original in rewrite.original.items():
        reader = rewrite.ends.get(original)
        if reader not in rewrite.after_of or not rewrite.after.readers[clone]:
            continue
        if not any(is_late(n) for _, n in rewrite.base.reads[reader]):
            found[clone] = rewrite.after_of[reader]
    return found


def _needless(rewrite: Rewrite) -> Nodes:
    """Clones of what is kept all the same, with the clone that reads the stored value.

    A value is kept where both backward and a clone read it as it is stored; a clone
    of it that no other clone reads is then of no use.
    """
    after = rewrite.after
    stored = {
        node: [rewrite.value(n) for _, n in after.facts[node].reads if rewrite.is_stored(n)]
        for node in after.nodes
    }
    reader_of = {value: clone for clone in rewrite.clones for value in stored[clone]}
    kept = {value for node in rewrite.late for value in stored[node]}
    return {
        clone: reader_of[value]
        for clone in rewrite.clones
        if (value := rewrite.value(clone)) in reader_of
        and value in kept
        and not any(r in rewrite.clones for _, r in after.readers[clone])
    }
