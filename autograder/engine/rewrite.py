"""Recomputation by rewriting: drop activations, clone what rebuilds them, rewire, wait."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from torch import fx

from lab_utils.effects import is_random, overwritten_inputs, owns_memory, storages
from lab_utils.graph import (
    Kind,
    LabError,
    Phase,
    add_control_dependency,
    copy_graph,
    kind,
    mark_recomputed,
    phase,
)

_EARLY = (Phase.FORWARD, Phase.LOSS)


class Rewrite:
    """A rewritten copy of a graph, and its clones by original (a node of the copy)."""

    def __init__(self, graph: fx.Graph, drop: Collection[str], control: bool = True) -> None:
        self.graph, _ = copy_graph(graph)
        named = {node.name: node for node in self.graph.nodes}
        if unknown := sorted(set(drop) - set(named)):
            raise LabError(f"cannot drop {unknown[0]}: the graph has no such node")
        self._drop = {named[name] for name in drop}
        self._memory = storages(self.graph)
        self._check()
        self._lost = self._find_lost()
        self.clones: dict[fx.Node, fx.Node] = {}
        for reader in [n for n in self.graph.nodes if n.op != "output"]:
            if phase(reader) not in _EARLY and reader.op != "placeholder":
                self._serve(reader, control)

    def _check(self) -> None:
        """Refuse what cannot run twice with the same result."""
        for node in self._drop:
            if kind(node) is not Kind.ACTIVATION or not owns_memory(node):
                raise LabError(f"cannot drop {node.name}: it is not a stored activation")
            if is_random(node):
                raise LabError(f"cannot drop {node.name}: running it again draws new numbers")
        for node in self.graph.nodes:
            for changed in overwritten_inputs(node):
                if any(s.owner in self._drop for s in self._memory[changed]):
                    raise LabError(
                        f"cannot drop {changed.name}: {node.name} overwrites it in place"
                    )

    def _find_lost(self) -> set[fx.Node]:
        """Forward values that are not in memory when backward needs them.

        These are the dropped ones, and those that no late reader keeps alive:
        reading one of the latter from a clone would keep it after all.
        """
        kept = {
            storage
            for node in self.graph.nodes
            if any(phase(r) not in _EARLY for r in node.users)
            for storage in self._memory[node]
            if storage.owner not in self._drop
        }
        return {
            node
            for node in self.graph.nodes
            if node.op == "call_function"
            and phase(node) in _EARLY
            and kind(node) is Kind.ACTIVATION
            and not kept & set(self._memory[node])
        }

    def _serve(self, reader: fx.Node, control: bool) -> None:
        """Make ``reader`` read clones of all lost values that it needs."""
        wanted = [n for n in reader.all_input_nodes if n in self._lost]
        if not wanted:
            return
        moment = _moment(reader)
        for original in recompute_set(wanted, self._lost):
            if original in self.clones:
                continue
            if is_random(original) or overwritten_inputs(original):
                raise LabError(
                    f"{reader.name} needs {original.name} again, which cannot run twice with "
                    "the same result: keep a value between the two"
                )
            with self.graph.inserting_before(reader):
                clone = self.graph.create_node(
                    original.op,
                    original.target,
                    *fx.map_arg((original.args, original.kwargs), self._current),
                    name=f"{original.name}_recomp",
                )
            clone.meta = dict(original.meta)
            self.clones[original] = mark_recomputed(clone)
            if control and moment is not None:
                add_control_dependency(clone, moment)
        for original in wanted:
            reader.replace_input_with(original, self.clones[original])

    def _current(self, node: fx.Node) -> fx.Node:
        return self.clones.get(node, node)


def recompute_set(targets: Iterable[fx.Node], lost: Collection[fx.Node]) -> list[fx.Node]:
    """The lost nodes that must run again to rebuild ``targets``, in execution order."""
    order: dict[fx.Node, None] = {}
    for target in targets:
        stack = [(target, iter(target.all_input_nodes))]
        while stack:
            node, rest = stack[-1]
            below = next((n for n in rest if n in lost and n not in order), None)
            if below is not None:
                stack.append((below, iter(below.all_input_nodes)))
            else:
                stack.pop()
                order[node] = None
    return list(order)


def _moment(reader: fx.Node) -> fx.Node | None:
    """The gradient whose arrival tells that backward has come to ``reader``."""
    gradients = [n for n in reader.all_input_nodes if phase(n) is Phase.BACKWARD]
    if gradients:
        return max(gradients)
    node = reader.prev
    while node.op != "root" and phase(node) is not Phase.BACKWARD:
        node = node.prev
    return node if node.op != "root" else None


def block_activations(graph: fx.Graph) -> list[str]:
    """The activations that stay inside one block, and that backward reads.

    A block is a numbered part of the model (``layers.3``). Dropping these and keeping
    what passes from block to block is what ``torch.utils.checkpoint`` does.
    """
    memory = storages(graph)
    readers: dict[fx.Node, set[fx.Node]] = {}
    for node in graph.nodes:
        for storage in memory[node]:
            looking = {r for r in node.users if storage not in memory[r]}
            readers.setdefault(storage.owner, set()).update(looking)
    found = []
    for node, reading in readers.items():
        early = {r for r in reading if phase(r) in _EARLY}
        inside = early and {_block(r) for r in early} == {_block(node)} != {None}
        stored = node.op == "call_function" and kind(node) is Kind.ACTIVATION
        if stored and inside and early < reading:
            found.append(node.name)
    return found


def _block(node: fx.Node) -> str | None:
    match = re.match(r"(.*?\.\d+)(\.|$)", node.meta.get("module", ""))
    return match.group(1) if match else None
