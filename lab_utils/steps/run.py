"""Run a graph for real, in any legal order, and watch its memory while it runs."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import Kind, kind, outputs, placeholders
from lab_utils.steps.schedule import Schedule, in_order, program_order
from lab_utils.steps.storage import overwritten_memory, storages


@dataclass(frozen=True)
class StepResult:
    """What a training step leaves behind.

    ``outputs`` holds the loss and the gradients by label (``loss``, ``grad:PATH``),
    ``state`` the values that were overwritten (weights, optimizer state, buffers)
    by placeholder name.
    """

    outputs: dict[str, torch.Tensor]
    state: dict[str, torch.Tensor]


def step_values(
    graph: fx.Graph,
    model: nn.Module,
    inputs: Any,
    targets: Any,
    optimizer: torch.optim.Optimizer,
) -> dict[str, torch.Tensor]:
    """The tensors of a real model and batch, by the name of the graph's placeholder."""
    from lab_utils.steps.trace.step import step_inputs

    given = step_inputs(model, inputs, targets, optimizer)
    return {node.name: given[node.meta["source"]].detach() for node in placeholders(graph)}


def example_values(graph: fx.Graph, seed: int = 0) -> dict[str, torch.Tensor]:
    """Random tensors that fit the placeholders, for a graph whose model is not at hand.

    Integers are 0 or 1, so that they are legal as class or token numbers; optimizer
    state and buffers are positive, as variances must be.
    """
    draw = torch.Generator().manual_seed(seed)
    values: dict[str, torch.Tensor] = {}
    for node in placeholders(graph):
        like = node.meta.get("val")
        if like is None:
            raise LabError(f"{node.name} has no shape: a drawing cannot be run")
        value = torch.empty_strided(like.shape, like.stride(), dtype=like.dtype)
        if like.dtype is torch.bool:
            value.fill_(True)
        elif not like.dtype.is_floating_point:
            value.copy_(torch.randint(0, 2, like.shape, generator=draw))
        elif kind(node) in (Kind.OPT_STATE, Kind.OTHER):
            value.copy_(torch.rand(like.shape, generator=draw))
        else:
            # Weights as small as a fresh model's, so that deep graphs stay finite.
            scale = max(like.shape, default=1) ** -0.5 if kind(node) is Kind.WEIGHT else 1.0
            value.copy_(torch.randn(like.shape, generator=draw) * scale)
        values[node.name] = value
    return values


def run(
    graph: fx.Graph,
    values: Mapping[str, torch.Tensor],
    order: Schedule | Sequence[fx.Node] | None = None,
) -> StepResult:
    """Run the step on ``values`` (by placeholder name), in program order if not told otherwise.

    Each value is freed after the step of its last reader, so that the memory really
    held is what ``live_bytes`` says. ``values`` are not changed: what the step
    overwrites is copied first.

    Raises:
        LabError: a value is missing, or the graph is a drawing.
    """
    schedule = _schedule(graph, order)
    held = _given(graph, values)
    return _run(graph, held, schedule)


def measured_peak(
    graph: fx.Graph,
    values: Mapping[str, torch.Tensor],
    order: Schedule | Sequence[fx.Node] | None = None,
) -> int:
    """The most bytes that tensors really hold while the graph runs.

    Counted by watching every storage from its creation to its end; the memory that
    an operator uses inside itself is not seen.
    """
    schedule = _schedule(graph, order)
    held = _given(graph, values)
    watch = StorageWatch(held.values())
    with watch:
        _run(graph, held, schedule)
    return watch.peak


def _schedule(graph: fx.Graph, order: Schedule | Sequence[fx.Node] | None) -> Schedule:
    if order is None:
        return program_order(graph)
    return order if isinstance(order, Schedule) else in_order(graph, order)


def _given(graph: fx.Graph, values: Mapping[str, torch.Tensor]) -> dict[fx.Node, torch.Tensor]:
    changed = _overwritten(graph)
    held: dict[fx.Node, torch.Tensor] = {}
    for node in placeholders(graph):
        if node.name not in values:
            raise LabError(f"no value was given for {node.name}")
        value = values[node.name].detach()
        held[node] = value.clone() if node in changed else value
    return held


def _overwritten(graph: fx.Graph) -> set[fx.Node]:
    return {storage.owner for storage in overwritten_memory(graph, storages(graph))}


def _run(graph: fx.Graph, held: dict[fx.Node, torch.Tensor], schedule: Schedule) -> StepResult:
    step_of = schedule.step_of()
    dying: list[list[fx.Node]] = [[] for _ in schedule.steps]
    kept = set(outputs(graph).values())
    for node, born in step_of.items():
        if node not in kept:
            dying[max((step_of[r] for r in node.users), default=born)].append(node)
    env: dict[fx.Node, Any] = dict(held)
    with torch.no_grad():
        for nodes, dead in zip(schedule.steps, dying, strict=True):
            for node in nodes:
                args, kwargs = fx.map_arg((node.args, node.kwargs), env.__getitem__)
                env[node] = node.target(*args, **kwargs)  # type: ignore[operator]
            del args, kwargs
            for node in dead:
                del env[node]
    changed = _overwritten(graph)
    return StepResult(
        {label: env[node] for label, node in outputs(graph).items()},
        {node.name: value for node, value in held.items() if node in changed},
    )


class StorageWatch(TorchDispatchMode):
    """Adds up the bytes of all storages that are alive, and keeps the largest sum."""

    def __init__(self, given: Any) -> None:
        super().__init__()
        self.now = self.peak = 0
        self._known: dict[int, weakref.ref] = {}
        for tensor in given:
            self._see(tensor)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self._see(leaf)
        return result

    def _see(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._known:
            return
        nbytes = storage.nbytes()

        def gone(_: Any) -> None:
            self.now -= nbytes
            del self._known[key]

        self._known[key] = weakref.ref(storage, gone)
        self.now += nbytes
        self.peak = max(self.peak, self.now)
