"""What a picture of a graph shows: boxes and arrows, with the views folded away.

A view only looks at memory that another operator made, so a reader of the view is
drawn as a reader of that operator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from torch import fx

from lab_utils.steps.graph import (
    Kind,
    Phase,
    control_dependencies,
    kind,
    operator_word,
    outputs,
    phase,
)
from lab_utils.steps.storage import is_operation, nbytes, storages


@dataclass(frozen=True)
class Box:
    """A node as it is drawn, or ``count`` of them as one."""

    name: str
    operator: str
    kind: Kind
    phase: Phase
    nbytes: int
    is_output: bool
    count: int = 1
    text: str = ""

    @property
    def label(self) -> str:
        """``name: OP``, as in a .dot file, unless another text is given."""
        return self.text or f"{self.name}: {self.operator}"

    @property
    def lane(self) -> str:
        """The column in which it stands; the loss belongs to forward."""
        if self.operator == self.kind:
            return "given"
        return "forward" if self.phase is Phase.LOSS else str(self.phase)


@dataclass(frozen=True)
class Arrow:
    """``target`` reads ``source``, or (control) waits for it.

    ``mark`` tells how a comparison found it: ``missing``, or ``needless``.
    """

    source: str
    target: str
    control: bool = False
    mark: str = ""


@dataclass(frozen=True)
class Picture:
    """Boxes in program order, and the arrows between them."""

    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]


def stand_ins(graph: fx.Graph) -> dict[fx.Node, tuple[fx.Node, ...]]:
    """The nodes whose boxes stand for each node in a picture: itself, or what a view looks at."""
    found: dict[fx.Node, tuple[fx.Node, ...]] = {}
    for node in graph.nodes:
        if node.op == "call_function" and not is_operation(node):
            looked_at = (n for read in node.all_input_nodes for n in found[read])
            found[node] = tuple(dict.fromkeys(looked_at))
        elif node.op != "output":
            found[node] = (node,)
    return found


def numbered(picture: Picture, names: Sequence[str]) -> Picture:
    """The same with a number before each of ``names``: the order in which they run."""
    place = {name: at for at, name in enumerate(names, 1)}
    boxes = (
        replace(box, text=f"{place[box.name]}. {box.label}") if box.name in place else box
        for box in picture.boxes
    )
    return replace(picture, boxes=tuple(boxes))


def in_run_order(picture: Picture) -> Picture:
    """The same with a number on each box that runs: boxes stand in program order."""
    return numbered(picture, [box.name for box in picture.boxes if box.lane != "given"])


def fold(graph: fx.Graph) -> Picture:
    """The picture of ``graph``: operators and what they read, without views."""
    memory = storages(graph)
    shown = stand_ins(graph)
    seen_outputs = {s.owner for node in outputs(graph).values() for s in memory[node]}
    boxes = [
        Box(
            node.name,
            operator_word(node),
            kind(node),
            phase(node),
            nbytes(node),
            node in seen_outputs,
        )
        for node, stands in shown.items()
        if stands == (node,)
    ]
    arrows: dict[Arrow, None] = {}
    for node in graph.nodes:
        if shown.get(node) == (node,):
            for read in node.all_input_nodes:
                arrows |= {Arrow(source.name, node.name): None for source in shown[read]}
        for other in control_dependencies(node):
            for source in shown[other]:
                for target in shown[node]:
                    arrows[Arrow(source.name, target.name, control=True)] = None
    return Picture(tuple(boxes), tuple(a for a in arrows if a.source != a.target))
