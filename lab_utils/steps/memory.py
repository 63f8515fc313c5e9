"""Bytes held at each step of a schedule.

A value is in memory from the step that makes it to the step of its last reader.
Views own no bytes: they keep alive what they look at. An operator with several
outputs holds all of them until the last one has been taken out. Placeholders
belong to the caller and stay; so do the results. Where nothing runs, one step shows
what is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from torch import fx

from lab_utils.kit.charts.drawn import DrawsItself
from lab_utils.kit.guard import refuse_while_asked
from lab_utils.steps.graph import Kind
from lab_utils.steps.schedule import Schedule, in_order
from lab_utils.steps.storage import Storage, storages


@dataclass(frozen=True)
class Lifetime:
    """One piece of memory: held in all steps from ``first`` to ``last``, both included."""

    storage: Storage
    first: int
    last: int
    nbytes: int

    @property
    def name(self) -> str:
        """The node that allocates it."""
        return self.storage.owner.name

    @property
    def kind(self) -> Kind:
        """What it is for."""
        return self.storage.kind


@dataclass(frozen=True, repr=False)
class MemoryLine(DrawsItself):
    """The bytes held while each step of a schedule runs, by kind."""

    schedule: Schedule
    lifetimes: tuple[Lifetime, ...]

    @cached_property
    def by_kind(self) -> dict[Kind, list[int]]:
        """For each kind, the bytes held at each step."""
        steps = max(len(self.schedule), 1)
        changes = {k: [0] * (steps + 1) for k in Kind}
        for life in self.lifetimes:
            changes[life.kind][life.first] += life.nbytes
            changes[life.kind][life.last + 1] -= life.nbytes
        return {k: list(accumulate(change[:-1])) for k, change in changes.items()}

    @cached_property
    def total(self) -> list[int]:
        """Bytes held at each step."""
        return [sum(step) for step in zip(*self.by_kind.values(), strict=True)]

    @property
    def peak(self) -> int:
        """The most bytes held at any step."""
        return max(self.total)

    @property
    def peak_step(self) -> int:
        """The first step at which the peak is held."""
        return self.total.index(self.peak)

    @property
    def breakdown(self) -> dict[Kind, int]:
        """What the peak is made of: bytes of each kind; kinds without bytes are left out."""
        at = self.peak_step
        return {k: line[at] for k, line in self.by_kind.items() if line[at]}

    @property
    def static(self) -> int:
        """Bytes of the placeholders, which are there before the step and after it."""
        return sum(x.nbytes for x in self.lifetimes if x.storage.owner.op == "placeholder")

    def __repr__(self) -> str:
        peak = f"peak {self.peak:,} bytes at step {self.peak_step} of {len(self.total)}"
        return f"<memory line, {self.schedule.name}: {peak}>"

    def alive(self, step: int) -> list[Lifetime]:
        """What is in memory while ``step`` runs, largest first."""
        held = [life for life in self.lifetimes if life.first <= step <= life.last]
        return sorted(held, key=lambda life: (-life.nbytes, life.name))


def live_bytes(graph: fx.Graph, order: Schedule | Sequence[fx.Node]) -> MemoryLine:
    """The bytes held at each step when ``graph`` runs in ``order``, by kind.

    A graph without shapes (a drawing) counts one unit for each value.

    Raises:
        OrderError: ``order`` is not legal.
    """
    refuse_while_asked("live_bytes")
    schedule = order if isinstance(order, Schedule) else in_order(graph, order)
    step_of = schedule.step_of()
    end = max(len(schedule) - 1, 0)
    first: dict[Storage, int] = {}
    last: dict[Storage, int] = {}
    for node, memory in storages(graph).items():
        if node.op == "placeholder":
            born, dies = 0, end
        elif node.op == "output":
            continue
        else:
            born = step_of[node]
            dies = max((step_of.get(reader, end) for reader in node.users), default=born)
        for storage in memory:
            first.setdefault(storage, born)
            last[storage] = max(last.get(storage, 0), dies)
    return MemoryLine(
        schedule,
        tuple(Lifetime(s, born, last[s], s.nbytes) for s, born in first.items()),
    )
