"""Operands that a CPU kernel trusts blindly, and what they must look like.

Most kernels check their operands. Those named here were seen to read or write outside
of them when shapes disagree or an index is too large: a program from a file must not
get that far.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import operator_name
from lab_utils.steps.storage import arguments_by_name, overwritten_memory, storages


class UnsafeOperands(LabError):
    """Operands on which an operator might leave their memory."""


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


def has_rules(name: str) -> bool:
    """Whether ``check_operands`` looks at the arguments of this operator at all."""
    return name in _RULES


def check_operands(name: str, call: SimpleNamespace) -> None:
    """Make sure that an operator, which accepts its arguments, stays inside of them.

    Raises:
        UnsafeOperands: it might not; the message says what must agree.
    """
    for rule in _RULES.get(name, ()):
        if complaint := rule(call):
            raise UnsafeOperands(f"{name} is not safe with these arguments: {complaint}")


# Backward of a maximum writes where the indices say, and does not look whether that is inside.
_INDICES_OF = {
    "aten.max_pool2d_with_indices_backward.default": "aten.max_pool2d_with_indices.default",
    "aten.max_pool3d_with_indices_backward.default": "aten.max_pool3d_with_indices.default",
    "aten.adaptive_max_pool2d_backward.default": "aten.adaptive_max_pool2d.default",
}


def check_indices(graph: fx.Graph) -> None:
    """Make sure that pooling indices are those of a forward pooling of the same shape.

    Raises:
        UnsafeOperands: they are made or changed by something else; the message names the node.
    """
    readers = [node for node in graph.nodes if operator_name(node) in _INDICES_OF]
    if not readers:
        return
    memory = storages(graph)
    changed = overwritten_memory(graph, memory)
    for node in readers:
        assert isinstance(node.target, torch._ops.OpOverload)
        call = arguments_by_name(node.target, node.args, node.kwargs)
        if not _is_from_forward(call, _INDICES_OF[operator_name(node)]) or changed & {
            *memory[call.indices]
        }:
            raise UnsafeOperands(
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
