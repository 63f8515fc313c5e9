"""The training step itself, as it runs while ``make_fx`` records it.

It notes what the graph alone does not tell: the phase and the module of every
operator, and whose gradient each value of backward is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from typing import Any

import torch
from torch import nn

from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import Phase
from lab_utils.steps.trace.notes import Notes, noted
from lab_utils.steps.trace.updates import Updater


class TraceError(LabError):
    """The training step cannot be turned into a graph; the text names the obstacle."""


def as_tuple(inputs: Any) -> tuple[Any, ...]:
    """Positional inputs, one or many."""
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


class Recorder:
    """Runs the training step under ``make_fx`` and notes whose gradient each value is."""

    def __init__(
        self,
        model: nn.Module,
        inputs: Any,
        targets: Any,
        loss: Callable[..., torch.Tensor] | None,
        optimizer: torch.optim.Optimizer,
    ) -> None:
        self.model, self.inputs, self.targets, self.loss = model, inputs, targets, loss
        self.optimizer = optimizer
        self.phase = Phase.FORWARD
        self.labels: list[str] = []
        self.totals: list[tuple[torch.Tensor, Any]] = []  # gradient, whose
        self.partials: list[tuple[torch.Tensor, Any, Any]] = []  # gradient, whose, through

    def gradients(self) -> tuple[list[str], list[Any], list[tuple[Any, Any]]]:
        """What the extra outputs of the traced step are, in their order."""
        whose = [owner for _, owner in self.totals]
        return self.labels, whose, [(owner, through) for _, owner, through in self.partials]

    def step(self, given: dict[str, torch.Tensor]) -> list[torch.Tensor]:
        """The training step; returns loss, gradients, then what ``gradients`` describes."""
        part = {kind: _select(given, kind) for kind in ("input", "param", "buffer", "state")}
        trained = {k: p for k, p in part["param"].items() if p.requires_grad}
        if not trained:
            raise TraceError("the model has no parameter that requires a gradient")
        # Through backward too: torch.utils.checkpoint runs parts of the model again there.
        with (
            _untouched(self.model),
            _holding(self.model, {**part["param"], **part["buffer"]}),
            _autocast_cache(),
        ):
            with noted({"phase": Phase.FORWARD}):
                result = self._forward(part["input"])
            self.phase = Phase.LOSS
            with noted({"phase": Phase.LOSS}):
                loss = self._loss(result, given.get("target"))
            self.phase = Phase.BACKWARD
            with noted({"phase": Phase.BACKWARD}), Notes() as notes:
                self._watch_backward(loss, {id(p): path for path, p in trained.items()}, notes)
                grads = torch.autograd.grad(loss, list(trained.values()), allow_unused=True)
        used = {path: g for path, g in zip(trained, grads, strict=True) if g is not None}
        for path, grad in used.items():
            if grad.layout is not torch.strided:
                raise TraceError(f"the gradient of {path} is sparse: trace it with sparse=False")
        with noted({"phase": Phase.BACKWARD}), torch.no_grad():
            used = {path: _laid_out_as(trained[path], grad) for path, grad in used.items()}
        self.phase = Phase.OPTIMIZER
        with noted({"phase": Phase.OPTIMIZER}), torch.no_grad():
            self._update(trained, used, part["state"])
        self.labels = ["loss", *(f"grad:{path}" for path in used)]
        return [
            loss,
            *used.values(),
            *(g for g, _ in self.totals),
            *(g for g, _, _ in self.partials),
        ]

    def _update(
        self,
        trained: dict[str, torch.Tensor],
        grads: dict[str, torch.Tensor],
        states: dict[str, torch.Tensor],
    ) -> None:
        updater = Updater(self.optimizer)
        real = dict(self.model.named_parameters())
        kept: dict[str, dict[str, torch.Tensor]] = {path: {} for path in trained}
        for source, value in states.items():
            path, _, name = source.rpartition(".")
            kept[path][name] = value
        for path, grad in grads.items():
            updater.update(path, real[path], trained[path], grad, kept[path])

    def _forward(self, inputs: dict[str, torch.Tensor]) -> Any:
        by_name = isinstance(self.inputs, Mapping)
        return self.model(**inputs) if by_name else self.model(*inputs.values())

    def _loss(self, result: Any, target: torch.Tensor | None) -> torch.Tensor:
        loss = self.loss(result, target) if self.loss else getattr(result, "loss", result)
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            raise TraceError("the loss must be one number: a tensor with a single element")
        return loss

    def _watch_backward(self, loss: torch.Tensor, parameters: dict[int, str], notes: Notes) -> None:
        """Note, for each gradient that autograd makes, the value that it belongs to.

        A value is told by its autograd sequence number, which ``make_fx`` leaves on
        the forward node; a parameter by its path.
        """

        def owner(function: Any) -> Any:
            variable = getattr(function, "variable", None)
            return parameters.get(id(variable)) if variable is not None else sequence(function)

        def sequence(function: Any) -> int | None:
            number = getattr(function, "_sequence_nr", None)
            return number() if number is not None else None

        def watch(function: Any) -> None:
            def before(grad_outputs: tuple[torch.Tensor | None, ...]) -> None:
                notes.begin("differentiates", sequence(function))
                self.totals.extend((g, sequence(function)) for g in grad_outputs if g is not None)

            def after(grad_inputs: tuple[torch.Tensor | None, ...], _outputs: Any) -> None:
                notes.end()
                for grad, (following, _) in zip(grad_inputs, function.next_functions, strict=True):
                    if grad is not None and following is not None:
                        self.partials.append((grad, owner(following), sequence(function)))

            function.register_prehook(before)
            function.register_hook(after)

        for function in _autograd_functions(loss):
            if function.next_functions:
                watch(function)


def _laid_out_as(parameter: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    """``grad`` with the strides of its parameter, which autograd gives to ``.grad`` as well.

    The fused update relies on it: it walks through both without looking at strides.
    """
    order = sorted(range(grad.dim()), key=parameter.stride().__getitem__, reverse=True)
    if not parameter.permute(order).is_contiguous():
        return grad.contiguous()  # a parameter with gaps: autograd leaves them out
    strides = zip(grad.shape, grad.stride(), parameter.stride(), strict=True)
    if all(mine == wanted for size, mine, wanted in strides if size > 1):
        return grad
    back = [order.index(dim) for dim in range(grad.dim())]
    return grad.permute(order).clone(memory_format=torch.contiguous_format).permute(back)


@contextmanager
def _untouched(model: nn.Module) -> Iterator[None]:
    """What forward sets in a module while this is open is gone afterwards: it is no real tensor.

    So is what it puts into a list, dict or set that the module holds.
    """
    before = [(module, dict(vars(module))) for module in model.modules()]
    containers = [
        (value, copy(value))
        for _, held in before
        for value in held.values()
        if type(value) in (dict, OrderedDict, list, set)
    ]
    try:
        yield
    finally:
        for module, held in before:
            vars(module).clear()
            vars(module).update(held)
        for value, kept in containers:
            value.clear()
            value.extend(kept) if isinstance(value, list) else value.update(kept)


@contextmanager
def _holding(model: nn.Module, state: Mapping[str, torch.Tensor]) -> Iterator[None]:
    """While this is open, the model's parameters and buffers are those of ``state``, by path.

    ``torch.func.functional_call`` does the same, but where a module has two names it leaves
    the stand-ins in the model.
    """
    real = [*model.named_parameters(), *model.named_buffers()]
    path_of = {id(tensor): path for path, tensor in real}
    held = [
        (place, name, tensor)
        for module in model.modules()
        for place in (module._parameters, module._buffers)
        for name, tensor in place.items()
        if tensor is not None
    ]
    try:
        for place, name, tensor in held:
            place[name] = state[path_of[id(tensor)]]  # type: ignore[assignment]
        yield
        for place, name, tensor in held:
            if place.get(name) is not state[path_of[id(tensor)]]:
                raise TraceError(
                    f"forward replaces the buffer {path_of[id(tensor)]} by a new tensor, which a "
                    "graph cannot follow: change it in place (for instance with copy_) instead"
                )
    finally:
        for place, name, tensor in held:
            place[name] = tensor  # type: ignore[assignment]


@contextmanager
def _autocast_cache() -> Iterator[None]:
    """Casts are kept within a pass, as in eager PyTorch; ``make_fx`` turns that off."""
    before = torch.is_autocast_cache_enabled()
    torch.set_autocast_cache_enabled(True)
    try:
        yield
    finally:
        torch.set_autocast_cache_enabled(before)


def _autograd_functions(loss: torch.Tensor) -> list[Any]:
    found = dict.fromkeys([loss.grad_fn] if loss.grad_fn is not None else [])
    queue = list(found)
    while queue:
        for following, _ in queue.pop().next_functions:
            if following is not None and following not in found:
                found[following] = None
                queue.append(following)
    return list(found)


def _select(given: Mapping[str, torch.Tensor], kind: str) -> dict[str, torch.Tensor]:
    start = f"{kind}:"
    return {key[len(start) :]: value for key, value in given.items() if key.startswith(start)}
