"""From what a student's function returns to plain data, with a clear word if it does not fit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import fx

from lab_utils.checks import BadAnswer
from lab_utils.dot.read import read_dot
from lab_utils.dot.write import write_dot
from lab_utils.graph import Kind, LabError


def graph_of(text: str) -> fx.Graph:
    """A fresh graph from DOT text, so that no task sees another's changes."""
    return read_dot(text)


def node_named(graph: fx.Graph, name: str) -> fx.Node:
    """The node called ``name``."""
    return next(node for node in graph.nodes if node.name == name)


def name_of(value: Any, what: str) -> str:
    """The name of a node, however the student told it."""
    if isinstance(value, fx.Node):
        return value.name
    if isinstance(value, str):
        return value
    raise BadAnswer(f"{what} must be a node of the graph, not {_described(value)}")


def optional_name(value: Any, what: str) -> str | None:
    """The name of a node, or None."""
    return None if value is None else name_of(value, what)


def mapping(value: Any, what: str) -> Mapping[Any, Any]:
    """``value`` if it is a dict."""
    if not isinstance(value, Mapping):
        raise BadAnswer(f"{what} must be a dict, not {_described(value)}")
    return value


def kind_name(value: Any, what: str) -> str:
    """The name of a kind, from ``Kind.WEIGHT`` or ``"WEIGHT"``."""
    if str(value) not in set(Kind):
        raise BadAnswer(f"{what} must be a Kind such as Kind.WEIGHT, not {_described(value)}")
    return str(value)


def number(value: Any, what: str) -> float:
    """``value`` if it is a number."""
    try:
        return float(value)
    except (TypeError, ValueError):
        raise BadAnswer(f"{what} must be a number, not {_described(value)}") from None


def clone_names(clones: Any, graph: fx.Graph) -> dict[str, str]:
    """Original to clone, by name; every clone must be a node of ``graph``."""
    names = {}
    for original, clone in mapping(clones, "what you return").items():
        for node in (original, clone):
            if isinstance(node, fx.Node) and node.graph is not graph:
                raise BadAnswer(
                    f"{node.name} is a node of another graph: change the graph that you are "
                    "given, and map its own nodes"
                )
        names[name_of(original, "each key")] = name_of(clone, "each value")
    return names


def changed_graph(graph: fx.Graph) -> dict[str, Any]:
    """The graph after the student's change: as DOT text, and who reads what.

    A graph that cannot be written (a node stands before one that it reads) has None for
    its text; the judge then looks at the readers.
    """
    reads = {n.name: [r.name for r in n.all_input_nodes] for n in graph.nodes}
    try:
        return {"dot": write_dot(graph), "reads": reads}
    except LabError as error:
        return {"dot": None, "problem": str(error), "reads": reads}


def graph_file(name: str) -> Path:
    """A graph that is shipped with the lab."""
    return Path(__file__).with_name("graphs") / name


def _described(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} ({text if len(text) < 60 else text[:57] + '...'})"
