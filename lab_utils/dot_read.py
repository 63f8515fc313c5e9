"""A .dot file back to a graph that runs, if it is safe and whole.

What the file says is checked before anything could run: known operators, complete
arguments, no circle, and shapes that PyTorch itself agrees with. ``dot_write`` tells
what the attributes mean. Files in the older form, without operators, are read by
``dot_thin``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from torch import fx

from lab_utils.dot_arguments import Call, parse_call
from lab_utils.dot_check import DEVICE_DEPENDENT, check_indices, describe, infer
from lab_utils.dot_drawing import (
    DotEdge,
    DotError,
    DotNode,
    Drawing,
    EdgeStyle,
    edge_style,
    fx_names,
    short,
)
from lab_utils.dot_syntax import parse_dot
from lab_utils.dot_thin import thin_graph
from lab_utils.dot_values import Value, parse_value
from lab_utils.dot_write import FORM
from lab_utils.graph import CycleError, Kind, LabError, Phase, topological_order
from lab_utils.operators import resolve

MAX_BYTES = 64 * 2**20
_PLACEHOLDER = Call((), {}, ())

Word = TypeVar("Word", bound=StrEnum)


def read_dot(source: str | Path) -> fx.Graph:
    """The graph of a .dot file or text.

    Args:
        source: a path; or text, which a ``str`` is if it holds a newline or a ``{``.

    Nodes stand in the order of the file, but for those that must wait for a later one.

    Raises:
        DotError: the file is missing, malformed, unsafe or contradicts itself; the
            message tells file, line, node and cure in one line.
    """
    drawing = parse_dot(*_load(source))
    if not drawing.nodes:
        raise drawing.error("the digraph has no nodes")
    without = [node for node in drawing.nodes.values() if not node.get("op")]
    if len(without) == len(drawing.nodes):
        return thin_graph(drawing)
    if without:
        raise _no_operator(drawing, without[0])
    if drawing.attributes.get("form", FORM) != FORM:
        raise drawing.error(
            f"its form is {short(drawing.attributes['form'])}, but this version reads {FORM}"
        )
    return _Program(drawing).graph()


def _load(source: str | Path) -> tuple[str, str]:
    """The text, and what to call it in messages."""
    if isinstance(source, str) and ("\n" in source or "{" in source):
        if len(source) > MAX_BYTES:
            raise DotError(f"<text>: it is larger than {MAX_BYTES // 2**20} MB")
        return source, "<text>"
    try:
        path = Path(source)
        if not path.is_file():
            raise DotError(f"{short(str(path))}: there is no such file")
        if path.stat().st_size > MAX_BYTES:
            raise DotError(f"{path}: it is larger than {MAX_BYTES // 2**20} MB")
        return path.read_bytes().decode("utf-8-sig"), str(path)
    except UnicodeDecodeError:
        raise DotError(f"{source}: it is no text in UTF-8, so no DOT file") from None
    except (OSError, ValueError) as error:
        raise DotError(f"{short(str(source))}: it cannot be read ({error})") from None


def _no_operator(drawing: Drawing, node: DotNode) -> DotError:
    if not node.defined:
        for edge in drawing.edges:
            if node.name in (edge.tail, edge.head):
                return drawing.edge_error(
                    edge, f"node {short(node.name)} is not defined: add its statement, or rename"
                )
    return drawing.node_error(
        node, "it has no op, but others have one: add op, args, value, phase and kind"
    )


@dataclass(slots=True, eq=False)
class _Entry:
    """A node of the file on its way to become a node of the graph."""

    drawn: DotNode
    name: str
    operator: str
    call: Call
    value: Value
    phase: Phase
    kind: Kind
    reads: dict[str, _Entry] = field(default_factory=dict)
    waits_for: dict[_Entry, None] = field(default_factory=dict)
    runs_after: list[_Entry] = field(default_factory=list)

    def before(self) -> list[_Entry]:
        return [*self.reads.values(), *self.waits_for, *self.runs_after]


class _Program:
    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        names = fx_names(drawing.nodes)
        self.entries = {
            node.name: self._entry(node, names[node.name]) for node in drawing.nodes.values()
        }
        for edge in drawing.edges:
            self._connect(edge)
        for entry in self.entries.values():
            for place in entry.call.holes:
                if place not in entry.reads:
                    raise self._error(
                        entry,
                        f"nothing feeds its argument {place}: "
                        f'draw an edge to it with arg="{place}"',
                    )

    def _error(self, entry: _Entry, message: str) -> DotError:
        return self.drawing.node_error(entry.drawn, message)

    def _entry(self, node: DotNode, name: str) -> _Entry:
        operator, args, value = node.get("op"), node.get("args"), node.get("value")
        try:
            call = _PLACEHOLDER
            if operator != "placeholder":
                resolve(operator)
                call = parse_call(args)
            elif args or not value:
                raise LabError("a placeholder has a value and no args")
            return _Entry(
                node,
                name,
                operator,
                call,
                parse_value(value or "None"),
                _word(Phase, node, "phase"),
                _word(Kind, node, "kind"),
            )
        except LabError as error:
            raise self.drawing.node_error(node, str(error)) from None

    def _connect(self, edge: DotEdge) -> None:
        tail, head, place = self.entries[edge.tail], self.entries[edge.head], edge.get("arg")
        style = edge_style(edge)
        if style is EdgeStyle.DATA:
            if not place:
                raise self.drawing.edge_error(
                    edge,
                    "a solid edge needs arg, the argument that it feeds; "
                    "control edges are dashed (style=dashed)",
                )
            if place in head.reads:
                raise self.drawing.edge_error(edge, f"argument {short(place)} has an edge already")
            if place not in head.call.holes:
                raise self.drawing.edge_error(
                    edge, f"args of {short(edge.head)} has no _ at place {short(place)}"
                )
            head.reads[place] = tail
        elif place:
            raise self.drawing.edge_error(
                edge, "only a solid edge feeds an argument: remove its arg, or its style"
            )
        elif style is EdgeStyle.CONTROL:
            head.waits_for[tail] = None
        elif style is EdgeStyle.ORDER:
            head.runs_after.append(tail)

    def graph(self) -> fx.Graph:
        """The graph, each node checked as it is added."""
        graph = fx.Graph()
        new: dict[_Entry, fx.Node] = {}
        for entry in self._ordered():
            if entry.operator == "placeholder":
                node = graph.create_node("placeholder", entry.name, name=entry.name)
            else:
                self._check_value(entry)
                args, kwargs = entry.call.filled({p: new[e] for p, e in entry.reads.items()})
                target = resolve(entry.operator)
                node = graph.create_node("call_function", target, args, kwargs, name=entry.name)
            new[entry] = node
            node.meta = self._meta(entry)
        for entry, node in new.items():
            if entry.waits_for:
                node.meta["waits_for"] = tuple(new[other] for other in entry.waits_for)
        output = graph.output({label: new[entry] for label, entry in self._outputs().items()})
        output.meta = {"phase": Phase.OPTIMIZER, "kind": Kind.OTHER, "module": ""}
        try:
            check_indices(graph)
        except LabError as error:
            raise self.drawing.error(str(error)) from None
        return graph

    def _ordered(self) -> list[_Entry]:
        entries: list[Any] = list(self.entries.values())
        before: dict[Any, list[Any]] = {entry: entry.before() for entry in entries}
        try:
            ordered: list[Any] = topological_order(entries, before)
            return ordered
        except CycleError as error:
            raise self.drawing.error(str(error)) from None

    def _check_value(self, entry: _Entry) -> None:
        operands = tuple(entry.reads[place].value.text for place in entry.call.holes)
        call, told = entry.drawn.get("args"), entry.value.text
        try:
            found = infer(entry.operator, call, operands)
            if found.text != told and entry.operator in DEVICE_DEPENDENT:
                found = infer(entry.operator, call, operands, on_cpu=True)
        except LabError as error:
            raise self._error(entry, str(error)) from None
        if found.text != told:
            raise self._error(
                entry,
                f"its value is said to be {describe(told)}, "
                f"but {entry.operator} gives {describe(found.text)} here",
            )

    def _meta(self, entry: _Entry) -> dict[str, Any]:
        meta = {
            "phase": entry.phase,
            "kind": entry.kind,
            "module": unquote(entry.drawn.get("module")),
            "val": entry.value.val,
        }
        if entry.operator == "placeholder" and (source := entry.drawn.get("source")):
            meta["source"] = unquote(source)
        return meta

    def _outputs(self) -> dict[str, _Entry]:
        """The values handed back, by label: in order of their place, then of the file."""
        found: dict[str, tuple[float, _Entry]] = {}
        for entry in self.entries.values():
            labels, places = entry.drawn.get("output"), entry.drawn.get("place")
            if not labels:
                continue
            numbers = places.split("|") if places else [""] * (labels.count("|") + 1)
            if len(numbers) != labels.count("|") + 1:
                raise self._error(entry, "output and place must list equally many, joined by |")
            for label, number in zip(map(unquote, labels.split("|")), numbers, strict=True):
                if label in found:
                    raise self._error(
                        entry, f"output {short(label)} is also that of {found[label][1].name}"
                    )
                if number and not (number.isdecimal() and len(number) < 10):
                    raise self._error(entry, f"place is {short(number)}, but must be a number")
                found[label] = (int(number) if number else math.inf, entry)
        return {label: found[label][1] for label in sorted(found, key=lambda k: found[k][0])}


def _word(words: type[Word], node: DotNode, attribute: str) -> Word:
    text = node.get(attribute)
    try:
        return words(text)
    except ValueError:
        known = ", ".join(words)
        raise LabError(f"{attribute} is {short(text) or 'missing'}; known are {known}") from None
