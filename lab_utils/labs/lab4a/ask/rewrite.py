"""How the rewriting tasks are asked: what runs again, clones, rewiring, waiting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.kit.answers import a_type, collection
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.guard import to_be_written
from lab_utils.labs.graphs.nodes import by_name, node_named
from lab_utils.labs.graphs.replies import changed_graph, clone_names, given_graph, name_of


def ask_recompute_set(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 2.1: what must run again."""
    graph = given_graph(given)
    kept = {node_named(graph, name) for name in given["kept"]}
    told = function(node_named(graph, given["target"]), kept)
    if isinstance(told, (set, frozenset)):
        look = "A set has no order, and the order counts: return a list."
        raise BadAnswer(f"what you return is {a_type(told)}", look)
    return [name_of(node, "each item") for node in collection(told, "what you return")]


def ask_inject(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 2.2: clones in the backward pass."""
    graph = given_graph(given)
    clones = function(graph, [node_named(graph, name) for name in given["drop"]])
    return {"clones": clone_names(clones, graph), **changed_graph(graph)}


def ask_rewire(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 3.1: backward reads the clones."""
    with to_be_written("rewire_backward", "rewired"):
        return ask_wait(function, given)


def ask_wait(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 4.1: the clones wait."""
    graph = given_graph(given)
    nodes = by_name(graph)
    clones = {nodes[original]: nodes[clone] for original, clone in given["clones"].items()}
    told = function(graph, clones)
    after = changed_graph(graph)
    is_other = isinstance(told, (fx.Graph, fx.GraphModule)) and told is not graph
    if is_other and after == changed_graph(given_graph(given)):
        look = "Change the graph that you are given: others hold it. Nothing need be returned."
        raise BadAnswer(
            "your function returns another graph, and leaves the given one as it was", look
        )
    return after
