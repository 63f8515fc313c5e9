"""From a real ``nn.Module`` to one graph of its whole training step.

``make_fx`` runs the step once on fake tensors (shapes without data, so that a
model larger than memory can be traced) and records every ATen operator: forward,
loss, backward and the optimizer's update.
"""

from __future__ import annotations

import gc
import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx, nn

from lab_utils.graph import LabError, Phase
from lab_utils.models import Workload
from lab_utils.tidy import RawTrace, tidy
from lab_utils.updates import Updater


class TraceError(LabError):
    """The training step cannot be turned into a graph; the text names the obstacle."""


def trace_training_step(
    model: nn.Module,
    inputs: Any,
    targets: Any,
    loss: Callable[..., torch.Tensor] | None,
    optimizer: torch.optim.Optimizer,
) -> fx.Graph:
    """One graph of forward, loss, backward and update.

    Args:
        model: any module; its parameters may be on the ``meta`` device.
        inputs: one tensor, a tuple (positional) or a dict (by name).
        targets: handed to ``loss`` as it is; None where the model makes its own loss.
        loss: ``loss(result, targets)``; None takes ``result.loss``.
        optimizer: SGD, Adam or AdamW over the model's parameters. Adam is traced as
            PyTorch's fused operator, which holds for any step number.

    The graph's placeholders are the inputs, parameters, buffers and optimizer
    states; ``lab_utils.execute.step_values`` finds their tensors. It returns the
    loss and the gradients; parameters and buffers are updated in place.

    Raises:
        TraceError: an optimizer, operator or model that has no faithful graph.
    """
    given = step_inputs(model, inputs, targets, optimizer)
    mode = _fake_mode()
    with mode:
        fakes = {source: _fake_like(value) for source, value in given.items()}
    recorder = _Recorder(model, inputs, targets, loss, optimizer)
    raw = _make_fx(recorder, fakes, model)
    return tidy(
        RawTrace(raw.graph, raw, list(given), _input_names(model, inputs), *recorder.gradients())
    )


def trace_workload(
    work: Workload, optimizer: Callable[..., torch.optim.Optimizer] = torch.optim.SGD
) -> fx.Graph:
    """``trace_training_step`` of a workload, with ``optimizer(model.parameters())``."""
    return trace_training_step(
        work.model, work.inputs, work.targets, work.loss, optimizer(work.model.parameters())
    )


def step_inputs(
    model: nn.Module, inputs: Any, targets: Any, optimizer: torch.optim.Optimizer
) -> dict[str, torch.Tensor]:
    """Every tensor that the step is given, by its source: ``param:PATH``, ``input:0``, …"""
    given: dict[str, torch.Tensor] = {}
    named = inputs if isinstance(inputs, Mapping) else dict(enumerate(_as_tuple(inputs)))
    given |= {f"input:{key}": value for key, value in named.items()}
    if targets is not None:
        given["target"] = targets
    given |= {f"param:{path}": p for path, p in model.named_parameters()}
    given |= {f"buffer:{path}": b for path, b in model.named_buffers()}
    updater = Updater(optimizer)
    for path, parameter in model.named_parameters():
        if parameter.requires_grad:
            for name, value in updater.state(path, parameter).items():
                given[f"state:{path}.{name}"] = value
    for source, value in given.items():
        if not isinstance(value, torch.Tensor):
            raise TraceError(f"{source} must be a tensor, not {type(value).__name__}")
    return given


def _as_tuple(inputs: Any) -> tuple[Any, ...]:
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


def _fake_mode() -> Any:
    from torch._subclasses import FakeTensorMode

    return FakeTensorMode(allow_non_fake_inputs=False)


def _fake_like(value: torch.Tensor) -> torch.Tensor:
    fake = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="cpu")
    return fake.requires_grad_(value.requires_grad)


def _input_names(model: nn.Module, inputs: Any) -> dict[str, str]:
    """What the model's own ``forward`` calls its inputs."""
    if isinstance(inputs, Mapping):
        return {f"input:{key}": str(key) for key in inputs}
    names = list(inspect.signature(model.forward).parameters)[: len(_as_tuple(inputs))]
    return {f"input:{place}": name for place, name in enumerate(names)}


def _make_fx(recorder: _Recorder, fakes: dict[str, torch.Tensor], model: nn.Module) -> Any:
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.fx.traceback import preserve_node_meta

    try:
        with preserve_node_meta(), _module_paths(model), _no_garbage_collection():
            # make_fx counts the arguments of the bare function, and takes self for one.
            return make_fx(lambda given: recorder.step(given), tracing_mode="fake")(fakes)
    except LabError:
        raise
    except Exception as error:
        raise TraceError(_why(error, recorder)) from error


def _why(error: Exception, recorder: _Recorder) -> str:
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    frames = inspect.getinnerframes(error.__traceback__) if error.__traceback__ else []
    library = (torch.__path__[0], __file__)
    own = [f for f in frames if not f.filename.startswith(library)]
    where = f" at {own[-1].filename}:{own[-1].lineno}" if own else ""
    return f"cannot trace the {recorder.phase} pass{where}: {first}"


class _Recorder:
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
        from torch.fx.traceback import annotate

        part = {kind: _select(given, kind) for kind in ("input", "param", "buffer", "state")}
        trained = {k: p for k, p in part["param"].items() if p.requires_grad}
        if not trained:
            raise TraceError("the model has no parameter that requires a gradient")
        with annotate({"phase": Phase.FORWARD}):
            result = self._forward(part)
        self.phase = Phase.LOSS
        with annotate({"phase": Phase.LOSS}):
            loss = self._loss(result, given.get("target"))
        self.phase = Phase.BACKWARD
        with annotate({"phase": Phase.BACKWARD}):
            self._watch_backward(loss, {id(p): path for path, p in trained.items()})
            grads = torch.autograd.grad(loss, list(trained.values()), allow_unused=True)
        used = {path: g for path, g in zip(trained, grads, strict=True) if g is not None}
        self.phase = Phase.OPTIMIZER
        with annotate({"phase": Phase.OPTIMIZER}), torch.no_grad():
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

    def _forward(self, part: dict[str, dict[str, torch.Tensor]]) -> Any:
        state = {**part["param"], **part["buffer"]}
        before = dict(state)
        by_name = isinstance(self.inputs, Mapping)
        result = torch.func.functional_call(
            self.model,
            state,
            () if by_name else tuple(part["input"].values()),
            part["input"] if by_name else {},
        )
        for path, value in before.items():
            if state[path] is not value:
                raise TraceError(
                    f"forward replaces the buffer {path} by a new tensor, which a graph cannot "
                    "follow: change it in place (for instance with copy_) instead"
                )
        return result

    def _loss(self, result: Any, target: torch.Tensor | None) -> torch.Tensor:
        loss = self.loss(result, target) if self.loss else getattr(result, "loss", result)
        if not isinstance(loss, torch.Tensor) or loss.numel() != 1:
            raise TraceError("the loss must be one number: a tensor with a single element")
        return loss

    def _watch_backward(self, loss: torch.Tensor, parameters: dict[int, str]) -> None:
        """Note, for each gradient that autograd makes, the value that it belongs to.

        A value is told by its autograd sequence number, which ``make_fx`` leaves on
        the forward node; a parameter by its path.
        """
        from torch.fx.traceback import annotate

        def owner(function: Any) -> Any:
            variable = getattr(function, "variable", None)
            return parameters.get(id(variable)) if variable is not None else sequence(function)

        def sequence(function: Any) -> int | None:
            number = getattr(function, "_sequence_nr", None)
            return number() if number is not None else None

        def watch(function: Any) -> None:
            entered: list[Any] = []

            def before(grad_outputs: tuple[torch.Tensor | None, ...]) -> None:
                scope = annotate({"differentiates": sequence(function)})
                scope.__enter__()
                entered.append(scope)
                self.totals.extend((g, sequence(function)) for g in grad_outputs if g is not None)

            def after(grad_inputs: tuple[torch.Tensor | None, ...], _outputs: Any) -> None:
                entered.pop().__exit__(None, None, None)
                for grad, (following, _) in zip(grad_inputs, function.next_functions, strict=True):
                    if grad is not None and following is not None:
                        self.partials.append((grad, owner(following), sequence(function)))

            function.register_prehook(before)
            function.register_hook(after)

        for function in _autograd_functions(loss):
            if function.next_functions:
                watch(function)


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


@contextmanager
def _module_paths(model: nn.Module) -> Iterator[None]:
    """While this is open, every traced operator notes the module that it runs in."""
    from torch.fx.traceback import annotate

    scopes: list[Any] = []

    def enter(path: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            scopes.append(annotate({"module": path}))
            scopes[-1].__enter__()

        return hook

    def leave(*_: Any) -> None:
        scopes.pop().__exit__(None, None, None)

    handles = []
    for path, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(enter(path)))
        handles.append(module.register_forward_hook(leave))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Tracing makes millions of objects that stay, and looking through them is slow."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
