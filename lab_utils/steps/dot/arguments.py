"""An operator's arguments as text: ``(_, [2, 3], alpha=-0.5)``.

``_`` is a hole that an edge fills. The rest is written as in Python, but read by a
small grammar of its own: numbers, strings, lists and a fixed set of names. Text is
never evaluated.

A hole is called by its place: ``0``, ``1``, ``2.0`` for the first element of the
list at place 2, ``weight`` for a keyword argument.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import torch
from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.dot.drawing import REMEMBERED_LENGTH, short

MAX_LENGTH = 20_000  # characters: a concatenation of five thousand values
MAX_DEPTH = 8  # brackets inside brackets

_TORCH_NAMES: dict[str, Any] = {
    str(value).removeprefix("torch."): value
    for value in (
        *(torch.float16, torch.bfloat16, torch.float32, torch.float64),
        *(torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8, torch.bool),
        *(torch.contiguous_format, torch.preserve_format),
        *(torch.channels_last, torch.channels_last_3d, torch.strided),
    )
}
_NAME_OF = {value: f"torch.{name}" for name, value in _TORCH_NAMES.items()}
_NUMBERS = {"inf": float("inf"), "nan": float("nan")}
_DEVICE = re.compile(r"cpu(?::\d{1,3})?")  # a file means the same wherever it is read
_UNUSUAL = re.compile(r"""[^ !#-&(-\[\]-~]""")  # quotes, backslash, all that is not plain ASCII


class ArgumentError(LabError):
    """Arguments that cannot be written, or text that is no list of arguments."""


class _Hole(NamedTuple):
    place: str


class Call(NamedTuple):
    """Arguments whose nodes are still to come: each hole names the place it is at."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    holes: tuple[str, ...]

    def filled(self, values: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Arguments and keyword arguments with ``values[place]`` in each hole."""
        if not self.holes:
            return self.args, self.kwargs
        return (
            tuple(_fill(item, values) for item in self.args),
            {name: _fill(item, values) for name, item in self.kwargs.items()},
        )


def _fill(item: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(item, _Hole):
        return values[item.place]
    if isinstance(item, (list, tuple)):
        return type(item)(_fill(inner, values) for inner in item)
    return item


def write_call(
    args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> tuple[str, list[tuple[str, fx.Node]]]:
    """The text of a call, and the node that goes into each hole, in the order of the holes.

    Raises:
        ArgumentError: a constant of a type that has no text.
    """
    holes: list[tuple[str, fx.Node]] = []
    words = [_write(item, str(index), holes) for index, item in enumerate(args)]
    words += [f"{name}={_write(item, name, holes)}" for name, item in kwargs.items()]
    return f"({', '.join(words)})", holes


def _write(item: Any, place: str, holes: list[tuple[str, fx.Node]]) -> str:
    if isinstance(item, fx.Node):
        holes.append((place, item))
        return "_"
    if isinstance(item, (list, tuple)):
        inner = [_write(each, f"{place}.{index}", holes) for index, each in enumerate(item)]
        if isinstance(item, list):
            return f"[{', '.join(inner)}]"
        return f"({', '.join(inner)}{',' if len(inner) == 1 else ''})"
    if item is None or type(item) in (bool, int, float):
        return repr(item)
    if type(item) is str:
        return "'" + _UNUSUAL.sub(_escape, item) + "'"
    if isinstance(item, torch.device):
        _check_device(str(item))
        return f"device('{item}')"
    if isinstance(item, (torch.dtype, torch.layout, torch.memory_format)) and item in _NAME_OF:
        return _NAME_OF[item]
    raise ArgumentError(f"argument {place} is a {type(item).__name__}, which a file cannot hold")


def _check_device(name: str) -> None:
    if not _DEVICE.fullmatch(name):
        raise ArgumentError(f"args names the device {short(name)}, but a file runs on the cpu only")


def _escape(character: re.Match[str]) -> str:
    return f"\\U{ord(character[0]):08x}"


def parse_call(text: str) -> Call:
    """The reverse of ``write_call``.

    Raises:
        ArgumentError: the text is not in the form that ``write_call`` writes.
    """
    return _parse_known(text) if len(text) <= REMEMBERED_LENGTH else _parse(text)


def _parse(text: str) -> Call:
    if len(text) > MAX_LENGTH:
        raise ArgumentError(f"args is longer than {MAX_LENGTH:,} characters")
    try:
        tree = ast.parse(f"_{text}", mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        tree = None
    if not isinstance(tree, ast.Call) or not isinstance(tree.func, ast.Name):
        raise ArgumentError(f"args is {short(text)}, but must look like (_, 2, alpha=0.5)")
    holes: list[str] = []
    args = tuple(_read(item, str(i), holes) for i, item in enumerate(tree.args))
    kwargs: dict[str, Any] = {}
    for keyword in tree.keywords:
        if keyword.arg is None or keyword.arg in kwargs:
            raise ArgumentError("args holds a keyword twice, or a ** that unpacks something")
        kwargs[keyword.arg] = _read(keyword.value, keyword.arg, holes)
    return Call(args, kwargs, tuple(holes))


_parse_known = lru_cache(maxsize=4096)(_parse)


def _read(tree: ast.expr, place: str, holes: list[str]) -> Any:
    match tree:
        case ast.Name(id="_"):
            holes.append(place)
            return _Hole(place)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            if place.count(".") >= MAX_DEPTH:
                raise ArgumentError(f"args nests lists more than {MAX_DEPTH} deep")
            inner = [_read(item, f"{place}.{index}", holes) for index, item in enumerate(items)]
            return inner if isinstance(tree, ast.List) else tuple(inner)
        case ast.Constant(value=value) if value is None or type(value) in (bool, int, float, str):
            return value
        case ast.Name(id=name) if name in _NUMBERS:
            return _NUMBERS[name]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant() | ast.Name() as operand):
            number = _read(operand, place, holes)
            if type(number) in (int, float):
                return -number
        case ast.Attribute(value=ast.Name(id="torch"), attr=name) if name in _TORCH_NAMES:
            return _TORCH_NAMES[name]
        case ast.Call(
            func=ast.Name(id="device"), args=[ast.Constant(value=str(name))], keywords=[]
        ):
            _check_device(name)
            return torch.device(name)
    raise ArgumentError(f"args holds {short(ast.unparse(tree))}, which is no constant and no _")
