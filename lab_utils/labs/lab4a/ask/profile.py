"""How the tasks of notebook 01 are asked: kinds, lifetimes, the peak."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.kit.answers import fields_told, mapping, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.guard import to_be_written
from lab_utils.labs.graphs.replies import given_graph, kind_name, name_of, optional_name, unchanged
from lab_utils.labs.lab4a.records import Peak, Uses


def ask_classify(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.1: the kind of every value."""
    graph = given_graph(given)
    for node in graph.nodes:
        node.meta.pop("kind", None)
    with unchanged(graph):
        try:
            told = function(graph)
        except KeyError as error:
            if error.args != ("kind",):
                raise
            look = "The kind is what you are to find out: neither kind(node) nor meta knows it."
            raise BadAnswer("KeyError: 'kind'", look) from None
    kinds = mapping(told, "what you return").items()
    return {name_of(n, "each key", graph): kind_name(k, "each value") for n, k in kinds}


def ask_lifetimes(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.2: first and last uses."""
    graph = given_graph(given)
    with unchanged(graph):
        told = function(graph)
    return {
        name_of(node, "each key", graph): [
            optional_name(use, "each part of Uses", graph)
            for use in fields_told(uses, "each value", Uses)
        ]
        for node, uses in mapping(told, "what you return").items()
    }


def ask_peak(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 1.4: the peak."""
    graph = given_graph(given)
    with unchanged(graph), to_be_written("peak_breakdown", "live_bytes"):
        told = function(graph)
    nbytes, node, by_kind = fields_told(told, "what you return", Peak)
    kinds = mapping(by_kind, "by_kind").items()
    return {
        "nbytes": number(nbytes, "nbytes"),
        "node": name_of(node, "node"),
        "by_kind": {kind_name(k, "each key of by_kind"): number(v, "bytes") for k, v in kinds},
    }
