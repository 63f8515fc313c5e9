"""What is to be said about one node: operator, shape, bytes, lifetime, readers."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import fx

from lab_utils.kit.words import listed, size
from lab_utils.steps.graph import control_dependencies, kind, operator_word, phase
from lab_utils.steps.memory import Lifetime, MemoryLine
from lab_utils.steps.storage import Storage, nbytes, storages


@dataclass(frozen=True)
class Facts:
    """One node in words; ``born`` and ``dies`` are steps of the schedule that was asked for."""

    name: str
    operator: str
    shape: str
    kind: str
    phase: str
    nbytes: int
    born: int | None
    dies: int | None
    reads: tuple[str, ...]
    readers: tuple[str, ...]
    waits_for: tuple[str, ...]

    @property
    def lifetime(self) -> str:
        """When it is in memory."""
        if self.born is None or self.dies is None:
            return "owns no memory"
        steps = self.dies - self.born + 1
        return f"steps {self.born} to {self.dies} ({steps} step{'s' * (steps > 1)})"

    def __str__(self) -> str:
        lines = [
            f"{self.name}: {self.operator}",
            f"{self.kind}, {self.phase}",
            f"{self.shape}, {size(self.nbytes)}",
            f"in memory: {self.lifetime}",
            f"reads: {listed(self.reads)}",
            f"read by: {listed(self.readers)}",
        ]
        if self.waits_for:
            lines.append(f"waits for: {listed(self.waits_for)}")
        return "\n".join(lines)


def facts_of(graph: fx.Graph, line: MemoryLine) -> dict[str, Facts]:
    """The facts of every node, by name; readers through views count as readers."""
    memory = storages(graph)
    life = {one.storage: one for one in line.lifetimes}
    readers: dict[Storage, dict[str, None]] = {}
    for node in graph.nodes:
        if node.op == "call_function":
            for read in node.all_input_nodes:
                for storage in memory[read]:
                    if storage.owner is not node:
                        readers.setdefault(storage, {})[node.name] = None
    found = {}
    for node in graph.nodes:
        if node.op == "output":
            continue
        held: list[Lifetime] = [life[s] for s in memory[node] if s.owner is node and s in life]
        found[node.name] = Facts(
            node.name,
            operator_word(node),
            _shape(node.meta.get("val")),
            str(kind(node)),
            str(phase(node)),
            nbytes(node),
            min((one.first for one in held), default=None),
            max((one.last for one in held), default=None),
            tuple(n.name for n in node.all_input_nodes),
            tuple(dict.fromkeys(r for s in memory[node] for r in readers.get(s, ()))),
            tuple(n.name for n in control_dependencies(node)),
        )
    return found


def _shape(val: object) -> str:
    if isinstance(val, tuple):
        return " and ".join(_shape(one) for one in val if one is not None)
    if isinstance(val, torch.Tensor):
        sides = " x ".join(map(str, val.shape)) or "one number"
        return f"{sides}, {str(val.dtype).removeprefix('torch.')}"
    return "no shape"
