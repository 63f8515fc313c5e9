"""The rewriter: from a choice of fates to a graph that recomputes.

Clones stand right before the first backward node that needs them, in the order of the
originals, and are shared. An operator that overwrites is cloned together with what it
overwrites; batch norm is cloned without its running statistics; a random mask is
unpacked, or drawn again from the generator's state; views are derived again.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

from autograder.reference.planner.replay import bernoulli_again_, generator_state
from autograder.reference.rewrite import Clones, Rewritten, make_wait
from autograder.reference.simulate import Fate, Simulator
from autograder.reference.timetable import Timetable, entries, fates_of, holds_on
from autograder.reference.values import Step, needed_inputs
from lab_utils.steps.graph import Kind, Phase, copy_graph, mark_recomputed
from lab_utils.steps.kept import is_early
from lab_utils.steps.storage import (
    Storage,
    arguments_by_name,
    draws_numbers,
    overwritten_inputs,
    storages,
)

aten = torch.ops.aten


def rewrite_with(step: Step, fates: Sequence[int], control: bool = True) -> Rewritten:
    """A copy of the step's graph in which every value has its fate."""
    return _Rewriter(step, fates).rewrite(control)


def rewrite_by(step: Step, table: Timetable, control: bool = True) -> Rewritten:
    """A copy of the step's graph in which all that the timetable names runs again."""
    return _ByTimetable(step, table).rewrite(control)


class _Rewriter:
    def __init__(self, step: Step, fates: Sequence[int]) -> None:
        self.graph, new = copy_graph(step.graph)
        self.place = {new[node]: index for index, node in enumerate(step.order)}
        self.clones: Clones = {}  # those that may be read at the moment
        self.made: list[tuple[fx.Node, fx.Node]] = []  # originals, each with a clone
        self.memory = storages(self.graph)
        self.makers: dict[fx.Node, list[fx.Node]] = {}  # by the node that allocates
        self.packed: dict[fx.Node, fx.Node] = {}  # memory of a mask, the node that draws it
        self.left: dict[fx.Node, fx.Node] = {}  # what a draw leaves for backward
        self.spans: dict[fx.Node, list[tuple[int, int]]] = {}  # by the node that allocates
        spans = Simulator(step).reruns(fates).spans
        lost = set()
        for index, maker in enumerate(step.makers):
            nodes = [new[node] for node in maker.nodes]
            self.makers[nodes[0]] = nodes
            if index in spans:
                self.spans[nodes[0]] = spans[index]
            for value, storage in zip(maker.values, self._owned(nodes[0]), strict=True):
                if fates[value]:
                    lost.add(storage)
                if fates[value] == Fate.PACKED:
                    self.packed[nodes[0]] = nodes[maker.draw or 0]
        self.lost = {
            node for node in self.place if is_early(node) and not lost.isdisjoint(self.memory[node])
        }

    def rewrite(self, control: bool) -> Rewritten:
        for reader in [n for n in self.place if not is_early(n)]:
            wanted = [n for n in reader.all_input_nodes if n in self.lost]
            if wanted and self.spans:
                self._forget(self.place[reader])
            for original in sorted(self._missing(wanted), key=self.place.__getitem__):
                self.clones[original] = self._clone(original, reader)
                self.made.append((original, self.clones[original]))
            for original in wanted:
                reader.replace_input_with(original, self.clones[original])
        return self._finished(control)

    def _finished(self, control: bool) -> Rewritten:
        self._remove_dead()
        if control:  # every clone waits, also where one original has several
            make_wait(self.graph, {clone: clone for _, clone in self.made})
        return Rewritten(self.graph, dict(self.made))

    def _forget(self, place: int) -> None:
        """Let clones go that are rebuilt for each use, and whose use ended before ``place``."""
        for original in list(self.clones):
            spans = self.spans.get(self.memory[original][0].owner)
            if spans and any(start == place for start, _ in spans):
                del self.clones[original]

    def _missing(self, wanted: Sequence[fx.Node]) -> set[fx.Node]:
        """All nodes that have to run again for ``wanted`` and have not yet."""
        missing: set[fx.Node] = set()
        queue = [n for n in wanted if n not in self.clones]
        while queue:
            node = queue.pop()
            if node in missing:
                continue
            missing.add(node)
            owner = self.memory[node][0].owner
            own = self._owned(owner)
            needed = [n for n in owner.users if n.target is operator.getitem and n in self.lost]
            needed += self.makers[owner]
            for reading in (node, *self.makers[owner]):
                reads = [] if reading in self.packed else needed_inputs(reading)
                needed += [
                    n for n in reads if n in self.lost or not own.keys().isdisjoint(self.memory[n])
                ]
            queue += [n for n in needed if n not in self.clones]
        return missing

    def _owned(self, owner: fx.Node) -> dict[Storage, None]:
        return dict.fromkeys(s for s in self.memory[owner] if s.owner is owner)

    def _clone(self, original: fx.Node, reader: fx.Node) -> fx.Node:
        memory = self.memory[original][0].owner
        if original is self.packed.get(memory):
            return self.clones[memory]
        target, args, kwargs = self._call(original)
        with self.graph.inserting_before(reader):
            clone = self.graph.create_node(
                "call_function", target, args, kwargs, name=f"{original.name}_recomp"
            )
        clone.meta = dict(original.meta)
        return mark_recomputed(clone)

    def _call(self, node: fx.Node) -> tuple[Any, Any, Any]:
        """What the clone of ``node`` runs."""
        val = node.meta["val"]
        if node in self.packed:
            call = (self._packed(self.packed[node]),)
            return aten._to_copy.default, call, {"dtype": val.dtype}
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: self.clones.get(n, n))
        if node.target is aten.empty_like.default:
            layout = (list(val.shape), list(val.stride()))
            return aten.empty_strided.default, layout, {"dtype": val.dtype}
        if draws_numbers(node):
            draw = arguments_by_name(node.target, args, kwargs)  # type: ignore[arg-type]
            return bernoulli_again_, (draw.self, draw.p, self._state(node)), {}
        if node.target is aten.native_batch_norm.default and overwritten_inputs(node):
            args = (*args[:3], None, None, *args[5:])
        return node.target, args, kwargs

    def _packed(self, draw: fx.Node) -> fx.Node:
        if draw in self.left:
            return self.left[draw]
        with self.graph.inserting_after(draw):
            node = self.graph.create_node(
                "call_function",
                aten._to_copy.default,
                (draw,),
                {"dtype": torch.bool},
                name=f"{draw.name}_packed",
            )
        val = draw.meta["val"]
        node.meta = {**draw.meta, "val": torch.empty_like(val, dtype=torch.bool)}
        self.left[draw] = node
        return node

    def _state(self, draw: fx.Node) -> fx.Node:
        if draw in self.left:
            return self.left[draw]
        with self.graph.inserting_before(draw):
            node = self.graph.create_node(
                "call_function", generator_state, name=f"{draw.name}_state"
            )
        node.meta = {
            "phase": Phase.FORWARD,
            "kind": Kind.ACTIVATION,
            "module": draw.meta.get("module", ""),
            "val": torch.empty_like(torch.get_rng_state(), device="meta"),
        }
        self.left[draw] = node
        return node

    def _remove_dead(self) -> None:
        dead = set()
        for clone in reversed(list(dict.fromkeys(clone for _, clone in self.made))):
            if not clone.users and not overwritten_inputs(clone):
                self.graph.erase_node(clone)
                dead.add(clone)
        self.made = [(n, clone) for n, clone in self.made if clone not in dead]


class _ByTimetable(_Rewriter):
    """Clones stand where the timetable says; readers read the newest copy."""

    def __init__(self, step: Step, table: Timetable) -> None:
        super().__init__(step, fates_of(Simulator(step), table))
        self.step, self.table = step, entries(table)
        self.owners = list(self.makers)  # in the order of the step's makers
        self.of_owner: dict[fx.Node, list[fx.Node]] = {}  # early nodes by the memory they look at
        for node in self.place:
            if is_early(node) and self.memory[node]:
                self.of_owner.setdefault(self.memory[node][0].owner, []).append(node)
        self.anew: set[Storage] = set()  # of which there is a newer copy than the original

    def rewrite(self, control: bool) -> Rewritten:
        for reader in [n for n in self.place if not is_early(n)]:
            for maker in self.table.get(self.place[reader], []):
                self._run_again(maker, reader)
            for original in reader.all_input_nodes:
                newest = self._newest(original, reader)
                if newest is not original:
                    reader.replace_input_with(original, newest)
        return self._finished(control)

    def _run_again(self, index: int, reader: fx.Node) -> None:
        owner = self.owners[index]
        own = self._owned(owner)
        values = zip(self.step.makers[index].values, own, strict=True)
        held = {s for v, s in values if holds_on(self.step, v, self.place[reader])}
        before = {n: self.clones.pop(n) for n in self.of_owner[owner] if n in self.clones}
        anew = self.anew & held
        self.anew.update(own)
        for node in self.makers[owner]:
            for read in [] if node in self.packed else needed_inputs(node):
                self._newest(read, reader)
            self._copy(node, reader)
        for piece in owner.users:  # a live tuple would hold all its outputs
            if piece.target is operator.getitem and is_early(piece):
                self._newest(piece, reader)
        for node in self.of_owner[owner] if held else []:
            if not held.isdisjoint(self.memory[node]):
                self.clones.pop(node, None)
                if node in before:
                    self.clones[node] = before[node]
        self.anew -= held - anew

    def _newest(self, node: fx.Node, reader: fx.Node) -> fx.Node:
        """What stands for ``node`` by now; a view of memory that was rebuilt is derived again."""
        if node in self.clones or not is_early(node) or self.anew.isdisjoint(self.memory[node]):
            return self.clones.get(node, node)
        for read in needed_inputs(node):
            self._newest(read, reader)
        return self._copy(node, reader)

    def _copy(self, node: fx.Node, reader: fx.Node) -> fx.Node:
        clone = self.clones[node] = self._clone(node, reader)
        self.made.append((node, clone))
        return clone
