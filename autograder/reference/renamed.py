"""A graph with other names, so that nothing can go by them."""

from __future__ import annotations

from torch import fx

from lab_utils.steps.graph import control_dependencies


def renamed(graph: fx.Graph, prefix: str = "v") -> fx.Graph:
    """The same graph with names that tell nothing."""
    copy = fx.Graph()
    new: dict[fx.Node, fx.Node] = {}
    for place, node in enumerate(graph.nodes):
        name = f"{prefix}{place}" if node.op != "output" else node.name
        target = name if node.op == "placeholder" else node.target
        args, kwargs = fx.map_arg((node.args, node.kwargs), new.__getitem__)
        new[node] = copy.create_node(node.op, target, args, dict(kwargs), name=name)
        new[node].meta = dict(node.meta)
    for node in graph.nodes:
        if waits_for := control_dependencies(node):
            new[node].meta["waits_for"] = tuple(new[other] for other in waits_for)
    return copy
