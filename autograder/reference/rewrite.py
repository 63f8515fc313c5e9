"""Recomputation by rewriting, in the lab's three steps: inject clones, rewire, wait."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import (
    Kind,
    Phase,
    add_control_dependency,
    copy_graph,
    kind,
    mark_recomputed,
    phase,
)
from lab_utils.steps.kept import is_early, lost_values
from lab_utils.steps.storage import is_random, overwritten_inputs, owns_memory, storages

Clones = dict[fx.Node, fx.Node]


class Rewritten(NamedTuple):
    """A rewritten copy of a graph, and its clones by original (both nodes of the copy)."""

    graph: fx.Graph
    clones: Clones


def rewrite(graph: fx.Graph, drop: Collection[str], control: bool = True) -> Rewritten:
    """A copy of ``graph`` that rebuilds the activations called ``drop`` in backward.

    Raises:
        LabError: one of them does not exist, or cannot run twice with the same result.
    """
    copy, _ = copy_graph(graph)
    named = {node.name: node for node in copy.nodes}
    if unknown := sorted(set(drop) - set(named)):
        raise LabError(f"cannot drop {unknown[0]}: the graph has no such node")
    clones = inject(copy, [named[name] for name in drop])
    rewire(copy, clones)
    if control:
        make_wait(copy, clones)
    return Rewritten(copy, clones)


def inject(graph: fx.Graph, drop: Collection[fx.Node]) -> Clones:
    """Clone, before each backward reader, what rebuilds the lost values that it reads.

    Raises:
        LabError: a value that would have to run twice cannot.
    """
    _check(graph, set(drop))
    lost = lost_values(graph, drop)
    clones: Clones = {}
    for reader in [n for n in graph.nodes if n.op == "call_function" and not is_early(n)]:
        wanted = [n for n in reader.all_input_nodes if n in lost]
        for original in recompute_set(wanted, lost):
            if original not in clones:
                clones[original] = _clone(original, reader, clones)
    return clones


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


def rewire(graph: fx.Graph, clones: Clones) -> None:
    """Make every late reader of an original read its clone."""
    for original, clone in clones.items():
        for reader in list(original.users):
            if not is_early(reader) and phase(reader) is not Phase.RECOMPUTE:
                reader.replace_input_with(original, clone)


def make_wait(graph: fx.Graph, clones: Clones) -> None:
    """Make every clone wait for the gradient whose arrival tells that it is needed."""
    for clone in clones.values():
        if (moment := _moment(clone)) is not None:
            add_control_dependency(clone, moment)


def _check(graph: fx.Graph, drop: set[fx.Node]) -> None:
    """Refuse what cannot run twice with the same result."""
    memory = storages(graph)
    for node in drop:
        if kind(node) is not Kind.ACTIVATION or not owns_memory(node):
            raise LabError(f"cannot drop {node.name}: it is not a stored activation")
        if is_random(node):
            raise LabError(f"cannot drop {node.name}: running it again draws new numbers")
    for node in graph.nodes:
        for changed in overwritten_inputs(node):
            if any(s.owner in drop for s in memory[changed]):
                raise LabError(f"cannot drop {changed.name}: {node.name} overwrites it in place")


def _clone(original: fx.Node, reader: fx.Node, clones: Clones) -> fx.Node:
    if is_random(original) or overwritten_inputs(original):
        raise LabError(
            f"{reader.name} needs {original.name} again, which cannot run twice with the same "
            "result: keep a value between the two"
        )
    graph = original.graph
    with graph.inserting_before(reader):
        clone = graph.create_node(
            original.op,
            original.target,
            *fx.map_arg((original.args, original.kwargs), lambda n: clones.get(n, n)),
            name=f"{original.name}_recomp",
        )
    clone.meta = dict(original.meta)
    return mark_recomputed(clone)


def _moment(clone: fx.Node) -> fx.Node | None:
    """The gradient that the first reader after a group of clones reads as well."""
    reader = clone.next
    while reader.op != "root" and phase(reader) is Phase.RECOMPUTE:
        reader = reader.next
    if reader.op != "root":
        gradients = [n for n in reader.all_input_nodes if phase(n) is Phase.BACKWARD]
        if gradients:
            return max(gradients)
    node = clone.prev
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
        early = {r for r in reading if is_early(r)}
        inside = early and {_block(r) for r in early} == {_block(node)} != {None}
        stored = node.op == "call_function" and kind(node) is Kind.ACTIVATION
        if stored and inside and early < reading:
            found.append(node.name)
    return found


def wide_activations(graph: fx.Graph) -> list[str]:
    """The activations that backward reads and that are larger than the step's first input.

    For models that are not made of numbered blocks.
    """
    memory = storages(graph)
    width = next(memory[n][0].nbytes for n in graph.nodes if kind(n) is Kind.INPUT)
    late = {s for n in graph.nodes if any(not is_early(r) for r in n.users) for s in memory[n]}
    return [
        node.name
        for node in graph.nodes
        if node.op == "call_function"
        and kind(node) is Kind.ACTIVATION
        and any(s.owner is node and s in late and s.nbytes > width for s in memory[node])
    ]


def _block(node: fx.Node) -> str | None:
    match = re.match(r"(.*?\.\d+)(\.|$)", node.meta.get("module", ""))
    return match.group(1) if match else None
