"""A drawing with operators to a graph that runs, if it is safe and whole.

What the file says is checked before anything could run: known operators, complete
arguments, no circle, and values that PyTorch itself agrees with. ``write`` tells
what the attributes mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar
from urllib.parse import unquote

from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.dot.arguments import Call, parse_call
from lab_utils.steps.dot.check import DEVICE_DEPENDENT, infer
from lab_utils.steps.dot.drawing import (
    DotEdge,
    DotError,
    DotNode,
    Drawing,
    EdgeStyle,
    edge_style,
    fx_names,
    short,
)
from lab_utils.steps.dot.operator_rules import check_indices
from lab_utils.steps.dot.operators import resolve
from lab_utils.steps.dot.values import MAX_ALL_OUTPUTS, Value, parse_value
from lab_utils.steps.graph import Kind, Phase, set_arguments

_PLACEHOLDER = Call((), {}, ())

Word = TypeVar("Word", bound=StrEnum)


def program_graph(drawing: Drawing, circles: bool = False) -> fx.Graph:
    """The graph that ``drawing`` describes; nothing is run, nothing allocated.

    Raises:
        DotError: something is missing, unsafe or contradicts itself; with ``circles``,
            control edges may.
    """
    return _Program(drawing, circles, is_ours=False).graph()


def own_program(drawing: Drawing) -> Callable[[], fx.Graph]:
    """What makes the graph that ``drawing`` describes, a fresh one at each call.

    The drawing is ours: its values are known to be right, and are not worked out again.
    """
    return _Program(drawing, circles=False, is_ours=True).graph


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
    meta: dict[str, Any] | None = None
    """What is noted on the node; None until it was made once."""

    def before(self) -> list[_Entry]:
        return [*self.reads.values(), *self.waits_for, *self.runs_after]


class _Program:
    """The statements of a drawing, understood and connected."""

    def __init__(self, drawing: Drawing, circles: bool, is_ours: bool) -> None:
        self.drawing, self.circles, self.is_ours = drawing, circles, is_ours
        self.sources: dict[str, _Entry] = {}
        self.outputs_left = MAX_ALL_OUTPUTS
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
            told = parse_value(value or "None")
            self.outputs_left -= len(told.val) if isinstance(told.val, tuple) else 1
            if self.outputs_left < 0:
                raise LabError(f"up to here there are more than {MAX_ALL_OUTPUTS:,} values")
            return _Entry(
                node,
                name,
                operator,
                call,
                told,
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
        elif head.operator == "placeholder" and style is not EdgeStyle.LAYOUT:
            raise self.drawing.edge_error(edge, "a placeholder is given, so that it cannot wait")
        elif style is EdgeStyle.CONTROL:
            head.waits_for[tail] = None
        elif style is EdgeStyle.ORDER:
            head.runs_after.append(tail)

    def graph(self) -> fx.Graph:
        """The graph, each node checked as it is added."""
        graph = fx.Graph()
        new: dict[_Entry, fx.Node] = {}
        for entry in self._in_order:
            if entry.operator == "placeholder":
                node = graph.create_node("placeholder", entry.name, name=entry.name)
            else:
                if not self.is_ours:
                    self._check_value(entry)
                args, kwargs = entry.call.filled({p: new[e] for p, e in entry.reads.items()})
                target = resolve(entry.operator)
                node = graph.create_node("call_function", target, name=entry.name)
                set_arguments(node, args, kwargs)
            new[entry] = node
            if entry.meta is None:
                entry.meta = self._meta(entry)
            node.meta.update(entry.meta)
        for entry, node in new.items():
            if entry.waits_for:
                node.meta["waits_for"] = tuple(new[other] for other in entry.waits_for)
        output = graph.output({label: new[entry] for label, entry in self._outputs.items()})
        output.meta = {"phase": Phase.OPTIMIZER, "kind": Kind.OTHER, "module": ""}
        if not self.is_ours:
            try:
                check_indices(graph)
            except LabError as error:
                raise self.drawing.error(str(error)) from None
        return graph

    @cached_property
    def _in_order(self) -> list[_Entry]:
        # Placeholders come first: Graphviz mixes them with what reads them.
        entries: list[Any] = sorted(
            self.entries.values(), key=lambda entry: entry.operator != "placeholder"
        )
        before: dict[Any, list[Any]] = {entry: entry.before() for entry in entries}
        by_data = {e: [*e.reads.values(), *e.runs_after] for e in entries}
        return self.drawing.ordered(entries, before, by_data if self.circles else None)

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
                f"its value is told as {short(told, 200)}, but {entry.operator} gives "
                f"{short(found.text, 200)} here: correct the value, or what the node reads",
            )

    def _meta(self, entry: _Entry) -> dict[str, Any]:
        meta = {
            "phase": entry.phase,
            "kind": entry.kind,
            "module": unquote(entry.drawn.get("module")),
            "val": entry.value.val,
        }
        if entry.operator == "placeholder" and (source := unquote(entry.drawn.get("source"))):
            first = self.sources.setdefault(source, entry)
            if first is not entry:
                raise self._error(entry, f"source {short(source)} is also that of {first.name}")
            meta["source"] = source
        return meta

    @cached_property
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
                if not label:
                    raise self._error(entry, "output has an empty label")
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
