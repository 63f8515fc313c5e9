"""What must run before what: the order that a graph forces on any scheduler.

Data edges, control dependencies and overwritten memory all force an order, and
what is forced is transitive. So two graphs are compared by what they force, not
edge by edge.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import control_dependencies, topological_order
from lab_utils.steps.storage import dependencies

_BLOCK = 4096  # sources followed in one pass: bits of one big integer for each node


class ForcedOrder:
    """The order that data, control and overwritten memory force on a graph.

    ``drawn`` leaves out memory, of which a drawing in the thin form does not tell.

    Raises:
        CycleError: they form a circle.
        LabError: a node stands before one that it reads.
    """

    def __init__(self, graph: fx.Graph, drawn: bool = False) -> None:
        _check_program_order(graph)
        #: For each node, the nodes that it directly has to wait for.
        self.before = _drawn_edges(graph) if drawn else dependencies(graph)
        #: The nodes in an order that obeys all of it.
        self.nodes = topological_order(graph.nodes, self.before)

    def forced(self, pairs: Iterable[tuple[fx.Node, fx.Node]]) -> set[tuple[fx.Node, fx.Node]]:
        """Those of the ``(before, after)`` pairs whose order every legal schedule keeps."""
        asked = set(pairs)
        direct = {late: set(self.before[late]) for _, late in asked}
        found = {(early, late) for early, late in asked if early in direct[late]}
        open_pairs = asked - found
        for bit, earlier in self._passes({early for early, _ in open_pairs}):
            found |= {
                (early, late)
                for early, late in open_pairs
                if early in bit and earlier[late] & bit[early]
            }
        return found

    def waits(self) -> list[tuple[fx.Node, fx.Node]]:
        """The ``(before, after)`` edges beside data that no other edges imply.

        With the data edges they are the transitive reduction of the forced order,
        which is unique: two graphs with the same data edges force the same order
        exactly if these are the same.
        """
        edges = []
        for late in self.nodes:
            read = set(late.all_input_nodes)
            edges += [(early, late) for early in self.before[late] if early not in read]
        implied: set[tuple[fx.Node, fx.Node]] = set()
        for bit, earlier in self._passes({early for early, _ in edges}):
            longer: dict[fx.Node, int] = {}  # reached over at least one node between
            for early, late in edges:
                if early in bit:
                    if late not in longer:
                        longer[late] = _union(earlier[other] for other in self.before[late])
                    if longer[late] & bit[early]:
                        implied.add((early, late))
        return [edge for edge in edges if edge not in implied]

    def _passes(
        self, sources: set[fx.Node]
    ) -> Iterator[tuple[dict[fx.Node, int], dict[fx.Node, int]]]:
        """For blocks of ``sources``: the bit of each, and the bits that precede each node."""
        ordered = iter([node for node in self.nodes if node in sources])
        while block := list(islice(ordered, _BLOCK)):
            bit = {node: 1 << index for index, node in enumerate(block)}
            earlier: dict[fx.Node, int] = {}
            for node in self.nodes:
                earlier[node] = _union(
                    earlier[other] | bit.get(other, 0) for other in self.before[node]
                )
            yield bit, earlier


def _union(masks: Iterable[int]) -> int:
    whole = 0
    for mask in masks:
        whole |= mask
    return whole


def _drawn_edges(graph: fx.Graph) -> dict[fx.Node, list[fx.Node]]:
    edges = {n: [*n.all_input_nodes, *control_dependencies(n)] for n in graph.nodes}
    return {node: list(dict.fromkeys(before)) for node, before in edges.items()}


def _check_program_order(graph: fx.Graph) -> None:
    seen: set[fx.Node] = set()
    for node in graph.nodes:
        for read in node.all_input_nodes:
            if read not in seen:
                raise LabError(
                    f"{node.name} stands before {read.name}, which it reads: insert {read.name} "
                    f"further up, for instance inside graph.inserting_before({node.name})"
                )
        seen.add(node)
