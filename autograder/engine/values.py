"""What a planner sees of a training step: forward's values, and the operators that make them.

A *value* is one piece of memory (views and in-place results resolved) that forward or
the loss makes. Its *maker* is the operator that allocates it, together with those that
overwrite it in place: they run again together, in their order. Places are indices into
the nodes that run, in program order.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from torch import fx

from lab_utils.effects import Storage, is_random, overwritten_inputs, storages
from lab_utils.kept import is_early
from lab_utils.schedule import runnable

aten = torch.ops.aten

#: A place after all others: "backward never reads it".
NEVER = 1 << 40


@dataclass
class Value:
    """One piece of memory that forward or the loss makes."""

    name: str
    nbytes: int
    maker: int
    born: int
    made: int
    """Place of the last node that overwrites it in forward or loss."""
    last_early: int
    """Place of its last reader in forward or loss."""
    first_late: int = NEVER
    """Place of its first reader in backward or later."""
    last_late: int = -1
    touched: set[int] = field(default_factory=set)
    """Places of all nodes that make, read or look at it."""
    pinned: str | None = None
    """Why it must be kept; None where it may be dropped."""


@dataclass
class Maker:
    """The operators that make and overwrite one operator's outputs, as one piece of work."""

    nodes: list[fx.Node]
    places: list[int]
    seconds: float = 0.0
    values: list[int] = field(default_factory=list)
    reads: dict[int, int] = field(default_factory=dict)
    """Values of other makers that it reads, each with the place of its last reading node."""
    first_reads: dict[int, int] = field(default_factory=dict)
    """The same with the place of its first reading node."""
    draw: int | None = None
    """Which of ``nodes`` draws random numbers that can be drawn again, if any."""
    packed_bytes: int = 0
    """Bytes of a drawn mask that is kept in one byte an element."""
    pack_seconds: float = 0.0
    """Time to pack and to unpack it."""
    unpacked_seconds: float = 0.0
    """Time to run again what follows the draw."""

    @property
    def name(self) -> str:
        """The node that allocates."""
        return self.nodes[0].name


@dataclass
class Step:
    """A training step as the planner sees it."""

    graph: fx.Graph
    order: list[fx.Node]
    values: list[Value]
    makers: list[Maker]
    """So that each stands after the makers of what it reads."""
    fixed: list[tuple[int, int, int]]
    """First place, last place and bytes of all memory that no plan changes."""

    def value(self, name: str) -> int:
        """The index of the value that the node ``name`` makes."""
        return next(i for i, v in enumerate(self.values) if v.name == name)


def step_of(graph: fx.Graph, seconds: Mapping[str, float]) -> Step:
    """Analyse ``graph``; ``seconds`` is the run time of each node by name (0 where missing)."""
    return _Analysis(graph, seconds).step()


class _Analysis:
    def __init__(self, graph: fx.Graph, seconds: Mapping[str, float]) -> None:
        self.graph, self.seconds = graph, seconds
        self.order = runnable(graph)
        self.place = {node: index for index, node in enumerate(self.order)}
        self.end = max(len(self.order) - 1, 0)
        self.late_from = next(
            (i for i, node in enumerate(self.order) if not is_early(node)), len(self.order)
        )
        self.memory = storages(graph)
        self.overwrites = {n: w for n in self.order if (w := overwritten_inputs(n))}
        self.value_of: dict[Storage, int] = {}
        self.storage_of: list[Storage] = []
        self.values: list[Value] = []
        self.makers: list[Maker] = []

    def step(self) -> Step:
        fixed = self._lifetimes()
        self._add_reads()
        makers = sorted(range(len(self.makers)), key=lambda m: self.makers[m].places[-1])
        rank = {old: new for new, old in enumerate(makers)}
        for value in self.values:
            value.maker = rank[value.maker]
        ordered = [self.makers[old] for old in makers]
        _Pins(self, ordered).find()
        return Step(self.graph, self.order, self.values, ordered, fixed)

    def early(self, node: fx.Node) -> bool:
        """Whether ``node`` runs in the forward pass or the loss."""
        return self.place.get(node, -1) < self.late_from and node.op != "output"

    def _lifetimes(self) -> list[tuple[int, int, int]]:
        maker_of: dict[fx.Node, int] = {}
        fixed: dict[Storage, list[int]] = {}
        for node, memory in self.memory.items():
            if node.op == "output":
                continue
            born = self.place.get(node, 0)
            for storage in dict.fromkeys(memory):
                if storage.owner is node and node in self.place and self.early(node):
                    if node not in maker_of:
                        maker_of[node] = len(self.makers)
                        self.makers.append(Maker([node], [born]))
                    maker = self.makers[maker_of[node]]
                    self.value_of[storage] = len(self.values)
                    self.storage_of.append(storage)
                    maker.values.append(len(self.values))
                    self.values.append(_new_value(storage, maker_of[node], born))
                if storage in self.value_of:
                    self._touch(self.values[self.value_of[storage]], node)
                else:
                    life = fixed.setdefault(storage, [born, born])
                    ends = (self.place.get(reader, self.end) for reader in node.users)
                    given = node.op == "placeholder"
                    life[1] = self.end if given else max(life[1], born, *ends)
        return [(first, last, s.nbytes) for s, (first, last) in fixed.items()]

    def _touch(self, value: Value, node: fx.Node) -> None:
        """Let ``value`` live as long as ``node``, which looks at it, is read."""
        for place in (self.place[node], *(self.place.get(r, self.end + 1) for r in node.users)):
            if place < self.late_from:
                value.last_early = max(value.last_early, place)
            else:
                value.first_late = min(value.first_late, place)
                value.last_late = max(value.last_late, place)
            value.touched.add(min(place, self.end))
        value.last_late = min(value.last_late, self.end)

    def _add_reads(self) -> None:
        for node, targets in self.overwrites.items():
            for storage in {s for target in targets for s in self.memory[target]}:
                if self.early(node) and storage in self.value_of:
                    value = self.values[self.value_of[storage]]
                    value.made = self.place[node]
                    maker = self.makers[value.maker]
                    if node not in maker.nodes:
                        maker.nodes.append(node)
                        maker.places.append(self.place[node])
        for maker in self.makers:
            own = set(maker.values)
            for node, place in zip(maker.nodes, maker.places, strict=True):
                maker.seconds += self.seconds.get(node.name, 0.0)
                for read in needed_inputs(node):
                    for storage in self.memory[read]:
                        index = self.value_of.get(storage)
                        if index is not None and index not in own:
                            maker.reads[index] = place
                            maker.first_reads.setdefault(index, place)


def _new_value(storage: Storage, maker: int, born: int) -> Value:
    owner = storage.owner.name
    name = owner if storage.index == 0 else f"{owner}:{storage.index}"
    return Value(name, storage.nbytes, maker, born, born, born)


def draws_numbers(node: fx.Node) -> bool:
    """Whether ``node`` uses random numbers: attention without dropout does not."""
    if not is_random(node):
        return False
    for place, argument in enumerate(node.target._schema.arguments):  # type: ignore[union-attr]
        if argument.name == "dropout_p":
            given = node.args[place] if place < len(node.args) else argument.default_value
            return bool(node.kwargs.get("dropout_p", given))
    return True


def needed_inputs(node: fx.Node) -> list[fx.Node]:
    """What ``node`` must be given to run again: not what it reads for its shape alone."""
    return [] if node.target is aten.empty_like.default else node.all_input_nodes


class _Pins:
    """Finds the values that cannot be dropped, and says why."""

    def __init__(self, analysis: _Analysis, makers: list[Maker]) -> None:
        self.at, self.makers = analysis, makers
        self.early_writers: dict[Storage, list[int]] = {}
        self.late_writers: dict[Storage, list[int]] = {}
        self.first_read: dict[int, int] = {}  # of a maker's values, by another maker
        for maker in makers:
            for value, place in maker.first_reads.items():
                source = analysis.values[value].maker
                self.first_read[source] = min(place, self.first_read.get(source, NEVER))
        for node, targets in analysis.overwrites.items():
            writers = self.early_writers if analysis.early(node) else self.late_writers
            for storage in {s for target in targets for s in analysis.memory[target]}:
                writers.setdefault(storage, []).append(analysis.place[node])

    def find(self) -> None:
        latest = self._latest_rerun()
        for index, maker in enumerate(self.makers):
            reason = self._reason(maker, latest[index])
            if (read := self.first_read.get(index, NEVER)) < maker.places[-1]:
                reader, writer = self.at.order[read].name, maker.nodes[-1].name
                reason = f"{reader} reads it before {writer} overwrites it"
            for made in maker.values:
                self.at.values[made].pinned = reason
        results = {s for n in self.at.graph.find_nodes(op="output") for s in self._read_by(n)}
        for storage, index in self.at.value_of.items():
            value = self.at.values[index]
            if storage in results:
                value.pinned = "it is a result of the step"
            elif storage in self.late_writers:
                writer = self.at.order[self.late_writers[storage][0]].name
                value.pinned = f"{writer} overwrites it in backward"

    def _read_by(self, node: fx.Node) -> set[Storage]:
        return {s for read in node.all_input_nodes for s in self.at.memory[read]}

    def _latest_rerun(self) -> list[int]:
        """For each maker, the last place before which it can be asked to run again."""
        latest = [-1] * len(self.makers)
        for index in reversed(range(len(self.makers))):
            maker = self.makers[index]
            first = min(self.at.values[v].first_late for v in maker.values)
            latest[index] = max(latest[index], first) if first < NEVER else latest[index]
            for read in maker.reads:
                source = self.at.values[read].maker
                latest[source] = max(latest[source], latest[index])
        return latest

    def _reason(self, maker: Maker, latest: int) -> str | None:
        own = {self.at.storage_of[index] for index in maker.values}
        if any(u.target is operator.getitem and not self.at.early(u) for u in maker.nodes[0].users):
            return "backward takes its outputs apart"
        for number, (node, place) in enumerate(zip(maker.nodes, maker.places, strict=True)):
            if draws_numbers(node):
                if not self._can_draw_again(maker, number):
                    return f"{node.name} draws random numbers: running it again draws others"
                maker.draw = number
                follow = maker.nodes[number + 1 :]
                maker.unpacked_seconds = sum(self.at.seconds.get(n.name, 0.0) for n in follow)
                elementwise = self.at.seconds.get((follow or [node])[0].name, 0.0)
                maker.packed_bytes = node.meta["val"].numel()
                maker.pack_seconds = 2 * elementwise
            changed = {s for t in overwritten_inputs(node) for s in self.at.memory[t]} - own
            if changed and node.target is not aten.native_batch_norm.default:
                return f"{node.name} overwrites {min(s.owner.name for s in changed)} as well"
            for storage in {s for r in needed_inputs(node) for s in self.at.memory[r]} - own:
                if storage in changed:
                    continue  # running statistics, which a clone does without
                if late := [w for w in self.early_writers.get(storage, []) if w > place]:
                    writer = self.at.order[late[0]].name
                    return f"{node.name} reads {storage.owner.name} before {writer} overwrites it"
                if late := [w for w in self.late_writers.get(storage, []) if w < latest]:
                    writer = self.at.order[late[0]].name
                    return f"{node.name} reads {storage.owner.name}, which {writer} overwrites"
        return None

    def _can_draw_again(self, maker: Maker, number: int) -> bool:
        """Whether this is a dropout mask: fresh memory, filled by one draw, then read."""
        return (
            number == 1
            and maker.nodes[1].target is aten.bernoulli_.float
            and maker.nodes[0].target is aten.empty_like.default
            and maker.nodes[1].kwargs.get("generator") is None
            and len(maker.values) == 1
            and self.at.values[maker.values[0]].last_early > maker.places[1]
        )
