"""What counts about a graph when it is compared: what each node is, reads and waits for."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import fx

from lab_utils.steps.compare.reach import ForcedOrder
from lab_utils.steps.graph import is_opaque, operator_name, operator_word

Edges = dict[fx.Node, list[tuple[str, fx.Node]]]
Pairs = dict[fx.Node, fx.Node]


class Facts(NamedTuple):
    """What counts about one node. A place tells an argument: ``1``, or ``0.2`` in a list."""

    operator: str
    constants: tuple[tuple[str, str], ...]  # place, text
    value: str  # shape and dtype
    role: tuple[str, ...]  # kind and phase, of a placeholder also what it is given
    reads: tuple[tuple[str, fx.Node], ...]  # place, node; places repeat where order is free

    @property
    def label(self) -> Hashable:
        """What the node is by itself, without its neighbours."""
        return self[:4]


class Structure:
    """A graph as it is compared: what each node is and reads, and what must wait for what.

    ``drawn`` leaves out what a drawing in the thin form does not tell.

    Raises:
        CycleError, LabError: the graph cannot run; see ``ForcedOrder``.
    """

    def __init__(self, graph: fx.Graph, drawn: bool = False) -> None:
        self.order = ForcedOrder(graph, drawn)
        self.nodes = self.order.nodes
        self.facts = {node: _facts(node, drawn) for node in self.nodes}
        self.reads: Edges = {node: list(self.facts[node].reads) for node in self.nodes}
        self.readers = reversed_edges(self.reads)
        self.waits = self.order.waits()
        #: Each parameter and its gradient. What ties them is a name, whatever it is.
        self.gradients = [] if drawn else _gradients(graph)


def structures(a: fx.Graph, b: fx.Graph) -> tuple[Structure, Structure]:
    """Both graphs, in the detail that both of them tell."""
    drawn = is_opaque(a) or is_opaque(b)
    return Structure(a, drawn), Structure(b, drawn)


def reversed_edges(edges: Edges) -> Edges:
    """The same edges, seen from their other ends."""
    back: Edges = {node: [] for node in edges}
    for node, ends in edges.items():
        for place, other in ends:
            back[other].append((place, node))
    return back


def _facts(node: fx.Node, drawn: bool) -> Facts:
    if node.op == "output":
        # A drawing does not tell what the step hands back.
        returned = {} if drawn else _returned(node)
        roles = [(label.partition(":")[0], read) for label, read in returned.items()]
        return Facts("output", (), "", (), tuple(roles))
    places = list(_places(node))
    reads = tuple((place, item) for place, item in places if isinstance(item, fx.Node))
    if drawn:
        # It shows neither which argument an edge feeds, nor how many of them.
        operator = operator_word(node).strip("_").lower() if reads else "placeholder"
        return Facts(operator, (), "", (), tuple(("", read) for read in node.all_input_nodes))
    constants = [(place, repr(item)) for place, item in places if not isinstance(item, fx.Node)]
    role: tuple[str, ...] = (str(node.meta.get("kind")), str(node.meta.get("phase")))
    if node.op == "placeholder":
        role += (str(node.meta.get("source")).partition(":")[0],)
    value = shape_in_words(node.meta.get("val"))
    return Facts(operator_name(node), tuple(sorted(constants)), value, role, reads)


def _returned(output: fx.Node) -> dict[str, fx.Node]:
    return output.args[0] if isinstance(output.args[0], dict) else {}


def _gradients(graph: fx.Graph) -> list[tuple[fx.Node, fx.Node]]:
    """The ``param:PATH`` and what is returned as ``grad:PATH``, for each path that has both."""
    sources = {node.meta.get("source"): node for node in graph.find_nodes(op="placeholder")}
    found = []
    for output in graph.find_nodes(op="output"):
        for label, gradient in _returned(output).items():
            role, _, path = label.partition(":")
            if role == "grad" and (parameter := sources.get(f"param:{path}")) is not None:
                found.append((parameter, gradient))
    return found


def shape_in_words(val: Any) -> str:
    """Shape and dtype of a ``meta["val"]``, such as ``float32 [4, 8]``."""
    if isinstance(val, (tuple, list)):
        return ", ".join(shape_in_words(item) for item in val)
    if not isinstance(val, torch.Tensor):
        return "nothing"
    return f"{str(val.dtype).removeprefix('torch.')} {list(val.shape)}"


def _places(node: fx.Node) -> Iterator[tuple[str, Any]]:
    """The arguments by place, however they were passed, without those that are defaults."""
    named, default = _parameters(node.target)
    for position, value in enumerate(node.args):
        yield from _items(str(position), value, default)
    for name, value in node.kwargs.items():
        yield from _items(named.get(name, name), value, default)


def _items(place: str, value: Any, default: dict[str, str]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        value = list(value)
        if any(isinstance(item, fx.Node) for item in value):
            for index, item in enumerate(value):
                yield from _items(f"{place}.{index}", item, {})
            return
    if isinstance(value, fx.Node) or default.get(place) != repr(value):
        yield place, value


@cache
def _parameters(target: Any) -> tuple[dict[str, str], dict[str, str]]:
    """The place of each parameter of an operator, and the defaults by place."""
    if not isinstance(target, torch._ops.OpOverload):
        return {}, {}
    parameters = [(str(i), p) for i, p in enumerate(target._schema.arguments)]
    return (
        {p.name: place for place, p in parameters},
        {place: repr(p.default_value) for place, p in parameters if p.has_default_value()},
    )


def argument_name(node: fx.Node, place: str) -> str:
    """What the operator of ``node`` calls the argument at ``place``."""
    position, _, rest = place.partition(".")
    names = {at: name for name, at in _parameters(node.target)[0].items()}
    name = names.get(position, position)
    return f"{name}[{rest}]" if rest else name
