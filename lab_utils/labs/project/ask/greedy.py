"""How tasks 5.4 to 5.6 are asked: the greedy's updates, the simulated peak, the plan."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.kit.answers import collection, fields_told, number
from lab_utils.labs.graphs.nodes import node_named
from lab_utils.labs.graphs.replies import given_graph, name_of
from lab_utils.labs.project.ask.candidates import fields_of, seconds_of
from lab_utils.labs.project.records import Plan, Simulated, record


def ask_update(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 5.4: the updates."""
    nodes = {node.name: node for node in given_graph(given).nodes}
    chosen = [record(fields, nodes) for fields in given["chosen"]]
    remaining = [record(fields, nodes) for fields in given["remaining"]]
    t = record(given["t"], nodes)
    everyone = [t, *chosen, *remaining]
    function(t, list(chosen), list(remaining))
    return [fields_of(candidate) for candidate in everyone]


def ask_simulate(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 5.5: the simulated peak."""
    graph = given_graph(given)
    told = function(graph, [node_named(graph, name) for name in given["drop"]])
    nbytes, node = fields_told(told, "what you return", Simulated)
    return {"nbytes": number(nbytes, "nbytes"), "node": name_of(node, "node")}


def ask_choose(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 5.6: the plan."""
    graph = given_graph(given)
    told = function(graph, seconds_of(graph, given), given["budget"])
    drop, nbytes = fields_told(told, "what you return", Plan)
    names = [name_of(node, "each dropped value") for node in collection(drop, "drop")]
    return {"drop": names, "nbytes": number(nbytes, "nbytes")}
