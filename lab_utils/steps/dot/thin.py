"""Drawings in the older, thinner form: label and colour, no operators to run.

``label`` is ``name: OPERATOR``; the fill colour tells the kind; solid edges are data,
dashed ones control. Structure and schedule of such a graph can be judged.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from torch import fx

from lab_utils.steps.dot.colors import COLOURS
from lab_utils.steps.dot.drawing import DotNode, Drawing, EdgeStyle, edge_style, fx_names
from lab_utils.steps.graph import CycleError, Kind, Opaque, Phase, topological_order

_KIND_OF = {colour: kind for kind, colour in COLOURS.items()}
_PHASE_OF = {
    Kind.INPUT: Phase.FORWARD,
    Kind.WEIGHT: Phase.FORWARD,
    Kind.ACTIVATION: Phase.FORWARD,
    Kind.RECOMP: Phase.RECOMPUTE,
    Kind.GRAD_ACT: Phase.BACKWARD,
    Kind.GRAD_WEIGHT: Phase.BACKWARD,
}
_LINE_END = re.compile(r"\\[nlr]|\n")
_LATE = (Kind.GRAD_ACT, Kind.GRAD_WEIGHT)
_GIVEN = (Kind.INPUT, Kind.WEIGHT, Kind.OPT_STATE)


def thin_graph(drawing: Drawing, circles: bool = False) -> fx.Graph:
    """The graph of a drawing without operators; its operators are ``Opaque``.

    Raises:
        DotError: data and control edges form a circle; with ``circles``, data edges alone,
            even if what leads from backward into a clone is taken for a wait.
    """
    nodes = list(drawing.nodes.values())
    data: dict[DotNode, list[DotNode]] = {node: [] for node in nodes}
    waits: dict[DotNode, dict[DotNode, None]] = {node: {} for node in nodes}
    before: dict[Any, list[Any]] = {node: [] for node in nodes}
    for edge in drawing.edges:
        tail, head = drawing.nodes[edge.tail], drawing.nodes[edge.head]
        style = edge_style(edge)
        if style is not EdgeStyle.LAYOUT:
            before[head].append(tail)
        if style is EdgeStyle.DATA:
            data[head].append(tail)
        elif style is EdgeStyle.CONTROL:
            waits[head][tail] = None
    given = {node for node in nodes if _kind(node) in _GIVEN and not data[node]}
    placeholders_first: list[Any] = sorted(nodes, key=lambda node: node not in given)
    if circles and not _has_order(nodes, data):
        _wait_for_backward(data, waits)
    by_data = {node: [n for n in before[node] if n not in waits[node]] for node in nodes}
    order = drawing.ordered(placeholders_first, before, by_data if circles else None)
    return _build(order, given, data, waits)


def _has_order(nodes: list[Any], before: dict[Any, list[Any]]) -> bool:
    try:
        topological_order(nodes, before)
    except CycleError:
        return False
    return True


def _wait_for_backward(
    data: dict[DotNode, list[DotNode]], waits: dict[DotNode, dict[DotNode, None]]
) -> None:
    """Take solid edges from gradients and updates into clones for dashed ones."""
    for node, read in data.items():
        if _kind(node) is Kind.RECOMP:
            late = [n for n in read if _kind(n) in _LATE or (_kind(n) in _GIVEN and data[n])]
            data[node] = [n for n in read if n not in late]
            waits[node] |= dict.fromkeys(late)


def _build(
    order: list[DotNode],
    given: set[DotNode],
    data: dict[DotNode, list[DotNode]],
    waits: dict[DotNode, dict[DotNode, None]],
) -> fx.Graph:
    graph = fx.Graph()
    names = _names(order)
    new: dict[DotNode, fx.Node] = {}
    for drawn in order:
        kind, name = _kind(drawn), names[drawn]
        if drawn in given:
            node = graph.create_node("placeholder", name, name=name)
        else:
            operator = Opaque(_label(drawn)[1] or "?")
            args = tuple(new[other] for other in data[drawn])
            node = graph.create_node("call_function", operator, args, name=name)
        node.meta = {"phase": _PHASE_OF.get(kind, Phase.OPTIMIZER), "kind": kind, "module": ""}
        new[drawn] = node
    for drawn, others in waits.items():
        if others:
            new[drawn].meta["waits_for"] = tuple(new[other] for other in others)
    results = [n for n in graph.nodes if n.op == "call_function" and not n.users]
    output = graph.output({node.name: node for node in results})
    output.meta = {"phase": Phase.OPTIMIZER, "kind": Kind.OTHER, "module": ""}
    return graph


def _names(nodes: list[DotNode]) -> dict[DotNode, str]:
    """The label's name where only one node has it, else the node's own."""
    count = Counter(_label(node)[0] for node in nodes)
    wanted: dict[DotNode, str] = {}
    ids = {node.name for node in nodes}
    for node in nodes:
        name = _label(node)[0]
        free = count[name] == 1 and (name == node.name or name not in ids)
        wanted[node] = name if free else node.name
    legal = fx_names(wanted.values())
    return {node: legal[name] for node, name in wanted.items()}


def _label(node: DotNode) -> tuple[str, str]:
    r"""Name and operator from the label's first line; ``\N`` is the node's own name."""
    first = _LINE_END.split(node.get("label"), 1)[0].replace("\\N", node.name)
    name, _, operator = (first.strip() or node.name).partition(":")
    return name.strip() or node.name, (operator.strip() or name.strip()).upper()


def _kind(node: DotNode) -> Kind:
    colour = (node.get("fillcolor") or node.get("color")).strip().lower()
    return _KIND_OF.get(colour, Kind.OTHER)
