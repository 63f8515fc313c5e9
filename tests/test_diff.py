"""Graphs are compared by structure: what is the same is equal, what differs is found and told."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import networkx as nx
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import fx

from lab_utils import reach
from lab_utils.diff import Diff, Differs, diff, equal
from lab_utils.effects import dependencies
from lab_utils.graph import (
    CycleError,
    Kind,
    LabError,
    Opaque,
    Phase,
    add_control_dependency,
    clear_control_dependencies,
    control_dependencies,
    copy_graph,
    kind,
    mark_recomputed,
    operator_name,
    phase,
)
from lab_utils.models import attention, llm_mlp
from lab_utils.reach import forced_pairs
from lab_utils.trace import trace_workload
from tests.strategies import random_step_graph

aten = torch.ops.aten
Nodes = dict[str, fx.Node]

# Copies under other names and in another order


def reordered(graph: fx.Graph, seed: int, before: dict[fx.Node, list[fx.Node]]) -> fx.Graph:
    """A copy in a random order that obeys ``before``, with names that tell nothing."""
    chance = random.Random(seed)
    order: list[fx.Node] = []
    left = {node: set(before[node]) for node in graph.nodes}
    (end,) = graph.find_nodes(op="output")
    after: dict[fx.Node, list[fx.Node]] = {node: [] for node in graph.nodes}
    for node, others in left.items():
        for other in others:
            after[other].append(node)
    ready = [node for node, others in left.items() if not others and node is not end]
    while ready:
        node = ready.pop(chance.randrange(len(ready)))
        order.append(node)
        for other in after[node]:
            left[other].discard(node)
            if not left[other] and other is not end:
                ready.append(other)
    numbers = chance.sample(range(len(left)), len(left))
    copy = fx.Graph()
    new: dict[fx.Node, fx.Node] = {}
    for node, number in zip([*order, end], numbers, strict=True):
        args, kwargs = fx.map_arg((node.args, node.kwargs), new.__getitem__)
        new[node] = copy.create_node(node.op, node.target, args, kwargs, name=f"n{number}")
        new[node].meta = dict(node.meta)
    for node in graph.nodes:
        if waits := control_dependencies(node):
            new[node].meta["waits_for"] = tuple(new[other] for other in waits)
    return copy


def disguised(graph: fx.Graph, seed: int = 0) -> fx.Graph:
    """The same step under other names and in another legal order."""
    return reordered(graph, seed, dependencies(graph))


# An independent opinion, good for small graphs


def same_by_search(a: fx.Graph, b: fx.Graph) -> bool:
    """Whether some one-to-one map keeps nodes, data edges and the whole forced order."""
    return nx.is_isomorphic(
        _closure(a),
        _closure(b),
        node_match=lambda m, n: m["what"] == n["what"],
        edge_match=lambda m, n: m["feeds"] == n["feeds"],
    )


def _closure(graph: fx.Graph) -> nx.DiGraph:
    """An edge for each forced pair, which tells the arguments that it feeds, if any."""
    order = nx.DiGraph()
    order.add_nodes_from(graph.nodes)
    order.add_edges_from((n, m) for m, before in dependencies(graph).items() for n in before)
    closed = nx.transitive_closure_dag(order)
    feeds = {edge: [] for edge in closed.edges}
    for node in graph.nodes:
        closed.nodes[node]["what"] = _what(node)
        for path, read in _paths(node):
            feeds[read, node].append(path)
    nx.set_edge_attributes(closed, {e: sorted(paths) for e, paths in feeds.items()}, "feeds")
    return closed


def _what(node: fx.Node) -> str:
    if node.op == "output":
        return "output"
    val = node.meta["val"]
    several = val if isinstance(val, tuple) else (val,)
    called = "" if node.op == "placeholder" else f"{node.target} {_masked(node)}"
    shapes = [(v.dtype, tuple(v.shape)) for v in several]
    source = str(node.meta.get("source")).split(":")[0]
    return f"{node.op} {called} {shapes} {phase(node)} {kind(node)} {source}"


def _masked(node: fx.Node) -> str:
    return str(fx.map_arg((node.args, node.kwargs), lambda _: None))


def _paths(node: fx.Node) -> list[tuple[str, fx.Node]]:
    if node.op == "output":
        return [(label.split(":")[0], read) for label, read in node.args[0].items()]
    leaves, _ = torch.utils._pytree.tree_flatten_with_path((tuple(node.args), dict(node.kwargs)))
    return [(str(path), leaf) for path, leaf in leaves if isinstance(leaf, fx.Node)]


# One small change


def _calls(graph: fx.Graph) -> list[fx.Node]:
    return graph.find_nodes(op="call_function", target=None) or [
        n for n in graph.nodes if n.op == "call_function"
    ]


def _pick(draw: Any, options: list[Any]) -> Any:
    assume(options)
    return draw(st.sampled_from(options))


def _shape(node: fx.Node) -> Any:
    val = node.meta.get("val")
    return tuple(val.shape) if isinstance(val, torch.Tensor) else None


def repoint(graph: fx.Graph, draw: Any) -> None:
    """One argument reads another value of the same shape."""
    position = {node: index for index, node in enumerate(graph.nodes)}
    choices = [
        (node, place, other)
        for node in _calls(graph)
        for place, read in enumerate(node.args)
        if isinstance(read, fx.Node) and _shape(read) is not None
        for other in graph.nodes
        if position[other] < position[node] and other is not read and _shape(other) == _shape(read)
    ]
    node, place, other = _pick(draw, choices)
    node.update_arg(place, other)


def add_wait(graph: fx.Graph, draw: Any) -> None:
    nodes = list(graph.nodes)[:-1]
    late = _pick(draw, [n for n in nodes if n.op == "call_function"])
    add_control_dependency(late, _pick(draw, nodes[: nodes.index(late)]))


def remove_wait(graph: fx.Graph, draw: Any) -> None:
    late = _pick(draw, [n for n in graph.nodes if control_dependencies(n)])
    left = list(control_dependencies(late))
    left.remove(draw(st.sampled_from(left)))
    clear_control_dependencies(late)
    add_control_dependency(late, *left)


def change_constant(graph: fx.Graph, draw: Any) -> None:
    node = _pick(draw, [n for n in _calls(graph) if "alpha" in n.kwargs])
    node.update_kwarg("alpha", 7)


def change_operator(graph: fx.Graph, draw: Any) -> None:
    node = _pick(draw, [n for n in _calls(graph) if n.target is aten.silu.default])
    node.target = aten.relu.default


def drop_output(graph: fx.Graph, draw: Any) -> None:
    (end,) = graph.find_nodes(op="output")
    returned = dict(end.args[0])
    del returned[draw(st.sampled_from(sorted(returned)))]
    end.args = (returned,)


def change_role(graph: fx.Graph, draw: Any) -> None:
    mark_recomputed(_pick(draw, [n for n in _calls(graph) if not control_dependencies(n)]))


def leave_out(graph: fx.Graph, draw: Any) -> None:
    """A node goes; its readers read what it read."""
    waited = {other for node in graph.nodes for other in control_dependencies(node)}
    node = _pick(
        draw,
        [
            n
            for n in _calls(graph)
            if n not in waited and n.args and _shape(n) is not None and _shape(n) == _shape(n.args[0])
        ]
        if graph
        else [],
    )
    node.replace_all_uses_with(node.args[0])
    graph.erase_node(node)


CHANGES: list[Callable[[fx.Graph, Any], None]] = [
    repoint,
    add_wait,
    remove_wait,
    change_constant,
    change_operator,
    drop_output,
    change_role,
    leave_out,
]
