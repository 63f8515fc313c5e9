"""The parts of a file's statements: operators, arguments, values."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.dot.arguments import ArgumentError, parse_call, write_call
from lab_utils.steps.dot.check import infer
from lab_utils.steps.dot.drawing import DotError
from lab_utils.steps.dot.operators import OPERATORS, UnknownOperator, resolve
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.values import ValueTextError, parse_value, value_text
from tests.support.same_graph import labels, shown

# Operators


def test_the_list_of_operators_is_real_and_harmless() -> None:
    for name in OPERATORS - {"getitem"}:
        target = resolve(name)
        assert isinstance(target, torch._ops.OpOverload)
        assert str(target) == name
        assert torch.Tag.inplace_view not in target.tags, f"{name} changes a shape in place"
        returned = {str(out.type) for out in target._schema.returns}
        assert returned <= {"Tensor", "List[Tensor]"}, f"{name} returns {returned}"
        taken = {str(argument.type) for argument in target._schema.arguments}
        assert not any("Storage" in kind or "Stream" in kind for kind in taken)


@pytest.mark.parametrize(
    "name",
    ["aten.set_.source_Storage", "aten.as_strided.default", "aten.from_file.default", "exec", ""],
)
def test_other_operators_are_not_even_looked_up(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("lab_utils.steps.dot.operators.torch")
    with pytest.raises(UnknownOperator, match="is not on the list"):
        resolve(name)


UNSAFE = {
    "wrong lengths": (
        "aten._log_softmax_backward_data.default",
        "(_, _, 1, torch.float32)",
        ("f32[9,9]", "f32[1,9]"),
    ),
    "batch norm weight": (
        "aten.native_batch_norm.default",
        "(_, _, None, None, None, True, 0.1, 1e-05)",
        ("f32[4,8]", "f32[1]"),
    ),
    "batch norm saved mean": (
        "aten.native_batch_norm_backward.default",
        "(_, _, None, None, None, _, _, True, 1e-05, [True, True, True])",
        ("f32[4,8]", "f32[4,8]", "f32[1]", "f32[1]"),
    ),
    "adam state": (
        "aten._fused_adam_.default",
        "([_], [_], [_], [_], [], [_], lr=0.1, beta1=0.9, beta2=0.9, weight_decay=0.0, eps=1e-08,"
        " amsgrad=False, maximize=False)",
        ("f32[9]", "f32[9]", "f32[1]", "f32[9]", "f32[]"),
    ),
    "adam overlap": (
        "aten._fused_adam_.default",
        "([_], [_], [_], [_], [], [_], lr=0.1, beta1=0.9, beta2=0.9, weight_decay=0.0, eps=1e-08,"
        " amsgrad=False, maximize=False)",
        ("f32[9]{0}", "f32[9]", "f32[9]", "f32[9]", "f32[]"),
    ),
    "attention": (
        "aten._scaled_dot_product_flash_attention_for_cpu.default",
        "(_, _, _)",
        ("f32[9,2,6,8]", "f32[1,2,6,8]", "f32[1,2,6,8]"),
    ),
    "unreduced loss": (
        "aten.nll_loss_backward.default",
        "(_, _, _, None, 0, -100, _)",
        ("f32[4]", "f32[4,8]", "i64[4]", "f32[]"),
    ),
    "negative padding": (
        "aten.replication_pad1d_backward.default",
        "(_, _, [-7, 9])",
        ("f32[1,1,10]", "f32[1,1,8]"),
    ),
    "frequencies": (
        "aten.embedding_dense_backward.default",
        "(_, _, 4, -1, True)",
        ("f32[3,8]", "i64[3]"),
    ),
}


@pytest.mark.parametrize("case", UNSAFE)
def test_operands_that_a_kernel_would_trust_blindly_are_refused(case: str) -> None:
    with pytest.raises(LabError, match="is not safe with these arguments|refuses"):
        infer(*UNSAFE[case])


POOLING = """digraph {
  node [phase=forward, kind=ACTIVATION];
  x [op=placeholder, value="f32[1,4,4]"];
  i [op=placeholder, value="i64[1,2,2]"];
  max [op="aten.max_pool2d_with_indices.default", args="(_, [2, 2])",
       value="(f32[1,2,2], i64[1,2,2])"];
  out [op=getitem, args="(_, 0)", value="f32[1,2,2]"];
  where [op=getitem, args="(_, 1)", value="i64[1,2,2]"];
  dx [op="aten.max_pool2d_with_indices_backward.default",
      args="(_, _, [2, 2], [2, 2], [0, 0], [1, 1], False, _)", value="f32[1,4,4]", output=dx];
  x -> max [arg=0]; max -> out [arg=0]; max -> where [arg=0];
  out -> dx [arg=0]; x -> dx [arg=1]; where -> dx [arg=7];
}"""


def test_pooling_indices_come_from_a_pooling() -> None:
    assert labels(read_dot(POOLING)) == [("dx", "dx")]
    with pytest.raises(DotError, match="node dx: its indices must come unchanged"):
        read_dot(POOLING.replace("where -> dx", "i -> dx"))
    changed = 'z [op="aten.fill_.Scalar", args="(_, 99)", value="i64[1,2,2]"]; where -> z [arg=0];'
    with pytest.raises(DotError, match="node dx: its indices must come unchanged"):
        read_dot(POOLING.replace("x -> max", f"{changed} x -> max"))


# Arguments and values

CONSTANTS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        [torch.float32, torch.bool, torch.channels_last, torch.strided, torch.device("cpu")]
    ),
)
ARGUMENTS = st.recursive(
    CONSTANTS, lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner), max_leaves=8
)


@given(st.lists(ARGUMENTS, max_size=4), st.dictionaries(st.sampled_from("abcd"), ARGUMENTS))
def test_arguments_survive(args: list[Any], kwargs: dict[str, Any]) -> None:
    text, holes = write_call(tuple(args), kwargs)
    call = parse_call(text)
    assert shown(call.args) == shown(tuple(args))
    assert shown(list(call.kwargs.items())) == shown(list(kwargs.items()))
    assert (holes, call.holes) == ([], ())
    assert text.isascii()
    assert '"' not in text


def test_nodes_are_told_by_their_place() -> None:
    graph = fx.Graph()
    a, b = graph.placeholder("a"), graph.placeholder("b")
    text, holes = write_call((a, [None, b], 3), {"weight": (a, [b])})
    assert text == "(_, [None, _], 3, weight=(_, [_]))"
    assert holes == [("0", a), ("1.1", b), ("weight.0", a), ("weight.1.0", b)]
    call = parse_call(text)
    assert list(call.holes) == [place for place, _ in holes]
    assert call.filled(dict(holes)) == ((a, [None, b], 3), {"weight": (a, [b])})


@pytest.mark.parametrize(
    "text",
    ["", "_", "(_", "(_)()", "(x)", "(1+1)", "(*_)", "(**_)", "(a=1, a=2)", "([i for i in _])",
     "({})", "(1j)", "(b'x')", "(f'{_}')", "(lambda: 1)", "(torch.load)", "(torch.save('x'))",
     "(device('disk'))", "(device(_))", "(...)", "(_.a)", "(_[0])", "(-'x')", "(--1)", "(not 1)",
     "(" + "[" * 20 + "]" * 20 + ")", "(" * 5000, "(" + "-" * 5000 + "1)", "(" + "1," * 20_000,
     "(1)\n(2)", "(x:=1)", "(__class__)", "(1 if 1 else 2)"],
)  # fmt: skip
def test_other_arguments_are_refused(text: str) -> None:
    with pytest.raises(ArgumentError):
        parse_call(text)


SHAPES = st.lists(st.integers(0, 5), max_size=4)


@st.composite
def _vals(draw: Any) -> torch.Tensor:
    shape = draw(SHAPES)
    strides = draw(st.lists(st.integers(0, 30), min_size=len(shape), max_size=len(shape)))
    dtype = draw(st.sampled_from([torch.float32, torch.bfloat16, torch.int64, torch.bool]))
    if draw(st.booleans()):
        return torch.empty(shape, dtype=dtype, device="meta")
    return torch.empty_strided(shape, strides, dtype=dtype, device="meta")


@given(_vals() | st.lists(st.none() | _vals(), min_size=1, max_size=3).map(tuple))
def test_values_survive(val: Any) -> None:
    text = value_text(val)
    again = parse_value(text)
    assert again.text == text
    assert _layout(again.val) == _layout(val)


def _layout(val: Any) -> Any:
    if isinstance(val, tuple):
        return [_layout(item) for item in val]
    if val is None:
        return None
    # Along a dimension of size 1 nobody steps.
    steps = [step for size, step in zip(val.shape, val.stride(), strict=True) if size != 1]
    return val.dtype, val.shape, steps, val.is_meta


@pytest.mark.parametrize(
    "text",
    ["", "f32", "f32[", "f32[-1]", "f32[2]{}", "f32[2]{1,1}", "f32[2,]", "f32[²]", "c64[2]",
     "f32[99999999999999999999999999]", "f32[2]{9999999999999}", "()", "(f32[2]", "(f32[2] f32[2])",
     "f32[2] f32[2]", "None,", "f32[" + "1," * 70 + "1]",
     "(" + "None, " * 10_000 + "None)"],
)  # fmt: skip
def test_other_values_are_refused(text: str) -> None:
    with pytest.raises(ValueTextError):
        parse_value(text)


def test_a_value_laid_out_by_the_cpu_is_accepted() -> None:
    text = """digraph {
      node [phase=forward, kind=ACTIVATION];
      x [op=placeholder, value="f32[2,3,8,8]{192,1,24,3}"];
      w [op=placeholder, value="f32[4,3,3,3]"];
      y [op="aten.convolution.default", value="f32[2,4,6,6]{144,1,24,4}",
         args="(_, _, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)"];
      x -> y [arg=0]; w -> y [arg=1];
    }"""
    assert list(read_dot(text).nodes)[2].meta["val"].stride() == (144, 1, 24, 4)
    with pytest.raises(DotError, match="node y: its value is told as"):
        read_dot(text.replace("{144,1,24,4}", "{144,1,24,5}"))


def test_not_a_number_survives() -> None:
    args, _ = parse_call("(nan, -inf, -0.0)").filled({})
    assert math.isnan(args[0])
    assert args[1] == -math.inf
    assert math.copysign(1, args[2]) == -1
