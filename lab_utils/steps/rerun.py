"""Which forward operators may run a second time, and how a copy of one is made.

A copy must give the same value and leave everything else as it is. An operator that
draws random numbers, or that overwrites memory, cannot be copied as it stands. Batch
norm can: its copy is made without the running statistics, which are updated once.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import Phase, mark_recomputed, phase
from lab_utils.steps.kept import is_early, kept_values
from lab_utils.steps.storage import Storage, is_random, overwritten_inputs, storages

_BATCH_NORM = torch.ops.aten.native_batch_norm.default
_STATISTICS = slice(3, 5)  # where batch norm takes its running mean and variance


def rebuildable(graph: fx.Graph) -> set[fx.Node]:
    """The forward values that can be rebuilt in backward from what is kept.

    All operators on the way must be able to run again with the same result: no random
    numbers, nothing overwritten, and no operand that has been overwritten since.
    """
    kept = kept_values(graph, [])
    repeatable = _Repeatable(graph)
    found: set[fx.Node] = set()
    for node in graph.nodes:
        if node.op == "call_function" and is_early(node) and repeatable(node):
            reads = [n for n in node.all_input_nodes if n.op != "placeholder"]
            if all(read in kept or read in found for read in reads):
                found.add(node)
    return found


def run_again(graph: fx.Graph, node: fx.Node, read: Callable[[fx.Node], fx.Node]) -> fx.Node:
    """A copy of ``node`` for the backward pass, marked as recomputation.

    Like ``graph.node_copy``, but safe for real models; ``read`` tells for each operand what
    the copy reads in its place. Use it inside ``with graph.inserting_before(…)``.

    Raises:
        LabError: ``node`` draws random numbers or overwrites memory.
    """
    if is_random(node) or (overwritten_inputs(node) and node.target is not _BATCH_NORM):
        raise LabError(f"{node.name} cannot run twice with the same result: keep its value")
    clone = graph.node_copy(node, read)
    if overwritten_inputs(node):
        args = list(clone.args)
        args[_STATISTICS] = [None, None]
        clone.args = tuple(args)
    return mark_recomputed(clone)


class _Repeatable:
    """Whether a node of one graph gives the same value when it runs again in backward."""

    def __init__(self, graph: fx.Graph) -> None:
        self._memory = storages(graph)
        self._place = {node: place for place, node in enumerate(graph.nodes)}
        self._written: dict[Storage, int] = {}  # the last place that matters to a rebuilt value
        last_need = max(
            (place for node, place in self._place.items() if _reads_forward(node)), default=-1
        )
        for node, place in self._place.items():
            if phase(node) is not Phase.OPTIMIZER or place < last_need:
                for target in overwritten_inputs(node):
                    for storage in self._memory[target]:
                        self._written[storage] = place

    def __call__(self, node: fx.Node) -> bool:
        if is_random(node) or (overwritten_inputs(node) and node.target is not _BATCH_NORM):
            return False
        touched = [s for read in node.all_input_nodes for s in self._memory[read]]
        own = [s for s in self._memory[node] if s.owner is node]
        return not any(s in self._written for s in own) and all(
            self._written.get(s, -1) <= self._place[node] for s in touched
        )


def _reads_forward(node: fx.Node) -> bool:
    """Whether ``node`` runs after the loss and reads what forward made."""
    early = (n for n in node.all_input_nodes if n.op == "call_function" and is_early(n))
    return node.op == "call_function" and not is_early(node) and any(early)
