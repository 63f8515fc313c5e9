"""What must hold before a program from a file may run.

Each operator is tried on the ``meta`` device, where tensors have a shape but no
memory: that finds wrong arguments and wrong shapes. Some CPU kernels go on to trust
their operands blindly and would read or write outside of them; ``_RULES`` says what
these operands must look like.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import torch
from torch import fx

from lab_utils.dot_arguments import parse_call
from lab_utils.dot_drawing import short
from lab_utils.dot_values import MAX_OUTPUTS, Value, parse_value, value_text
from lab_utils.effects import overwritten_inputs, storages
from lab_utils.graph import LabError, operator_name
from lab_utils.operators import resolve


class ShapeError(LabError):
    """An operator that does not accept its operands."""


#: Operators that lay out their result as the CPU's libraries like it, which ``meta`` cannot know.
DEVICE_DEPENDENT = frozenset({"aten.convolution.default", "aten.native_batch_norm.default"})


@lru_cache(maxsize=8192)
def infer(name: str, call: str, operands: tuple[str, ...], on_cpu: bool = False) -> Value:
    """The value of an operator, from its arguments and the values that go into its holes.

    Deep models repeat their layers, so that most answers are known already.

    Args:
        on_cpu: ask for the layout on a (fake) CPU; slower.

    Raises:
        LabError: the operator is unknown or refuses; the message says why.
    """
    target = resolve(name)
    template = parse_call(call)
    vals = {
        place: parse_value(text).val for place, text in zip(template.holes, operands, strict=True)
    }
    if target is operator.getitem:
        return _piece(*template.filled(vals))
    for place, val in vals.items():
        if not isinstance(val, torch.Tensor):
            what = "several values: take one with getitem" if val else "nothing"
            raise ShapeError(f"argument {place} must be one value, but is given {what}")
    assert isinstance(target, torch._ops.OpOverload)
    device = "cpu" if on_cpu else "meta"
    try:
        with _fake_cpu() if on_cpu else torch.no_grad():
            fresh = {place: _like(val, device) for place, val in vals.items()}
            args, kwargs = template.filled(fresh)
            if any(argument.name == "device" for argument in target._schema.arguments):
                kwargs = {**kwargs, "device": torch.device(device)}
            _check_rules(name, _by_name(target, args, kwargs))
            result = target(*args, **kwargs)
            return parse_value(value_text(result))
    except LabError:
        raise
    except Exception as error:  # whatever a kernel raises, the file is what is wrong
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ShapeError(f"{name} refuses its arguments: {lines[0][:300]}") from None


def _piece(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Value:
    match args:
        case (tuple(outputs), int(index)) if not kwargs and 0 <= index < len(outputs):
            return parse_value(value_text(outputs[index]))
    raise ShapeError("getitem takes a node with several outputs and the number of one of them")


def _like(val: torch.Tensor, device: str) -> torch.Tensor:
    return torch.empty_strided(val.shape, val.stride(), dtype=val.dtype, device=device)


def _fake_cpu() -> Any:
    from torch._subclasses import FakeTensorMode

    return FakeTensorMode(allow_fallback_kernels=False)  # a fallback would compute


def _by_name(target: torch._ops.OpOverload, args: Any, kwargs: Any) -> SimpleNamespace:
    """The arguments by the names of the schema, with its defaults."""
    schema = target._schema.arguments
    named = {a.name: a.default_value for a in schema}
    named |= {a.name: value for a, value in zip(schema, args, strict=False)}
    return SimpleNamespace(**{**named, **kwargs})


def _check_rules(name: str, call: SimpleNamespace) -> None:
    for rule in _RULES.get(name, ()):
        if complaint := rule(call):
            raise ShapeError(f"{name} is not safe with these arguments: {complaint}")


Rule = Callable[[SimpleNamespace], str | None]


def _same_shape(*names: str) -> Rule:
    def rule(call: SimpleNamespace) -> str | None:
        shapes = {tuple(getattr(call, name).shape) for name in names}
        return f"{' and '.join(names)} must have the same shape" if len(shapes) > 1 else None

    return rule


def _per_channel(*names: str, only_if: Callable[[Any], bool] = lambda _: True) -> Rule:
    def rule(call: SimpleNamespace) -> str | None:
        channels = tuple(call.input.shape[1:2])
        for name in names if only_if(call) else ():
            value = getattr(call, name)
            if value is not None and tuple(value.shape) != channels:
                return f"{name} must have one element for each channel of the input"
        return None

    return rule


def _few_pieces(call: SimpleNamespace) -> str | None:
    dim = call.dim
    length = call.self.shape[dim] if call.self.dim() else 1
    pieces = -(-length // getattr(call, "split_size", 1)) if length else 1
    return f"it makes more than {MAX_OUTPUTS:,} pieces" if pieces > MAX_OUTPUTS else None


def _fused_update(call: SimpleNamespace) -> str | None:
    groups = [call.self, call.grads, call.exp_avgs, call.exp_avg_sqs]
    groups += [call.max_exp_avg_sqs] if call.amsgrad else []
    if len({len(group) for group in [*groups, call.state_steps]}) > 1:
        return "its lists must be equally long"
    for tensors in zip(*groups, strict=True):
        if len({tuple(t.shape) for t in tensors}) > 1 or not all(map(_is_dense, tensors)):
            return "a parameter, its gradient and its state must have the same shape, without gaps"
    if any(step.numel() != 1 for step in call.state_steps):
        return "each step must be one number"
    return None


def _is_dense(tensor: torch.Tensor) -> bool:
    """Whether each address between first and last belongs to exactly one element."""
    expected = 1
    for stride, size in sorted(zip(tensor.stride(), tensor.shape, strict=True)):
        if size != 1:
            if stride != expected:
                return False
            expected *= size
    return True


def _attention(call: SimpleNamespace) -> str | None:
    batch, heads, length, width = call.query.shape
    if call.key.shape != call.value.shape or call.key.dim() != 4:
        return "key and value must have the same shape"
    if (call.key.shape[:2], call.key.shape[3]) != ((batch, heads), width):
        return "query and key must agree in batch, heads and width"
    if any(t.stride(-1) != 1 for t in (call.query, call.key, call.value)):
        return "query, key and value must be contiguous in their last dimension"
    if call.attn_mask is not None:
        whole = (batch, heads, length, call.key.shape[2])
        if torch.broadcast_shapes(call.attn_mask.shape, whole) != whole:
            return "attn_mask must fit batch, heads, length of query and length of key"
    return None


def _attention_backward(call: SimpleNamespace) -> str | None:
    if not call.query.shape == call.out.shape == call.grad_out.shape:
        return "query, out and grad_out must have the same shape"
    if call.logsumexp.shape != call.query.shape[:3]:
        return "logsumexp must have the shape of query without its last dimension"
    return _attention(call)


def _pooled(call: SimpleNamespace) -> str | None:
    if call.grad_output.shape[:-2] != call.self.shape[:-2]:
        return "grad_output and self must agree in batch and channels"
    return None


def _padded(call: SimpleNamespace) -> str | None:
    return "padding must not be negative" if min(call.padding, default=0) < 0 else None


def _reduced(call: SimpleNamespace) -> str | None:
    return None if call.reduction in (1, 2) else "reduction must be 1 (mean) or 2 (sum)"


def _unscaled(call: SimpleNamespace) -> str | None:
    return "scale_grad_by_freq must be False" if call.scale_grad_by_freq else None


def _rules(rules: dict[str, tuple[Rule, ...]]) -> dict[str, tuple[Rule, ...]]:
    return {f"aten.{name}": checks for name, checks in rules.items()}


_RULES = _rules(
    {
        "unbind.int": (_few_pieces,),
        "split.Tensor": (_few_pieces,),
        "unsafe_split.Tensor": (_few_pieces,),
        "_softmax_backward_data.default": (_same_shape("grad_output", "output"),),
        "_log_softmax_backward_data.default": (_same_shape("grad_output", "output"),),
        "native_batch_norm.default": (
            _per_channel("weight", "bias", "running_mean", "running_var"),
        ),
        "native_batch_norm_backward.default": (
            _same_shape("grad_out", "input"),
            _per_channel("weight", "running_mean", "running_var"),
            _per_channel("save_mean", "save_invstd", only_if=lambda call: call.train),
        ),
        "_fused_adam_.default": (_fused_update,),
        "_fused_adamw_.default": (_fused_update,),
        "_scaled_dot_product_flash_attention_for_cpu.default": (_attention,),
        "_scaled_dot_product_flash_attention_for_cpu_backward.default": (_attention_backward,),
        "_adaptive_avg_pool2d_backward.default": (_pooled,),
        "adaptive_max_pool2d_backward.default": (_same_shape("grad_output", "indices"), _pooled),
        "reflection_pad1d_backward.default": (_padded,),
        "reflection_pad2d_backward.default": (_padded,),
        "replication_pad1d_backward.default": (_padded,),
        "replication_pad2d_backward.default": (_padded,),
        "nll_loss_backward.default": (_reduced,),
        "nll_loss2d_backward.default": (_reduced,),
        "embedding_dense_backward.default": (_unscaled,),
    }
)

# Backward of a maximum writes where the indices say, and does not look whether that is inside.
_INDICES_OF = {
    "aten.max_pool2d_with_indices_backward.default": "aten.max_pool2d_with_indices.default",
    "aten.max_pool3d_with_indices_backward.default": "aten.max_pool3d_with_indices.default",
    "aten.adaptive_max_pool2d_backward.default": "aten.adaptive_max_pool2d.default",
}


def check_indices(graph: fx.Graph) -> None:
    """Make sure that pooling indices are those of a forward pooling of the same shape.

    Raises:
        ShapeError: they are made or changed by something else; the message names the node.
    """
    readers = [node for node in graph.nodes if operator_name(node) in _INDICES_OF]
    if not readers:
        return
    memory = storages(graph)
    changed = {s for node in graph.nodes for w in overwritten_inputs(node) for s in memory[w]}
    for node in readers:
        assert isinstance(node.target, torch._ops.OpOverload)
        call = _by_name(node.target, node.args, node.kwargs)
        if not _is_from_forward(call, _INDICES_OF[operator_name(node)]) or changed & {
            *memory[call.indices]
        }:
            raise ShapeError(
                f"node {node.name}: its indices must come unchanged from the second output of "
                f"{_INDICES_OF[operator_name(node)]} on a value of the same shape"
            )


def _is_from_forward(call: SimpleNamespace, forward: str) -> bool:
    indices = call.indices
    if indices.target is not operator.getitem or indices.args[1] != 1:
        return False
    pooling = indices.args[0]
    return (
        operator_name(pooling) == forward
        and pooling.all_input_nodes[0].meta["val"].shape == call.self.meta["val"].shape
    )


def describe(text: str) -> str:
    """A value as messages tell it."""
    return "nothing" if text == "None" else short(text)
