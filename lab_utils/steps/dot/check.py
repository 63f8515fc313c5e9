"""What must hold before a program from a file may run.

Each operator is tried on the ``meta`` device, where tensors have a shape but no
memory: that finds wrong arguments and wrong shapes without computing anything.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import torch

from lab_utils.kit.errors import LabError
from lab_utils.steps.dot.arguments import parse_call
from lab_utils.steps.dot.operator_rules import check_operands
from lab_utils.steps.dot.operators import resolve
from lab_utils.steps.dot.values import MAX_OUTPUTS, Value, parse_value, value_text
from lab_utils.steps.storage import arguments_by_name
from lab_utils.steps.trace.cpu_kernels import CONTIGUOUS, SUGGESTED, cpu_fake_mode, without_unwanted


class ShapeError(LabError):
    """An operator that does not accept its operands."""


#: Operators that lay out their result as the CPU's libraries like it, which ``meta`` cannot know.
DEVICE_DEPENDENT = frozenset(
    {
        "aten.convolution.default",
        "aten.convolution_backward.default",
        "aten.native_batch_norm.default",
        "aten.native_layer_norm.default",
        "aten.native_group_norm.default",
        "aten.pixel_shuffle.default",
        "aten.pixel_unshuffle.default",
        "aten.reflection_pad2d.default",
        "aten.replication_pad2d.default",
        *map(str, (*CONTIGUOUS, *SUGGESTED)),
    }
)
_CUTS = frozenset({"aten.unbind.int", "aten.split.Tensor", "aten.unsafe_split.Tensor"})


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
            named = arguments_by_name(target, args, kwargs)
            _check_pieces(name, named)
            made = without_unwanted(target, args, kwargs, target(*args, **kwargs))
            value = parse_value(value_text(made))
            check_operands(name, named)
            return value
    except (LabError, MemoryError):
        raise
    except Exception as error:  # whatever a kernel raises, the file is what is wrong
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise ShapeError(f"{name} refuses its arguments: {lines[0][:300]}") from None


def _piece(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Value:
    match args:
        case (tuple(outputs), int(index)) if not kwargs and 0 <= index < len(outputs):
            return parse_value(value_text(outputs[index]))
    raise ShapeError("getitem takes a node with several outputs and the number of one of them")


def _check_pieces(name: str, call: SimpleNamespace) -> None:
    """Refuse to cut a value into millions: even tensors without memory add up."""
    if name in _CUTS and call.self.size(call.dim) > MAX_OUTPUTS * getattr(call, "split_size", 1):
        raise ShapeError(f"{name} would make more than {MAX_OUTPUTS:,} pieces")


def _like(val: torch.Tensor, device: str) -> torch.Tensor:
    return torch.empty_strided(val.shape, val.stride(), dtype=val.dtype, device=device)


def _fake_cpu() -> Any:
    return cpu_fake_mode(allow_fallback_kernels=False)  # a fallback would compute
