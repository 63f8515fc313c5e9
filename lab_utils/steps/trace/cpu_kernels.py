"""Where fake tensors say something else than what PyTorch's CPU kernels do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx
from torch.utils._pytree import tree_map_only

from lab_utils.kit.errors import LabError
from lab_utils.steps.storage import arguments_by_name, overwritten_inputs, storages

aten = torch.ops.aten
# Their results are contiguous; a fake one has the strides of its operand.
CONTIGUOUS = (
    aten.mse_loss_backward.default,
    aten.smooth_l1_loss_backward.default,
    aten.huber_loss_backward.default,
    aten.glu_backward.default,
    aten.log_sigmoid_forward.default,
    aten.rrelu_with_noise.default,
)
# Their first result is laid out as PyTorch suggests for this operand: channels last or
# contiguous. A fake one has all strides of some operand, or none of them.
SUGGESTED = {
    aten.roll.default: "self",
    aten.channel_shuffle.default: "self",
    aten.native_channel_shuffle.default: "self",
    aten.reflection_pad2d_backward.default: "self",
    aten.replication_pad2d_backward.default: "self",
    aten.native_batch_norm.default: "input",
    aten.native_batch_norm_backward.default: "input",
}
# They leave out results that nobody wants; some fake ones are there all the same.
_MASKED = {
    aten.convolution_backward.default,
    aten.native_batch_norm_backward.default,
    aten.native_group_norm_backward.default,
    aten.native_layer_norm_backward.default,
}


def cpu_fake_mode(
    check: Callable[[Any, Any, Any, Any], None] | None = None, **settings: Any
) -> Any:
    """A ``FakeTensorMode`` in which tensors have the strides of the CPU's.

    ``check(operator, args, kwargs, result)`` sees every call, and may refuse it.
    """
    from torch._subclasses import FakeTensorMode

    class CpuFakeMode(FakeTensorMode):
        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            try:
                result: Any = super().__torch_dispatch__(func, types, args, kwargs)
                if check is not None:
                    check(func, args, kwargs or {}, result)
            except Exception as error:
                error.__dict__.setdefault("operator", func)  # for the words about it
                raise
            return _laid_out(func, args, kwargs or {}, result)

    return CpuFakeMode(**settings)


def _laid_out(func: Any, args: Any, kwargs: Any, result: Any) -> Any:
    """``result`` with the strides that the CPU gives it."""
    if func in CONTIGUOUS:
        return tree_map_only(torch.Tensor, torch.Tensor.contiguous, result)
    if func not in SUGGESTED:
        return result
    operand = getattr(arguments_by_name(func, args, kwargs), SUGGESTED[func])
    layout = torch._prims_common.suggest_memory_format(operand)
    first, *others = result if isinstance(result, tuple) else (result,)
    if isinstance(first, torch.Tensor):
        first = first.contiguous(memory_format=layout)
    return (first, *others) if isinstance(result, tuple) else first


@contextmanager
def plain_recurrent_layers() -> Iterator[None]:
    """While this is open, an LSTM runs as plain operators.

    Its fused CPU kernel (oneDNN's) keeps a workspace of which fake tensors do not know.
    """
    fused = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)  # torch.backends.mkldnn.flags would warn on some machines
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(fused)


def check_views(graph: fx.Graph) -> None:
    """Compare what operators declare to share with what their fake results share.

    Raises:
        LabError: an operator returns a view and does not say so; it is named.
    """
    memory = storages(graph)
    owners: dict[int, set[Any]] = {}
    for node in graph.nodes:
        val = node.meta.get("val")
        values = val if isinstance(val, (list, tuple)) else (val,)
        for value, storage in zip(values, memory[node], strict=False):
            if isinstance(value, torch.Tensor) and value.layout is torch.strided and value.numel():
                known = owners.setdefault(value.untyped_storage()._cdata, {storage})
                if storage not in known and not overwritten_inputs(node):
                    raise LabError(
                        f"{node.target} shares memory with {next(iter(known)).owner.name} and does "
                        "not declare it: this operator cannot be traced"
                    )


def without_unwanted(target: Any, args: Any, kwargs: Any, made: Any) -> Any:
    """The results ``made`` by a call, with None for those that its output mask leaves out."""
    if target not in _MASKED:
        return made
    mask = arguments_by_name(target, args, kwargs).output_mask
    return tuple(one if wanted else None for one, wanted in zip(made, mask, strict=True))
