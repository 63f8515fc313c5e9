"""From a real ``nn.Module`` to one graph of its whole training step.

``make_fx`` runs the step once on fake tensors (shapes without data, so that a
model larger than memory can be traced) and records every ATen operator: forward,
loss, backward and the optimizer's update.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch import fx, nn
from torch.nn.parameter import is_lazy

from lab_utils.kit.errors import LabError
from lab_utils.steps.garbage import no_garbage_collection
from lab_utils.steps.storage import overwritten_memory, storages
from lab_utils.steps.trace.cpu_kernels import cpu_fake_mode, plain_recurrent_layers
from lab_utils.steps.trace.faithful import check_call, no_reentrant_checkpoint
from lab_utils.steps.trace.notes import module_paths
from lab_utils.steps.trace.older_torch import whole_operators
from lab_utils.steps.trace.recorder import Recorder, TraceError, as_tuple
from lab_utils.steps.trace.tidy import RawTrace, tidy
from lab_utils.steps.trace.updates import Updater
from lab_utils.steps.trace.why import quiet_log, why
from lab_utils.steps.workloads import Workload


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
    states; ``lab_utils.steps.run.step_values`` finds their tensors. It returns the
    loss and the gradients; parameters and buffers are updated in place. The numbers are
    eager PyTorch's, bit for bit, where its operators are the same; an LSTM is traced as
    plain operators in place of a fused one, and agrees up to rounding.

    Raises:
        TraceError: an optimizer, operator or model that has no faithful graph.
    """
    given = step_inputs(model, inputs, targets, optimizer)
    recorder = Recorder(model, inputs, targets, loss, optimizer)
    with cpu_fake_mode(check_call(lambda: recorder.phase), allow_non_fake_inputs=False):
        fakes = {source: _fake_like(value) for source, value in given.items()}
    raw = _make_fx(recorder, fakes, model)
    graph = tidy(
        RawTrace(raw.graph, raw, list(given), _input_names(model, inputs), *recorder.gradients())
    )
    _check_shared(graph, given)
    return graph


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
    for path, tensor in (*model.named_parameters(), *model.named_buffers()):
        if is_lazy(tensor):
            raise TraceError(f"{path} has no shape yet: run the model once before")
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
        if value.is_complex():
            raise TraceError(f"{source} holds complex numbers, which are not supported")
    _check_state(model)
    return given


def _check_state(model: nn.Module) -> None:
    """Refuse what a graph of separate placeholders would silently get wrong."""
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    for path, tensor in state.items():
        if tensor._backward_hooks or getattr(tensor, "_post_accumulate_grad_hooks", None):
            raise TraceError(
                f"parameter {path} has a gradient hook, which a graph does not follow: remove it"
            )
    for one, other in _in_one_memory(state):
        raise TraceError(
            f"{one} and {other} are views of the same memory, which a graph does not follow: make "
            "one of them a copy (clone)"
        )


def _in_one_memory(tensors: Mapping[str, torch.Tensor]) -> Iterator[tuple[str, str]]:
    """Names of tensors that share a storage; whether they overlap in it is not asked."""
    owner: dict[int, str] = {}
    for name, tensor in tensors.items():
        if tensor.device.type != "meta" and tensor.numel():
            first = owner.setdefault(tensor.untyped_storage()._cdata, name)
            if first != name:
                yield first, name


def _check_shared(graph: fx.Graph, given: Mapping[str, torch.Tensor]) -> None:
    """Refuse a step that overwrites memory which two of its placeholders share."""
    owners = {storage.owner for storage in overwritten_memory(graph, storages(graph))}
    overwritten = {owner.meta["source"] for owner in owners if owner.op == "placeholder"}
    for one, other in _in_one_memory(given):
        if overwritten & {one, other}:
            raise TraceError(
                f"{one} and {other} share memory, and the step overwrites it, which a graph does "
                "not follow: make one of them a copy (clone)"
            )


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
        with (
            preserve_node_meta(),
            module_paths(model),
            whole_operators(),
            plain_recurrent_layers(),
            no_reentrant_checkpoint(),
            no_garbage_collection(),
            quiet_log(),
        ):
            # make_fx counts the arguments of the bare function, and takes self for one.
            return make_fx(lambda given: recorder.step(given), tracing_mode="fake")(fakes)
    except LabError:
        raise
    except Exception as error:
        raise TraceError(why(error, recorder.phase, model)) from error
