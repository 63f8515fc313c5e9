"""Which forward values are still in memory when backward needs them."""

from __future__ import annotations

from collections.abc import Collection

from torch import fx

from lab_utils.steps.graph import Kind, Phase, kind, phase
from lab_utils.steps.storage import Storage, storages


def is_early(node: fx.Node) -> bool:
    """Whether ``node`` belongs to the forward pass or the loss (or is given to the step)."""
    return node.op == "placeholder" or phase(node) in (Phase.FORWARD, Phase.LOSS)


def in_backward(node: fx.Node) -> bool:
    """Whether ``node`` runs after the loss and is no clone: backward, update, or the output."""
    return not is_early(node) and phase(node) is not Phase.RECOMPUTE


def kept_values(graph: fx.Graph, drop: Collection[fx.Node]) -> set[fx.Node]:
    """What a clone may read: the values that are in memory all the way into backward.

    These are the placeholders (inputs, weights), and every forward value that
    backward reads and that is not dropped. A view counts as what it looks at.
    """
    lost = lost_values(graph, drop)
    return {n for n in graph.nodes if is_early(n) and n not in lost}


def lost_values(graph: fx.Graph, drop: Collection[fx.Node]) -> set[fx.Node]:
    """The forward values that are gone when backward runs.

    Dropped ones, and those that no backward node reads: they die in forward, and a
    clone that read one would keep it alive after all. An operator with several
    outputs is there only if all of them are, since it holds them together.
    """
    memory = storages(graph)
    dropped = set(drop)
    read_late: set[Storage] = {
        storage
        for node in graph.nodes
        if any(in_backward(reader) for reader in node.users)
        for storage in memory[node]
    }
    return {
        node
        for node in graph.nodes
        if node.op == "call_function"
        and is_early(node)
        and kind(node) is Kind.ACTIVATION
        and not all(s in read_late and s.owner not in dropped for s in memory[node])
    }
