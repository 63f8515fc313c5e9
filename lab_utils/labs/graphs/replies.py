"""From graphs and nodes that a student's function returns to plain data, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from torch import fx

from lab_utils.kit.answers import described, mapping
from lab_utils.kit.errors import BadAnswer, LabError
from lab_utils.labs.graphs.shared import share
from lab_utils.steps.dot.drawing import DotError
from lab_utils.steps.dot.read import read_dot, read_own
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.graph import Kind, copy_graph


def graph_of(text: str) -> fx.Graph:
    """A fresh graph from DOT text, so that no task sees another's changes."""
    return copy_graph(shared_graph(text))[0]


@lru_cache(maxsize=128)  # the cases of a lab, and a few answers
def shared_graph(text: str) -> fx.Graph:
    """The same graph for the same DOT text, to look at and not to change.

    Raises:
        LabError: it is none; the message leaves out the place in a text that nobody has seen.
    """
    try:
        return share(read_dot(text))
    except DotError as error:
        raise error.without_place() from None


def given_graph(given: Mapping[str, Any]) -> fx.Graph:
    """A fresh graph from what a case gives, which is ours: nothing in it needs to be checked."""
    return case_graphs(given["graph"])()


@lru_cache(maxsize=128)  # the cases of a lab
def case_graphs(text: str) -> Callable[[], fx.Graph]:
    """What makes graphs from the DOT text of a case, all alike."""
    return read_own(text)


@contextmanager
def unchanged(graph: fx.Graph) -> Iterator[None]:
    """While this is open, a student's function may look at ``graph``, and note things in meta.

    Raises:
        BadAnswer: on leaving, if nodes have come, gone or changed; the message names one.
    """
    before = _shape(graph)
    yield
    after = _shape(graph)
    changes = [
        *(f"{name} is gone" for name in before if name not in after),
        *(f"{name} is new" for name in after if name not in before),
        *(f"{name} is another" for name in before if _differ(before[name], after.get(name))),
        *(["the nodes are in another order"] if [*before] != [*after] else []),
    ]
    if changes:
        raise BadAnswer(
            f"your function changed the graph: {changes[0]}",
            "Leave the graph as it is, or work on a copy: copy, new = copy_graph(graph).",
            "the graph as it was given",
        )


def _shape(graph: fx.Graph) -> dict[str, tuple[Any, ...]]:
    """What each node is, by name."""
    return {n.name: (n.op, n.target, n.args, n.kwargs, len(n.users)) for n in graph.nodes}


def _differ(before: tuple[Any, ...], after: tuple[Any, ...] | None) -> bool:
    """Whether a node is another now; a copy that stands in its place is the same."""
    return before != after and str(before) != str(after)


def name_of(value: Any, what: str, graph: fx.Graph | None = None) -> str:
    """The name of a node; it must be one of ``graph``, if that is given."""
    if isinstance(value, str):
        look = "Return nodes: node, not node.name. The cells below look them up."
        raise BadAnswer(f"{what} is text", look)
    if not isinstance(value, fx.Node):
        raise BadAnswer(f"{what} is {described(value)}", "A node of the graph is wanted there.")
    if graph is not None and value.graph is not graph:
        look = "Return nodes of the graph that you are given. Was it copied?"
        raise BadAnswer(f"{what} ({value.name}) is a node of another graph", look)
    return value.name


def told_name(value: Any, what: str) -> str:
    """The name of a node, where the task asks for the name; the node itself will do."""
    return value if isinstance(value, str) else name_of(value, what)


def optional_name(value: Any, what: str, graph: fx.Graph | None = None) -> str | None:
    """The name of a node, or None."""
    return None if value is None else name_of(value, what, graph)


def kind_name(value: Any, what: str) -> str:
    """The name of a kind, from ``Kind.WEIGHT`` or ``"WEIGHT"``."""
    if str(value) not in set(Kind):
        look = "A Kind is wanted there, such as Kind.WEIGHT."
        raise BadAnswer(f"{what} is {described(value)}", look)
    return str(value)


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
