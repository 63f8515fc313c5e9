"""The vocabulary of the lab: what a node of a training-step graph knows.

A training step is a plain ``torch.fx.Graph``. What torch.fx does not know stands
in ``node.meta``, and is read and written through the functions below:

==============  =============================================================
``phase``       forward, loss, backward, optimizer, or recompute (a clone)
``kind``        what the value is for: a weight, an activation, a gradient, …
``val``         the value's shape, strides and dtype: a tensor on the ``meta``
                device (a tuple for an operator with several outputs)
``module``      path of the ``nn.Module`` that the operator belongs to
``waits_for``   control dependencies: "not before these have run"
==============  =============================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

import torch
from torch import fx

from lab_utils.kit.errors import LabError


class CycleError(LabError):
    """Data and control dependencies form a circle, so that no order is legal."""

    wanted = "a graph without a circle"
    look = "A node waits for one that needs it: let it wait for one that does not."

    def __init__(self, text: str, circle: Sequence[fx.Node] = ()) -> None:
        super().__init__(text)
        #: The nodes in the order in which they would have to run, each before the next.
        self.circle = tuple(circle)
        for early, late in self.edges:
            if not isinstance(late, fx.Node):  # statements of a file are put in order, too
                continue
            if early in control_dependencies(late) and early not in late.all_input_nodes:
                self.look = (
                    f"{late.name} is made to wait for {early.name}, which cannot run without "
                    f"{late.name}: let it wait for something that is there before."
                )

    @property
    def edges(self) -> list[tuple[fx.Node, fx.Node]]:
        """All around: what runs first, and what has to come after it."""
        return list(zip(self.circle, (*self.circle[1:], *self.circle[:1]), strict=True))


class Phase(StrEnum):
    """The part of the training step in which a node runs."""

    FORWARD = "forward"
    LOSS = "loss"
    BACKWARD = "backward"
    OPTIMIZER = "optimizer"
    RECOMPUTE = "recompute"


class Kind(StrEnum):
    """What a value is for; it decides the value's colour in a picture."""

    INPUT = "INPUT"
    WEIGHT = "WEIGHT"
    ACTIVATION = "ACTIVATION"
    RECOMP = "RECOMP"
    GRAD_ACT = "GRAD_ACT"
    GRAD_WEIGHT = "GRAD_WEIGHT"
    OPT_STATE = "OPT_STATE"
    OTHER = "OTHER"


class Opaque:
    """The operator of a node that was drawn, not traced: a name and nothing to run."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = name  # torch.fx prints a target by this

    def __call__(self, *_args: Any, **_kwargs: Any) -> None:
        raise LabError(
            f"operator {self.name} comes from a drawing without shapes and arguments: "
            "its schedule can be judged, but it cannot be run"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


def phase(node: fx.Node) -> Phase:
    """The phase in which ``node`` runs."""
    return node.meta["phase"]


def kind(node: fx.Node) -> Kind:
    """What the value of ``node`` is for."""
    return node.meta["kind"]


def operator_name(node: fx.Node) -> str:
    """A stable name for what ``node`` does: ``aten.mm.default``, ``getitem``, ``placeholder``."""
    if node.op != "call_function":
        return node.op
    if isinstance(node.target, torch._ops.OpOverload):
        return str(node.target)
    return getattr(node.target, "__name__", str(node.target))


def operator_word(node: fx.Node) -> str:
    """What stands in a box: ``MM`` for ``aten.mm.default``, the kind for a placeholder."""
    return str(kind(node)) if node.op == "placeholder" else word_of(operator_name(node))


def word_of(operator: str) -> str:
    """``MM`` for ``aten.mm.default``."""
    words = operator.split(".")  # library, operator, overload
    return (words[1] if len(words) == 3 else operator).upper()


def is_opaque(graph: fx.Graph) -> bool:
    """Whether the graph was read from a drawing and so cannot be run."""
    return any(isinstance(node.target, Opaque) for node in graph.nodes)


def placeholders(graph: fx.Graph) -> list[fx.Node]:
    """The values that the step is given: inputs, weights, optimizer state, buffers."""
    return graph.find_nodes(op="placeholder")


def outputs(graph: fx.Graph) -> dict[str, fx.Node]:
    """What the step hands back: ``loss``, and ``grad:PATH`` for each parameter."""
    (node,) = graph.find_nodes(op="output")
    return dict(node.args[0])


def control_dependencies(node: fx.Node) -> tuple[fx.Node, ...]:
    """The nodes that must have run before ``node`` may, beside those that it reads."""
    return node.meta.get("waits_for", ())


def add_control_dependency(node: fx.Node, *waits_for: fx.Node) -> None:
    """Make ``node`` wait until every node of ``waits_for`` has run.

    Raises:
        LabError: a node of another graph, or ``node`` itself, was given.
    """
    for other in waits_for:
        if other is node:
            raise LabError(f"{node.name} cannot wait for itself")
        if other.graph is not node.graph:
            raise LabError(
                f"{node.name} cannot wait for {other.name}: the two are in different graphs. "
                "After copying a graph, look the node up in the copy."
            )
    # A new tuple, because node_copy shares the meta values of the original.
    node.meta["waits_for"] = tuple(dict.fromkeys((*control_dependencies(node), *waits_for)))


def clear_control_dependencies(node: fx.Node) -> None:
    """Let ``node`` run as soon as what it reads is there."""
    node.meta.pop("waits_for", None)


def mark_recomputed(clone: fx.Node) -> fx.Node:
    """Tell that ``clone`` (fresh from ``graph.node_copy``) runs an operator again.

    Sets its phase and kind, and drops the control dependencies that it copied.
    """
    clone.meta["phase"] = Phase.RECOMPUTE
    clone.meta["kind"] = Kind.RECOMP
    clear_control_dependencies(clone)
    return clone


def set_arguments(made: fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Give a node without arguments these, which hold no symbolic numbers.

    ``create_node`` would search them for such; an assignment would take the node out of the
    graph's tables and put it in again. Either takes longer than making the node.
    """
    if args:
        fx.Node.args.fset(made, args)  # type: ignore[attr-defined]
    if kwargs:
        fx.Node.kwargs.fset(made, kwargs)  # type: ignore[attr-defined]


def copy_graph(graph: fx.Graph) -> tuple[fx.Graph, dict[fx.Node, fx.Node]]:
    """A copy of ``graph`` with the same names, and the map from old nodes to new.

    Unlike ``graph_copy`` of torch.fx it brings the output along, and control
    dependencies point into the copy.
    """
    copy = fx.Graph()
    new: dict[fx.Node, fx.Node] = {}
    for node in graph.nodes:
        made = copy.create_node(node.op, node.target, name=node.name)
        set_arguments(
            made,
            fx.map_arg(node.args, new.__getitem__),
            fx.map_arg(node.kwargs, new.__getitem__),
        )
        made.meta.update(node.meta)
        new[node] = made
    for node in graph.nodes:
        if waits_for := control_dependencies(node):
            new[node].meta["waits_for"] = tuple(new[other] for other in waits_for)
    return copy, new


def topological_order(
    nodes: Iterable[fx.Node], before: dict[fx.Node, list[fx.Node]]
) -> list[fx.Node]:
    """``nodes`` so that all of ``before[node]`` precede ``node``; their order decides ties.

    Raises:
        CycleError: there is no such order; the message prints one circle.
    """
    done: dict[fx.Node, None] = {}
    waiting: dict[fx.Node, None] = {}
    for start in nodes:
        # Depth-first with a stack of its own: real graphs are deeper than Python's stack.
        stack = [(start, iter(before[start]))] if start not in done else []
        if stack:
            waiting[start] = None
        while stack:
            node, rest = stack[-1]
            for other in rest:
                if other in waiting:
                    circle = [n for n, _ in stack]
                    raise _cycle(circle[circle.index(other) :])
                if other not in done:
                    waiting[other] = None
                    stack.append((other, iter(before[other])))
                    break
            else:
                stack.pop()
                del waiting[node]
                done[node] = None
    return list(done)


def check_acyclic(graph: fx.Graph) -> None:
    """Make sure that some order obeys all data and control dependencies.

    Raises:
        CycleError: there is none; the message prints one circle.
    """
    topological_order(
        graph.nodes,
        {n: [*n.all_input_nodes, *control_dependencies(n)] for n in graph.nodes},
    )


_AROUND = 8  # names of a circle that are told


def _cycle(circle: list[fx.Node]) -> CycleError:
    nodes = list(reversed(circle))
    names = [node.name for node in nodes]
    if len(names) > _AROUND + 1:
        names[_AROUND - 2 : -2] = [f"({len(names) - _AROUND} more)"]
    return CycleError(
        "no order is legal, since these wait for each other in a circle: "
        + " -> ".join([*names, names[0]]),
        nodes,
    )
