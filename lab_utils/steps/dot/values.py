"""The shape of a value as text: ``f32[512,64]``, and ``f32[64,256]{1,64}`` with strides.

Strides stand in braces where the value is not contiguous. An operator with several
outputs has them all: ``(f32[8,4], f32[8,1], None)``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import torch

from lab_utils.kit.errors import LabError
from lab_utils.steps.dot.drawing import REMEMBERED_LENGTH, short

MAX_ELEMENTS = 2**40  # of one tensor, gaps between its elements included
MAX_OUTPUTS = 10_000  # of one node
MAX_ALL_OUTPUTS = 300_000  # of a file
MAX_DIMENSIONS = 64  # PyTorch's own bound

_DTYPES = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "bool": torch.bool,
}
_NAME_OF = {dtype: name for name, dtype in _DTYPES.items()}
_TENSOR = re.compile(r"(\w{1,8})\[([\d, ]*)\](?:\{([\d, ]*)\})?")
_OUTPUT = re.compile(rf"\s*(?:(None)|{_TENSOR.pattern})\s*(,|$)")


class ValueTextError(LabError):
    """A shape that has no text, or text that tells no shape."""


class Value(NamedTuple):
    """A value that is told but not there: its text in the one form that we write, and its
    ``val`` (a tensor on the ``meta`` device, or a tuple of them)."""

    text: str
    val: Any


def value_text(val: Any) -> str:
    """The text of ``node.meta["val"]``; ``None`` for an operator that returns nothing.

    Raises:
        ValueTextError: a dtype that we do not know, or no tensor at all.
    """
    if isinstance(val, (tuple, list)):
        return f"({', '.join(value_text(item) for item in val)})" if val else "None"
    if val is None:
        return "None"
    if not isinstance(val, torch.Tensor) or val.dtype not in _NAME_OF:
        what = val.dtype if isinstance(val, torch.Tensor) else type(val).__name__
        raise ValueTextError(f"a value of type {what} cannot be written to a file")
    return _tensor_text(val.dtype, tuple(val.shape), val.stride())


@lru_cache(maxsize=4096)
def _tensor_text(dtype: torch.dtype, shape: tuple[int, ...], strides: tuple[int, ...]) -> str:
    text = f"{_NAME_OF[dtype]}[{','.join(map(str, shape))}]"
    strides = _told(shape, strides)
    if strides != _contiguous(shape):
        text += f"{{{','.join(map(str, strides))}}}"
    return text


def _told(shape: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, where one that nobody steps by is as if the dimension were contiguous."""
    told: list[int] = []
    following = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        told.append(following if size == 1 else stride)
        following = told[-1] * max(size, 1)
    return tuple(reversed(told))


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def parse_value(text: str) -> Value:
    """The reverse of ``value_text``; spaces and needless strides make no difference.

    Raises:
        ValueTextError: the text is not in that form, or tells an absurd size.
    """
    return _parse_known(text) if len(text) <= REMEMBERED_LENGTH else _parse(text)


def _parse(text: str) -> Value:
    if not text.startswith("("):
        match = _TENSOR.fullmatch(text)
        val = _tensor(match.groups(), text) if match else None
        if match is None and text != "None":
            raise _malformed(text)
        return Value(value_text(val), val)
    if text[-1] != ")":
        raise _malformed(text)
    outputs: list[torch.Tensor | None] = []
    place, end = 1, len(text) - 1
    while place < end:
        match = _OUTPUT.match(text, place, end)
        if match is None or len(outputs) == MAX_OUTPUTS:
            raise _malformed(text)
        outputs.append(None if match[1] else _tensor(match.groups()[1:4], text))
        place = match.end()
    if not outputs:
        raise _malformed(text)
    return Value(value_text(tuple(outputs)), tuple(outputs))


_parse_known = lru_cache(maxsize=4096)(_parse)


def _tensor(parts: tuple[str | None, ...], text: str) -> torch.Tensor:
    dtype, shape, strides = parts
    if dtype not in _DTYPES:
        raise ValueTextError(f"value has the type {dtype}; known are {', '.join(_DTYPES)}")
    sizes = _numbers(shape, text)
    steps = _contiguous(sizes) if strides is None else _numbers(strides, text)
    if len(sizes) != len(steps) or len(sizes) > MAX_DIMENSIONS:
        raise ValueTextError(f"value {short(text)} has not one stride for each dimension")
    reach = 1 + sum((size - 1) * step for size, step in zip(sizes, steps, strict=True))
    if max(prod(sizes), reach, *sizes, *steps) > MAX_ELEMENTS:
        raise ValueTextError(f"value {short(text)} has more than 2**40 elements")
    return torch.empty_strided(sizes, steps, dtype=_DTYPES[dtype], device="meta")


def _numbers(text: str | None, whole: str) -> tuple[int, ...]:
    words = text.split(",") if text and text.strip() else []
    if not all(word.strip().isdecimal() and len(word.strip()) < 20 for word in words):
        raise _malformed(whole)
    return tuple(int(word) for word in words)


def _malformed(text: str) -> ValueTextError:
    return ValueTextError(
        f"value is {short(text)}, but must look like f32[8,4], f32[8,4]{{1,8}} or (f32[8,4], None)"
    )
