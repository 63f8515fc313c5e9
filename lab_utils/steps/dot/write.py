"""A graph as a .dot file: a picture for people, and a program for ``read_dot``.

One statement a line: the nodes in program order, then the edges. What the attributes
mean:

==============  =============================================================
``label``       ``name: OPERATOR``, for the picture only; so are the colours
``op``          the operator: ``aten.mm.default``, ``getitem``, ``placeholder``
``args``        its arguments, ``_`` where an edge ends (``arguments``)
``value``       dtype, shape and strides of the result (``values``)
``phase``       as in ``lab_utils.steps.graph``; so are ``kind`` and ``module``
``source``      of a placeholder: which input, parameter, buffer or state it is
``output``      the value is handed back under this label; several are joined by |
``place``       where ``output`` stands among all outputs, counted from 0
``arg``         of a solid edge: the argument that it feeds
==============  =============================================================

A dashed edge ``a -> b`` is a control dependency: b waits for a. A dotted one is
there because b overwrites what a reads (or the like), so that the order of the
statements is not needed to run the program rightly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import torch
from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.kit.files import write_whole
from lab_utils.steps.dot.arguments import write_call
from lab_utils.steps.dot.colors import COLOURS
from lab_utils.steps.dot.drawing import DotError
from lab_utils.steps.dot.limits import MAX_BYTES, MAX_EDGES, MAX_NODES
from lab_utils.steps.dot.operator_rules import check_operands, has_rules
from lab_utils.steps.dot.operators import resolve
from lab_utils.steps.dot.plain import HEAD
from lab_utils.steps.dot.values import value_text
from lab_utils.steps.graph import (
    Kind,
    Phase,
    control_dependencies,
    kind,
    operator_name,
    outputs,
    phase,
    word_of,
)
from lab_utils.steps.storage import arguments_by_name, overwrite_order

_ORDER = "[style=dotted, color=gray70, constraint=false]"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = {"strict", "graph", "digraph", "subgraph", "node", "edge"}
_SAFE = " !#$&'()*+,-./:;<=>?@[]^_`{}~"  # all of ASCII but what joins, quotes or escapes


class DotText(str):
    """The text of a .dot file, which a notebook shows as one line and not as thousands."""

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        printer.text(f"DOT text, {len(self):,} characters")


def write_dot(graph: fx.Graph, path: str | Path | None = None) -> DotText:
    """The text of ``graph``; it is also written to ``path``, whole or not at all.

    The same graph gives the same bytes, on every run and machine.

    Raises:
        DotError: ``graph`` is none, is larger than what ``read_dot`` reads, or has a node that
            a file cannot hold; the message names it.
    """
    if not isinstance(graph, fx.Graph):
        if isinstance(path, fx.Graph):
            raise DotError("write_dot takes the graph first, then the file: write_dot(graph, file)")
        what = "None" if graph is None else f"a {type(graph).__name__}"
        raise DotError(f"write_dot takes an fx.Graph, and was given {what}: make it first")
    text = DotText(HEAD + "".join(f"  {line};\n" for line in _statements(graph)) + "}\n")
    _limit(len(text), MAX_BYTES, "characters")
    if path is not None:
        _write(Path(path), text)
    return text


def _statements(graph: fx.Graph) -> Iterator[str]:
    results = _labels(graph)
    nodes = [node for node in graph.nodes if node.op != "output"]
    _limit(len(nodes), MAX_NODES, "nodes")
    edges: dict[fx.Node, list[tuple[str, fx.Node]]] = {}
    known: set[fx.Node] = set()
    for node in nodes:
        attributes, edges[node] = _attributes(node)
        for _, read in edges[node]:
            if read not in known:
                raise _error(
                    node, f"it reads {read.name}, which is not made before it: insert that first"
                )
        known.add(node)
        if node in results:
            attributes["output"] = "|".join(_escaped(label) for label, _ in results[node])
            attributes["place"] = "|".join(str(number) for _, number in results[node])
        yield f"{_name(node)} {_list(attributes)}"
    for node in results:
        if node not in known:
            raise _error(node, "it is handed back, but is not in the graph")
    order = overwrite_order(graph)
    drawn = 0
    for node in nodes:
        waits_for = control_dependencies(node)
        if waits_for and node.op == "placeholder":
            raise _error(node, "a placeholder is given, so that it cannot wait")
        for place, read in edges[node]:
            yield f"{_name(read)} -> {_name(node)} [arg={_value(place)}]"
        for other in waits_for:
            if other not in known:
                raise _error(node, f"it waits for {other.name}, which is not in the graph")
            yield f"{_name(other)} -> {_name(node)} [style=dashed]"
        told = {*node.all_input_nodes, *waits_for}
        untold = [other for other in order[node] if other not in told]
        for other in untold:
            yield f"{_name(other)} -> {_name(node)} {_ORDER}"
        drawn += len(edges[node]) + len(waits_for) + len(untold)
    _limit(drawn, MAX_EDGES, "edges")


def _labels(graph: fx.Graph) -> dict[fx.Node, list[tuple[str, int]]]:
    """The labels and places under which each node is handed back."""
    try:
        results = outputs(graph)
    except (ValueError, TypeError):
        raise DotError(
            "the graph has no output that a file can hold: end it with graph.output({'loss': node})"
        ) from None
    found: dict[fx.Node, list[tuple[str, int]]] = {}
    for place, (label, node) in enumerate(results.items()):
        if not isinstance(node, fx.Node) or not isinstance(label, str) or not label:
            raise DotError(f"output {label!r} must be a node of the graph, with a label")
        found.setdefault(node, []).append((label, place))
    return found


def _attributes(node: fx.Node) -> tuple[dict[str, str], list[tuple[str, fx.Node]]]:
    """What is told about ``node``, and the nodes that it reads by their place."""
    try:
        when, what = Phase(phase(node)), Kind(kind(node))
    except (KeyError, ValueError):
        raise _error(
            node,
            "it has no phase or kind: make clones with graph.node_copy and mark_recomputed",
        ) from None
    try:
        operator, call, holes = operator_name(node), "", list[tuple[str, fx.Node]]()
        if node.op != "placeholder":
            target = resolve(operator)
            call, holes = write_call(node.args, node.kwargs)
            if has_rules(operator) and isinstance(target, torch._ops.OpOverload):
                vals = fx.map_arg((node.args, node.kwargs), lambda read: read.meta.get("val"))
                check_operands(operator, arguments_by_name(target, *vals))
        value = value_text(node.meta.get("val"))
    except LabError as error:
        raise _error(node, str(error)) from None
    if value == "None" and ("val" not in node.meta or node.op == "placeholder"):
        raise _error(node, "it has no meta['val']: make clones with graph.node_copy")
    attributes = {
        "label": f"{node.name}: {what if node.op == 'placeholder' else word_of(operator)}",
        "fillcolor": COLOURS[what],
        "op": operator,
        "args": call,
        "value": value if value != "None" else "",
        "phase": when,
        "kind": what,
        "module": _escaped(node.meta.get("module", "")),
        "source": _escaped(node.meta.get("source", "")),
    }
    return {key: text for key, text in attributes.items() if text}, holes


def _name(node: fx.Node) -> str:
    return f'"{node.name}"' if node.name.lower() in _KEYWORDS else node.name


def _list(attributes: dict[str, str]) -> str:
    return f"[{', '.join([f'{k}={_value(v)}' for k, v in attributes.items()])}]"


@lru_cache(maxsize=4096)  # most words stand in many nodes
def _value(text: str) -> str:
    # Nothing that we write has a quote in it, nor a backslash before one.
    return text if _PLAIN.fullmatch(text) and text.lower() not in _KEYWORDS else f'"{text}"'


@lru_cache(maxsize=4096)
def _escaped(text: str | None) -> str:
    return quote(text, safe=_SAFE) if text else ""


def _limit(count: int, most: int, what: str) -> None:
    if count > most:
        raise DotError(f"the graph has {count:,} {what}, but a file holds at most {most:,}")


def _error(node: fx.Node, message: str) -> DotError:
    return DotError(f"cannot write node {node.name}: {message}")


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode("ascii"))
    except OSError as error:
        raise DotError(f"{path}: it cannot be written ({error.strerror})") from error
