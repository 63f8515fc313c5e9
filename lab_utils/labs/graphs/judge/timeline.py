"""A rewritten graph as a scheduler sees it: when each node runs, and what its block needs."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice

from torch import fx

from lab_utils.labs.graphs.judge.blocks import blocks_of, united
from lab_utils.labs.graphs.judge.clones import updates_read
from lab_utils.labs.graphs.judge.rewrite import Rewrite, Waits, is_late
from lab_utils.steps.graph import (
    CycleError,
    Kind,
    Opaque,
    control_dependencies,
    kind,
    topological_order,
)
from lab_utils.steps.kept import is_early
from lab_utils.steps.storage import is_operation, overwrite_order

Edges = dict[fx.Node, list[fx.Node]]

_BLOCK = 4096  # sources followed in one pass: bits of one big integer for each node


@dataclass
class Need:
    """What one block's clones have to wait for."""

    gradient: fx.Node  #: that their first reader reads beside them
    after: int  #: the last step in which backward is at work on another block before that
    reader: fx.Node | None  #: what runs then
    early: bool  #: whether the gradient itself does not depend on the forward pass


@dataclass
class Timeline:
    """A rewritten graph as a scheduler sees it.

    ``reads`` are data edges, ``waits`` control edges, ``clones`` the block of each clone as
    far as it is known, ``stored`` that of stored values. Of ``faulty`` clones nothing is said.
    ``memory`` tells what has to run before a node since one of them overwrites what both use.
    """

    reads: Edges
    waits: Waits
    clones: dict[fx.Node, Hashable]
    stored: dict[fx.Node, Hashable]
    faulty: Collection[fx.Node] = ()
    memory: Edges = field(default_factory=dict)

    @cached_property
    def before(self) -> Edges:
        """All that each node has to wait for."""
        return {
            node: list(
                dict.fromkeys([*read, *self.waits.get(node, ()), *self.memory.get(node, ())])
            )
            for node, read in self.reads.items()
        }

    @cached_property
    def order(self) -> list[fx.Node]:
        """The nodes in a legal order.

        Raises:
            CycleError: there is none.
        """
        return topological_order(self.reads, self.before)

    @cached_property
    def step(self) -> dict[fx.Node, int]:
        """The step in which each node runs; what is given is there before the first."""
        step: dict[fx.Node, int] = {}
        for node in self.order:
            ready = max((step[other] for other in self.before[node]), default=-1)
            step[node] = ready + (node.op == "call_function" and is_operation(node))
        return step

    @cached_property
    def begins(self) -> int:
        """The first step of backward."""
        return min((self.step[n] for n in self.order if is_late(n) and is_operation(n)), default=0)

    @cached_property
    def _groups(self) -> tuple[dict[fx.Node, int], dict[fx.Node, int]]:
        return united(self.clones, self.stored, self.reads)

    @property
    def group(self) -> dict[fx.Node, int]:
        """A number for each clone: the same for those of one block."""
        return self._groups[0]

    @cached_property
    def by_data(self) -> list[fx.Node]:
        """The nodes in an order that data alone allows."""
        return topological_order(self.reads, self.reads)

    @cached_property
    def gradients(self) -> dict[fx.Node, bool]:
        """Backward nodes that the end of forward leads to; whether forward has to run for each.

        Backward may also look at a stored activation, or at a clone, without any gradient:
        that could happen at any time, and tells nobody that backward has begun.
        """
        found: dict[fx.Node, bool] = dict.fromkeys(self._seeds(), False)
        for node in self.by_data:
            if is_late(node) and (node in found or any(n in found for n in self.reads[node])):
                found[node] = any(
                    found.get(read, False) or read in self.group or is_activation(read)
                    for read in self.reads[node]
                )
        return found

    def _seeds(self) -> list[fx.Node]:
        """The first gradients: what reads the end of forward, or a drawn one from outside."""
        return [*self.read_the_end(), *self.from_outside()] or self._first

    @cached_property
    def _first(self) -> list[fx.Node]:
        """Backward nodes that read no other."""
        return [n for n in self.by_data if is_late(n) and not any(map(is_late, self.reads[n]))]

    def read_the_end(self) -> list[fx.Node]:
        """Of these, those that read an activation, as late in forward as any does."""
        depth: dict[fx.Node, int] = {}
        for node in self.by_data:
            depth[node] = 1 + max((depth[read] for read in self.reads[node]), default=-1)
        inside = [
            n
            for n in self._first
            if any(map(is_activation, self.reads[n]))
            and not any(read in self.group for read in self.reads[n])
        ]
        deepest = max((depth[n] for n in inside), default=0)
        return [n for n in inside if depth[n] == deepest]

    def from_outside(self) -> list[fx.Node]:
        """Of these, drawn ones that read nothing."""
        return [n for n in self._first if not self.reads[n] and isinstance(n.target, Opaque)]

    @cached_property
    def needs(self) -> dict[int, Need]:
        """For each block what its clones have to wait for, as far as there is something."""
        bits: dict[fx.Node, int] = {}  # of the blocks on whose clones a node depends
        at_work: dict[fx.Node, _AtWork] = {}
        cloned: dict[fx.Node, set[int]] = {c: {number} for c, number in self.group.items()}
        looked_at = {node: {number} for node, number in self._groups[1].items()} | cloned
        found: dict[int, Need] = {}
        for node in self.by_data:
            read = self.reads[node]
            bits[node] = 1 << self.group[node] if node in self.group else 0
            for other in read:
                bits[node] |= bits[other]
            if not is_late(node):
                continue
            mine, looks = (
                set().union(*(numbers[n] for n in read if n in numbers))
                for numbers in (cloned, looked_at)
            )
            if node not in self.gradients:
                cloned[node], looked_at[node] = mine, looks  # who reads it reads what it shows
                continue
            gradients = [n for n in read if n in self.gradients]
            so_far = _latest(entry for n in gradients for entry in at_work[n])
            for number in mine:
                if gradients and not any(bits[n] >> number & 1 for n in gradients):
                    step, reader = next(
                        ((s, r) for s, r, block in so_far if block != number), (-1, None)
                    )
                    gradient = max(gradients, key=self.step.__getitem__)
                    early = not any(self.gradients[n] for n in gradients)
                    need = Need(gradient, step, reader, early)
                    if number not in found or self._sooner(need, found[number]):
                        found[number] = need
            here = [(self.step[node], node, number) for number in looks]
            at_work[node] = _latest([*so_far, *here])
        return found

    def _sooner(self, need: Need, other: Need) -> bool:
        mine, theirs = ((n.after, self.step[n.gradient]) for n in (need, other))
        return mine < theirs

    @cached_property
    def after_gradients(self) -> tuple[set[fx.Node], set[fx.Node]]:
        """The nodes that run after some backward node, and after one that needs forward."""
        some: set[fx.Node] = set()
        real: set[fx.Node] = set()
        for node in self.order:
            for other in self.before[node]:
                if other in some or other in self.gradients:
                    some.add(node)
                if other in real or self.gradients.get(other, False):
                    real.add(node)
        return some, real

    def forced(self, pairs: set[tuple[fx.Node, fx.Node]], before: Edges) -> set[object]:
        """Those of the ``(early, late)`` pairs whose order the edges of ``before`` force."""
        found: set[object] = set()
        order = topological_order(before, before)
        sources = iter(dict.fromkeys(early for early, _ in pairs))
        while chunk := list(islice(sources, _BLOCK)):
            bit = {node: 1 << index for index, node in enumerate(chunk)}
            earlier: dict[fx.Node, int] = {}
            for node in order:
                earlier[node] = 0
                for other in before[node]:
                    earlier[node] |= earlier[other] | bit.get(other, 0)
            found |= {(a, b) for a, b in pairs if a in bit and earlier[b] & bit[a]}
        return found


#: Step, node and block of what backward did last, for two blocks at most.
_AtWork = list[tuple[int, fx.Node, int]]


def _latest(entries: Iterable[tuple[int, fx.Node, int]]) -> _AtWork:
    found: dict[int, tuple[int, fx.Node, int]] = {}
    for entry in sorted(entries, key=lambda entry: -entry[0]):
        found.setdefault(entry[2], entry)
    return list(found.values())[:2]


def is_activation(node: fx.Node) -> bool:
    """Whether ``node`` makes a value that forward leaves to backward."""
    return node.op == "call_function" and is_early(node) and kind(node) is Kind.ACTIVATION


def timeline_of(graph: fx.Graph, clones: Mapping[str, str]) -> Timeline:
    """The timeline of a graph in which clones and readers are as they should be.

    ``clones`` maps the name of each original to that of its clone.
    """
    nodes = {node.name: node for node in graph.nodes}
    block = blocks_of(graph.nodes)
    return Timeline(
        {node: list(node.all_input_nodes) for node in graph.nodes},
        {n: control_dependencies(n) for n in graph.nodes if control_dependencies(n)},
        {nodes[c]: block.get(nodes[o]) for o, c in clones.items() if c in nodes},
        block,
        memory=overwrite_order(graph),
    )


def timeline_as_meant(rewrite: Rewrite, faulty: Collection[fx.Node]) -> Timeline:
    """The timeline of a rewrite with every clone and every reader put right.

    So a mistake in what is read is not told a second time as a mistake in what waits.
    """
    reads: Edges = {}
    waits: Waits = {}
    drawn: Waits = {}  # with those that are drawn as data
    for node in rewrite.after.nodes:
        own = [n for _, n in rewrite.after.facts[node].reads]
        clone = node in rewrite.clones
        told = updates_read(rewrite, node) if clone else {}
        waits[node] = tuple(n for n in rewrite.waits.get(node, ()) if n not in told)
        drawn[node] = waits[node]
        given = rewrite.original.get(node) if clone else rewrite.base_of.get(node)
        if given is None or node in rewrite.needless:
            reads[node] = own
            continue
        again = clone or is_late(node)
        meant = [_meant(rewrite, read, again) for _, read in rewrite.base.facts[given].reads]
        reads[node] = [n for n in meant if n is not None and n is not node]
        if clone:
            drawn[node] += tuple(n for n in own if is_late(n) and n not in told)
    block = blocks_of(rewrite.base.nodes[0].graph.nodes)
    judged = {
        clone: block.get(rewrite.original[clone])
        for clone in rewrite.clones
        if clone in rewrite.original and clone not in rewrite.needless
    }
    stored = {rewrite.after_of[n]: part for n, part in block.items() if n in rewrite.after_of}
    memory = overwrite_order(rewrite.after.nodes[0].graph)
    line = Timeline(reads, _some(drawn), judged, stored, faulty, memory)
    try:
        _ = line.order
    except CycleError:
        line = Timeline(reads, _some(waits), judged, stored, faulty, memory)
    return line


def _some(waits: Waits) -> Waits:
    return {node: others for node, others in waits.items() if others}


def _meant(rewrite: Rewrite, read: fx.Node, again: bool) -> fx.Node | None:
    clone = rewrite.clone_of(read) if again and read in rewrite.lost else None
    return clone or rewrite.after_of.get(read)
