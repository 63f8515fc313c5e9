"""From a graph to what the planner sees of it."""

from __future__ import annotations

from collections.abc import Mapping

from torch import fx

from autograder.reference.pins import Pins
from autograder.reference.values import Maker, Step, Value, merged, needed_inputs
from lab_utils.steps.kept import is_early
from lab_utils.steps.schedule import runnable
from lab_utils.steps.storage import Storage, overwritten_inputs, storages


def step_of(graph: fx.Graph, seconds: Mapping[str, float]) -> Step:
    """Analyse ``graph``; ``seconds`` is the run time of each node by name (0 where missing)."""
    return Analysis(graph, seconds).step()


class Analysis:
    """A graph under analysis: who makes, reads and overwrites which memory, and when."""

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
            value.late_uses = merged(value.late_uses)
        ordered = [self.makers[old] for old in makers]
        Pins(self, ordered).find()
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
        own = self.place[node]
        readers = [min(self.place.get(r, self.end), self.end) for r in node.users]
        if own >= self.late_from:  # a view holds what it looks at until its last reader
            value.late_uses.append((own, max(own, *readers, own)))
        else:
            value.late_uses += [(p, p) for p in readers if p >= self.late_from]

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
                        elif storage.owner.op == "placeholder":
                            maker.given[storage.owner] = None


def _new_value(storage: Storage, maker: int, born: int) -> Value:
    owner = storage.owner.name
    name = owner if storage.index == 0 else f"{owner}:{storage.index}"
    return Value(name, storage.nbytes, maker, born, born, born)
