"""Nodes of a graph by name."""

from __future__ import annotations

from torch import fx

from lab_utils.steps.graph import Phase, phase

Names = dict[str, fx.Node]


def by_name(graph: fx.Graph) -> Names:
    """The nodes of ``graph`` by name, without the output."""
    return {node.name: node for node in graph.nodes if node.op != "output"}


def node_named(graph: fx.Graph, name: str) -> fx.Node:
    """The node called ``name``."""
    return next(node for node in graph.nodes if node.name == name)


def is_clone(node: fx.Node) -> bool:
    """Whether ``node`` is marked as recomputation."""
    return node.op == "call_function" and phase(node) is Phase.RECOMPUTE
