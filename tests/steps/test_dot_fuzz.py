"""Whatever a file holds: ``read_dot`` returns a graph or says in one line why not.

While it reads, no operator outside of the list is looked up, and no tensor with
memory is touched.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import fx
from torch._subclasses import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from lab_utils.steps.dot import check as dot_check
from lab_utils.steps.dot import operators
from lab_utils.steps.dot.drawing import DotError
from lab_utils.steps.dot.operators import OPERATORS
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from tests.support.dot_files import PLAIN, THIN
from tests.support.strategies import random_step_graph
from tests.support.workloads import CASES

_TOKEN = re.compile(r'"[^"]*"|\w+|->|\s+|.')
# What an attacker, or a tired student, might put in.
_PIECES = [
    *("digraph", "subgraph", "node", "edge", "strict", "{", "}", "[", "]", "->", "--", ";", ","),
    *("=", ":", '"', "<", ">", "+", "\\", "/*", "*/", "//", "#", "\n", "\0", "\ufeff", "é"),
    *("op=placeholder", 'op="aten.resize_.default"', 'op="aten.set_.source_Tensor"', "op=exec"),
    *(
        'op="aten.as_strided.default"',
        'op="aten.mm.default"',
        "op=getitem",
        'op="aten.full.default"',
    ),
    *('args="(_)"', 'args="(_, 0)"', 'args="([99999999999], 1)"', 'args="(__import__)"', "args"),
    *('value="f32[2,2]"', 'value="f32[2,2]{0,0}"', 'value="(f32[2], None)"', 'value=""', "value"),
    *("style=dashed", "style=dotted", "style=invis", 'arg="0"', 'arg="1.0"', "output=loss"),
    *("-1", "0", "99999999999999", "1e9", "nan", "_", "None", "[[", "'x'", "torch.float64"),
    *("phase=recompute", "kind=WEIGHT", "label", "device('cuda')", "dtype=torch.bool", "alpha=inf"),
]


class _MemoryWatch(TorchDispatchMode):
    """Notes each operator that meets or makes a tensor with memory."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for leaf in tree_leaves((args, kwargs, result)):
            if isinstance(leaf, torch.Tensor) and not isinstance(leaf, FakeTensor):
                self.found |= set() if leaf.is_meta else {str(func)}
        return result


class _Watched:
    """``torch.ops.aten`` that notes the full name of each overload that is looked up."""

    def __init__(self, found: list[str]) -> None:
        self._found = found

    def __getattr__(self, packet: str) -> Any:
        found, real = self._found, getattr(torch.ops.aten, packet)

        class Packet:
            def __getattr__(self, overload: str) -> Any:
                found.append(f"aten.{packet}.{overload}")
                return getattr(real, overload)

        return Packet()


@contextmanager
def _guarded() -> Iterator[None]:
    found: list[str] = []
    operators.resolve.cache_clear()
    dot_check.infer.cache_clear()
    watched = SimpleNamespace(
        ops=SimpleNamespace(aten=_Watched(found)), __version__=torch.__version__
    )
    with pytest.MonkeyPatch.context() as patch, _MemoryWatch() as memory:
        patch.setattr(operators, "torch", watched)
        yield
    operators.resolve.cache_clear()
    assert set(found) <= OPERATORS, "an operator outside of the list was looked up"
    assert not memory.found, "operators ran on real memory"


def assert_graph_or_one_line(source: str | Path) -> None:
    with _guarded():
        try:
            result: fx.Graph | str = read_dot(source)
        except DotError as error:
            result = str(error)
    if isinstance(result, str):
        assert len(result.splitlines()) == 1
        assert len(result) < 2000
    else:
        result.lint()


def test_the_guard_bites() -> None:
    with pytest.raises(AssertionError, match="ran on real memory"), _guarded():
        torch.ops.aten.zeros.default([2])
    with pytest.raises(AssertionError, match="outside of the list"), _guarded():
        operators.torch.ops.aten.resize_.default  # noqa: B018
    with _guarded():
        read_dot(PLAIN)


@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    assert_graph_or_one_line(text)
    assert_graph_or_one_line(f"digraph {{ {text} }}")


@given(st.lists(st.sampled_from([*_PIECES, " ", "a", "b"]), max_size=60).map(" ".join))
def test_any_heap_of_tokens(text: str) -> None:
    assert_graph_or_one_line(f"digraph {{ {text} }}")
    assert_graph_or_one_line(f"digraph {{ a [{text}] }}")


@settings(max_examples=30)
@given(data=st.binary(max_size=200), whole=st.booleans())
def test_any_bytes(tmp_path_factory: pytest.TempPathFactory, data: bytes, whole: bool) -> None:
    path = tmp_path_factory.getbasetemp() / "any.dot"
    path.write_bytes(data if whole else PLAIN.encode().replace(b"digraph", data))
    assert_graph_or_one_line(path)


@st.composite
def _mutated(draw: Any, text: str) -> str:
    """``text`` with a few tokens removed, repeated, replaced, moved or invented."""
    tokens = _TOKEN.findall(text)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(tokens) - 1, 0)))
        length = draw(st.sampled_from([1, 1, 1, 2, 5, 40]))
        other = draw(st.integers(0, max(len(tokens) - 1, 0)))
        match draw(st.sampled_from(["delete", "repeat", "swap", "move", "insert", "replace"])):
            case "delete":
                del tokens[at : at + length]
            case "repeat":
                tokens[at:at] = tokens[at : at + length]
            case "swap" if tokens:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "move":
                chunk = tokens[at : at + length]
                del tokens[at : at + length]
                tokens[other:other] = chunk
            case "insert":
                tokens.insert(at, draw(st.sampled_from(_PIECES)))
            case "replace":
                tokens[at : at + 1] = [draw(st.sampled_from(_PIECES))]
    return "".join(tokens)


@settings(max_examples=200)
@given(st.sampled_from([PLAIN, THIN]).flatmap(_mutated))
def test_a_mutated_small_file(text: str) -> None:
    assert_graph_or_one_line(text)


@settings(max_examples=60)
@given(random_step_graph(max_operators=12).map(write_dot).flatmap(_mutated))
def test_a_mutated_random_file(text: str) -> None:
    assert_graph_or_one_line(text)


@settings(max_examples=25)
@given(st.data())
def test_a_mutated_traced_file(data: st.DataObject) -> None:
    assert_graph_or_one_line(data.draw(_mutated(_traced())))


@cache
def _traced() -> str:
    return write_dot(CASES["in_place"]().graph)


_NUMBER = re.compile(r"(?<![\w\"])-?\d+(?:\.\d+)?(?:e-?\d+)?")


@settings(max_examples=100)
@given(random_step_graph(max_operators=12).map(write_dot), st.data())
def test_any_number_in_arguments_and_values(text: str, data: st.DataObject) -> None:
    """Shapes, strides, dimensions and sizes that were never traced."""
    numbers = st.sampled_from(
        [
            "0",
            "-1",
            "1",
            "2",
            "7",
            "4294967296",
            "9223372036854775807",
            "1e30",
            "nan",
            "inf",
            "-inf",
        ]
    )
    spots = list(_NUMBER.finditer(text))
    for spot in sorted(
        data.draw(st.sets(st.sampled_from(spots), max_size=3)), key=lambda m: -m.start()
    ):
        text = text[: spot.start()] + data.draw(numbers) + text[spot.end() :]
    assert_graph_or_one_line(text)


@settings(max_examples=100)
@given(random_step_graph(max_operators=8).map(write_dot), st.data())
def test_any_other_operator_of_the_list(text: str, data: st.DataObject) -> None:
    """Operators with arguments and values that belong to another one."""
    for found in set(re.findall(r'op="([^"]*)"', text)):
        if data.draw(st.booleans()):
            text = text.replace(
                f'op="{found}"', f'op="{data.draw(st.sampled_from(sorted(OPERATORS)))}"'
            )
    assert_graph_or_one_line(text)
