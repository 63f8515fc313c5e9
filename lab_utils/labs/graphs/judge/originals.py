"""What a clone computes again: found by what it runs on which values, not by its name."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Mapping

from torch import fx

from lab_utils.steps.compare.structure import Structure
from lab_utils.steps.graph import topological_order
from lab_utils.steps.kept import is_early
from lab_utils.steps.storage import is_random, overwritten_inputs

Nodes = dict[fx.Node, fx.Node]

_MANY = 64  # of so many readers, none is likelier than another


class Numbering:
    """Values of one graph: nodes that run the same on the same values share a number.

    Clones take the number of the node that they compute again, or come closest to: so that
    of a chain of clones only the one that is wrong has no equal.
    """

    def __init__(
        self,
        side: Structure,
        clones: Collection[fx.Node] = (),
        told: Mapping[fx.Node, fx.Node] = {},
    ) -> None:
        self._side = side
        self._clones = clones
        self._place = {node: index for index, node in enumerate(side.nodes)}
        self._named = {n.name: n for n in side.nodes if self._is_forward(n)}
        self._known: dict[Hashable, fx.Node] = {}
        #: For each node the first one that computes the same.
        self.first: Nodes = {}
        #: For each clone the node that it computes again, as far as there is one.
        self.original: Nodes = {}
        before = {node: [n for _, n in side.reads[node]] for node in side.nodes}
        for node in topological_order(sorted(side.nodes, key=clones.__contains__), before):
            if node in clones:
                self._resolve(node, told.get(node) if told else None)
            else:
                key = self._key(node)
                same = self._is_forward(node) and _repeatable(node)
                self.first[node] = self._known.setdefault(key, node) if same else node

    def _is_forward(self, node: fx.Node) -> bool:
        return node.op == "call_function" and is_early(node) and node not in self._clones

    def _resolve(self, clone: fx.Node, told: fx.Node | None) -> None:
        exact = self._known.get(self._key(clone)) if _repeatable(clone) else None
        found = told or exact or self._namesake(clone) or self._most_alike(clone)
        self.first[clone] = clone if found is None else self.first.get(found, found)
        if found is not None:
            self.original[clone] = found

    def _key(self, node: fx.Node) -> Hashable:
        facts = self._side.facts[node]
        reads = sorted((place, self._place[self.first[n]]) for place, n in facts.reads)
        return facts.operator, facts.constants, tuple(reads)

    def _namesake(self, clone: fx.Node) -> fx.Node | None:
        found = self._named.get(re.sub(r"(_recomp|_again)?(_\d+)?$", "", clone.name))
        return found if found is not None and self._likeness(clone, found) else None

    def _most_alike(self, clone: fx.Node) -> fx.Node | None:
        """The one forward node that comes closest: the same operator, or the same operands."""
        scores = {n: self._likeness(clone, n) for n in self._around(clone)}
        best = max(scores.values(), default=0)
        likeliest = [n for n, score in scores.items() if score == best > 1]
        return likeliest[0] if len(likeliest) == 1 else None

    def _around(self, clone: fx.Node) -> Iterator[fx.Node]:
        for _, read in self._side.reads[clone]:
            readers = self._side.readers[self.first[read]]
            yield from (n for _, n in readers[:_MANY] if self._is_forward(n))

    def _likeness(self, clone: fx.Node, node: fx.Node) -> int:
        mine, wanted = (self._operands(n) for n in (clone, node))
        shared = (mine & wanted).total()
        facts = self._side.facts
        return shared + (facts[clone].operator == facts[node].operator) + (mine == wanted)

    def _operands(self, node: fx.Node) -> Counter[fx.Node]:
        return Counter(self.first.get(n, n) for _, n in self._side.reads[node])


def _repeatable(node: fx.Node) -> bool:
    return not is_random(node) and not overwritten_inputs(node)
