"""From a real ``nn.Module`` to one graph of its whole training step.

``make_fx`` runs the step once on fake tensors (shapes without data, so that a
model larger than memory can be traced) and records every ATen operator: forward,
loss, backward and the optimizer's update.
"""

from __future__ import annotations

import gc
import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx, nn

from lab_utils.graph import LabError
from lab_utils.models import Workload
from lab_utils.trace.recorder import Recorder, TraceError, as_tuple, module_paths
from lab_utils.trace.tidy import RawTrace, tidy
from lab_utils.trace.updates import Updater


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
    recorder = Recorder(model, inputs, targets, loss, optimizer)
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
    named = inputs if isinstance(inputs, Mapping) else dict(enumerate(as_tuple(inputs)))
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
    names = list(inspect.signature(model.forward).parameters)[: len(as_tuple(inputs))]
    return {f"input:{place}": name for place, name in enumerate(names)}


def _make_fx(recorder: Recorder, fakes: dict[str, torch.Tensor], model: nn.Module) -> Any:
    from torch.fx.experimental.proxy_tensor import make_fx
    from torch.fx.traceback import preserve_node_meta

    try:
        with preserve_node_meta(), module_paths(model), _no_garbage_collection():
            # make_fx counts the arguments of the bare function, and takes self for one.
            return make_fx(lambda given: recorder.step(given), tracing_mode="fake")(fakes)
    except LabError:
        raise
    except Exception as error:
        raise TraceError(_why(error, recorder)) from error


def _why(error: Exception, recorder: Recorder) -> str:
    first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    frames = inspect.getinnerframes(error.__traceback__) if error.__traceback__ else []
    library = (torch.__path__[0], os.path.dirname(__file__))
    own = [f for f in frames if not f.filename.startswith(library)]
    where = f" at {own[-1].filename}:{own[-1].lineno}" if own else ""
    return f"cannot trace the {recorder.phase} pass{where}: {first}"


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
