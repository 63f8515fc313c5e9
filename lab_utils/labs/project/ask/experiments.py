"""How the tasks of notebook 06 are asked: the analysis, a rewriter, the data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.kit.answers import number
from lab_utils.kit.errors import BadAnswer
from lab_utils.labs.graphs.nodes import node_named
from lab_utils.labs.graphs.replies import changed_graph, given_graph, told_name
from lab_utils.labs.project.ask.candidates import seconds_of

_COLUMNS = ("bytes", "idle_seconds", "recompute_seconds")


def ask_analyse(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 6.1: the static analysis."""
    graph = given_graph(given)
    table = function(graph, seconds_of(graph, given))
    rows = getattr(table, "to_dict", lambda _: None)("records")
    if rows is None:
        raise BadAnswer(f"return a pandas DataFrame, not {type(table).__name__}")
    if missing := {"activation", *_COLUMNS} - set(table.columns):
        raise BadAnswer(f"the table has no column called {sorted(missing)[0]!r}")
    return {
        told_name(row["activation"], "activation"): [number(row[c], c) for c in _COLUMNS]
        for row in rows
    }


def ask_recompute(function: Any, given: Mapping[str, Any]) -> Any:
    """Task 6.3: a rewriter for real models."""
    graph = given_graph(given)
    function(graph, [node_named(graph, name) for name in given["drop"]])
    return changed_graph(graph)
