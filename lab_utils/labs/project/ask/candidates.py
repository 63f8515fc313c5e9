"""How tasks 5.1 to 5.3 are asked: what may be dropped, how it is rebuilt, what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.kit.answers import a_type, collection, fields_told, mapping, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.labs.graphs.nodes import node_named
from lab_utils.labs.graphs.replies import given_graph, name_of
from lab_utils.labs.project.records import Rebuild
from lab_utils.steps.candidate import Candidate
from lab_utils.steps.kept import kept_values
from lab_utils.steps.storage import storages

#: What a candidate knows, as plain data.
Fields = dict[str, Any]


def fields_of(candidate: Any) -> Fields:
    """A student's candidate as plain data."""
    if not isinstance(candidate, Candidate):
        look = "A Candidate(node=…, nbytes=…, …) is wanted there."
        raise BadAnswer(f"{a_type(candidate)} among the candidates", look)
    sources = collection(candidate.sources, "sources")
    uses = ("last_forward", "first_backward", "last_backward")
    return {
        "node": name_of(candidate.node, "node"),
        "nbytes": number(candidate.nbytes, "nbytes"),
        **{use: name_of(getattr(candidate, use), use) for use in uses},
        "sources": sorted(name_of(node, "each source") for node in sources),
        "seconds": number(candidate.seconds, "seconds"),
        "count": number(candidate.count, "count"),
        "total": number(candidate.total, "total"),
    }


def seconds_of(graph: fx.Graph, given: Mapping[str, Any]) -> dict[fx.Node, float]:
    """The profile of a case: seconds of each operator, nothing for a view."""
    return {n: float(given["seconds"].get(n.name, 0)) for n in graph.nodes}


def ask_candidates(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 5.1: the candidates."""
    told = mapping(function(given_graph(given)), "what you return")
    return {name_of(n, "each key"): number(size, "each value") for n, size in told.items()}


def ask_rebuild(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 5.2: sources and path."""
    graph = given_graph(given)
    kept = kept_values(graph, [node_named(graph, name) for name in given["drop"]])
    told = function(node_named(graph, given["target"]), kept, storages(graph))
    parts = fields_told(told, "what you return", Rebuild)
    sources, path = map(collection, parts, Rebuild._fields)
    return {
        "sources": sorted({name_of(n, "each source") for n in sources}),
        "path": [name_of(n, "each node of the path") for n in path],
    }


def ask_describe(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 5.3: cost and ratio."""
    graph = given_graph(given)
    told = function(graph, seconds_of(graph, given))
    return [fields_of(candidate) for candidate in collection(told, "what you return")]
