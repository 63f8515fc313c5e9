"""Values that cannot be dropped, each with the reason."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import torch
from torch import fx

from autograder.reference.values import NEVER, Maker, needed_inputs
from lab_utils.steps.storage import Storage, draws_numbers, overwritten_inputs

if TYPE_CHECKING:
    from autograder.reference.analysis import Analysis

aten = torch.ops.aten


class Pins:
    """Finds the values that cannot be dropped, and says why."""

    def __init__(self, analysis: Analysis, makers: list[Maker]) -> None:
        self.at, self.makers = analysis, makers
        self.early_writers: dict[Storage, list[int]] = {}
        self.late_writers: dict[Storage, list[int]] = {}
        self.first_read: dict[int, int] = {}  # of a maker's values, by another maker
        self.results = {s for n in analysis.graph.find_nodes(op="output") for s in self._read_by(n)}
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
            maker.deadline = self._deadline(maker)
            if (read := self.first_read.get(index, NEVER)) < maker.places[-1]:
                reader, writer = self.at.order[read].name, maker.nodes[-1].name
                reason = f"{reader} reads it before {writer} overwrites it"
            for made in maker.values:
                self.at.values[made].pinned = reason
        for storage, index in self.at.value_of.items():
            value = self.at.values[index]
            if storage in self.results:
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
            needed = [v for v in maker.values if self.at.storage_of[v] not in self.results]
            first = min((self.at.values[v].first_late for v in needed), default=NEVER)
            latest[index] = max(latest[index], first) if first < NEVER else latest[index]
            for read in maker.reads:
                source = self.at.values[read].maker
                latest[source] = max(latest[source], latest[index])
        return latest

    def _deadline(self, maker: Maker) -> int:
        reads = {s for node in maker.nodes for r in needed_inputs(node) for s in self.at.memory[r]}
        return min((w for s in reads for w in self.late_writers.get(s, [])), default=NEVER)

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
