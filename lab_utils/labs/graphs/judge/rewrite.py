"""A rewritten graph beside the one that it was made from: which node stands for which.

What judges a rewrite looks at this and at nothing else. The correspondence is known by name
where a task hands it out (``by_names``), and found by structure where there are only two
graphs (``by_structure``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from torch import fx

from lab_utils.labs.graphs.judge.originals import Nodes, Numbering
from lab_utils.labs.graphs.nodes import by_name
from lab_utils.labs.graphs.shared import remembered
from lab_utils.steps.compare.structure import Structure
from lab_utils.steps.graph import (
    Kind,
    Phase,
    clear_control_dependencies,
    control_dependencies,
    copy_graph,
    is_opaque,
    kind,
)
from lab_utils.steps.kept import in_backward, is_early, lost_values

Waits = dict[fx.Node, tuple[fx.Node, ...]]


@dataclass
class Rewrite:
    """``base`` and ``after`` without control edges, and what is known about their nodes."""

    base: Structure
    after: Structure
    base_of: Nodes  #: of nodes of ``after`` that are no clones
    clones: dict[fx.Node, None]  #: nodes of ``after``
    original: Nodes  #: of clones: the node of ``base`` that each is to compute again
    waits: Waits  #: the control edges of ``after``
    drop: Collection[fx.Node] = ()  #: nodes of ``base`` whose memory is let go
    #: Clones of what is kept all the same, with a node that reads the stored value.
    needless: Nodes = field(default_factory=dict)
    #: Activations that backward reads where it begins and nowhere else, with who reads them.
    ends: Nodes = field(default_factory=dict)

    @cached_property
    def same(self) -> Nodes:
        """For each node of ``base`` the first one that computes the same."""
        return Numbering(self.base).first

    def value(self, node: fx.Node) -> fx.Node | None:
        """The node of ``base`` whose value ``node`` is to hold; None if there is none."""
        found = self.original.get(node) if node in self.clones else self.base_of.get(node)
        return None if found is None else self.same[found]

    @cached_property
    def after_of(self) -> Nodes:
        """The node of ``after`` that stands for each node of ``base``."""
        return {x: y for y, x in self.base_of.items()}

    @cached_property
    def clones_of(self) -> dict[fx.Node, list[fx.Node]]:
        """The clones of each value, the one that is called for its very node first."""
        found: dict[fx.Node, list[fx.Node]] = {}
        for clone in self.clones:
            if clone in self.original:
                found.setdefault(self.original[clone], []).append(clone)
        for original, clones in list(found.items()):
            same = found.setdefault(self.same[original], clones)
            same += [clone for clone in clones if clone not in same]
        return found

    def clone_of(self, original: fx.Node) -> fx.Node | None:
        """The clone that is to be read in place of ``original``, a node of ``base``."""
        found = self.clones_of.get(original) or self.clones_of.get(self.same[original])
        return found[0] if found else None

    @cached_property
    def lost(self) -> set[fx.Node]:
        """Forward values of ``base`` that are gone when backward runs."""
        return lost_values(self.base.nodes[0].graph, self.drop)

    @cached_property
    def late(self) -> list[fx.Node]:
        """Nodes of ``after`` that run in backward or in the update, and are no clones."""
        return [n for n in self.after.nodes if is_late(n) and n not in self.clones]

    def is_stored(self, node: fx.Node) -> bool:
        """Whether ``node`` of ``after`` is a value that forward made."""
        return node.op == "call_function" and node not in self.clones and is_early(node)


def is_late(node: fx.Node) -> bool:
    """Whether ``node`` is an operator of backward or of the update."""
    return node.op == "call_function" and in_backward(node)


def sides(base: fx.Graph, after: fx.Graph) -> tuple[Structure, Structure, Waits]:
    """Both graphs without control edges, in the detail that both tell; those of ``after``."""
    drawn = is_opaque(base) or is_opaque(after)
    copy, new = copy_graph(after)
    waits = {
        new[node]: tuple(new[other] for other in control_dependencies(node))
        for node in after.nodes
        if control_dependencies(node)
    }
    return _side_before(base, drawn), _side(copy, drawn), waits


@remembered
def _side_before(base: fx.Graph, drawn: bool) -> Structure:
    return _side(copy_graph(base)[0], drawn)


def _side(graph: fx.Graph, drawn: bool) -> Structure:
    """``graph``, which is ours to change, as it is compared."""
    for node in graph.nodes:
        clear_control_dependencies(node)
        if drawn and any(map(is_late, node.all_input_nodes)) and _is_given(node):
            node.meta["phase"] = Phase.OPTIMIZER  # a drawn update has the colour of its weight
    return Structure(graph, drawn)


def _is_given(node: fx.Node) -> bool:
    return node.op == "call_function" and kind(node) in (Kind.WEIGHT, Kind.OPT_STATE)


def by_names(
    base: fx.Graph, after: fx.Graph, clones: Mapping[str, str], drop: Collection[str]
) -> Rewrite:
    """Nodes of one name are the same, and ``clones`` tells the clone of each original."""
    a, b, waits = sides(base, after)
    before, nodes = (by_name(side.nodes[0].graph) for side in (a, b))
    base_of = {node: before[name] for name, node in nodes.items() if name in before}
    added = {n: None for n in b.nodes if n.op == "call_function" and n not in base_of}
    told = {
        nodes[clone]: nodes[original]
        for original, clone in clones.items()
        if original in before and original in nodes and nodes.get(clone) in added
    }
    original = {c: base_of[o] for c, o in Numbering(b, added, told).original.items()}
    return Rewrite(a, b, base_of, added, original, waits, [before[name] for name in drop])
