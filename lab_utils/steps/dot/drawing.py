"""What a .dot file shows: nodes and edges with attributes, and a way to point at a mistake."""

from __future__ import annotations

import builtins
import keyword
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import CycleError, topological_order

_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
#: Longer texts are parsed anew each time: what one file holds must not stay in memory.
REMEMBERED_LENGTH = 500
# torch.fx numbers these to keep the code that it prints legal.
_RESERVED = {*keyword.kwlist, *dir(builtins), "inf", "nan", "torch", "device", "NoneType"}


class DotError(LabError):
    """A .dot file that cannot be written or read; one line says where, why and what to do.

    ``why`` is the same without the place, for a text that no person has seen.
    """

    wanted = "a graph that can be read and run"

    def __init__(self, message: str, place: str = "") -> None:
        self.why, self.place = " ".join(message.split()), " ".join(place.split())
        line = f"{self.place}: {self.why}" if place else self.why
        super().__init__(line if len(line) <= 1200 else f"{line[:1000]} ... {line[-150:]}")

    def without_place(self) -> DotError:
        """The same error, of a text that no person has seen."""
        return type(self)(self.why)


class DotCycleError(DotError):
    """The edges of a .dot file form a circle."""

    wanted, look = CycleError.wanted, CycleError.look


def short(text: str, most: int = 60) -> str:
    """``text`` in a form that fits into the middle of a message."""
    text = text if len(text) <= most else f"{text[: most - 3]}..."
    return text if text.isprintable() else ascii(text)[1:-1]


@dataclass(slots=True, eq=False)
class DotNode:
    """A node as it is drawn. ``defined`` tells it from one that only an edge mentions."""

    name: str
    position: int
    defaults: Mapping[str, str]
    attributes: dict[str, str]
    defined: bool

    def get(self, attribute: str) -> str:
        """The attribute's text; empty where it is absent, as Graphviz has it."""
        found = self.attributes.get(attribute)
        return self.defaults.get(attribute, "") if found is None else found


class DotEdge(NamedTuple):
    """An arrow from ``tail`` to ``head``."""

    tail: str
    head: str
    position: int
    defaults: Mapping[str, str]
    attributes: Mapping[str, str]

    def get(self, attribute: str) -> str:
        """The attribute's text; empty where it is absent, as Graphviz has it."""
        found = self.attributes.get(attribute)
        return self.defaults.get(attribute, "") if found is None else found


class EdgeStyle(Enum):
    """What an edge means, by the way that it is drawn."""

    DATA = "solid"
    CONTROL = "dashed"
    ORDER = "dotted"
    LAYOUT = "invis"


def edge_style(edge: DotEdge) -> EdgeStyle:
    """The meaning of ``edge``; its style may be a list such as ``dashed,bold``."""
    words = edge.get("style").replace(",", " ").lower().split()
    for style in (EdgeStyle.LAYOUT, EdgeStyle.CONTROL, EdgeStyle.ORDER):
        if style.value in words:
            return style
    return EdgeStyle.DATA


@dataclass
class Drawing:
    """All nodes and edges of a digraph, in the order of its text.

    ``position`` counts characters from the beginning of the text: a line number is
    only looked for when there is a mistake to report.
    """

    source: str
    text: str
    attributes: dict[str, str] = field(default_factory=dict)
    nodes: dict[str, DotNode] = field(default_factory=dict)
    edges: list[DotEdge] = field(default_factory=list)

    def error(self, message: str, position: int | None = None) -> DotError:
        """A ``DotError`` that names the file, and the line where ``position`` is."""
        line = "" if position is None else f", line {self.text.count(chr(10), 0, position) + 1}"
        return DotError(message, f"{self.source}{line}")

    def cycle_error(self, error: CycleError) -> DotCycleError:
        """The same circle, with the file's name."""
        return DotCycleError(str(error), self.source)

    def ordered(
        self,
        things: Iterable[Any],
        before: dict[Any, list[Any]],
        otherwise: dict[Any, list[Any]] | None,
    ) -> list[Any]:
        """``things`` in an order that obeys ``before``, or at least ``otherwise``.

        Raises:
            DotCycleError: there is none.
        """
        try:
            return topological_order(things, before)
        except CycleError as error:
            if otherwise is None:
                raise self.cycle_error(error) from None
        return self.ordered(things, otherwise, None)

    def node_error(self, node: DotNode, message: str) -> DotError:
        """A ``DotError`` that names the file, the line and the node."""
        return self.error(f"node {short(node.name)}: {message}", node.position)

    def edge_error(self, edge: DotEdge, message: str) -> DotError:
        """A ``DotError`` that names the file, the line and the edge."""
        arrow = f"{short(edge.tail)} -> {short(edge.head)}"
        return self.error(f"edge {arrow}: {message}", edge.position)


def fx_names(names: Iterable[str]) -> dict[str, str]:
    """For each name one that torch.fx will not change: the same, where that is legal."""
    found = {name: name for name in names}
    taken = set(found)
    last: Counter[str] = Counter()  # number given to a name of this form
    for name in found:
        if _PLAIN.fullmatch(name) and name not in _RESERVED:
            continue
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        plain = plain if plain[:1].isalpha() else f"_{plain}"
        while found[name] in taken:
            last[plain] += 1
            found[name] = f"{plain}_{last[plain]}"
        taken.add(found[name])
    return found
