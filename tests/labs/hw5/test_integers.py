"""Homework 5, notebook 5: the solution, wrong and right cells; three oracles agree, bit for bit."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lab_utils.instruments.roofline import ORIN_NANO
from lab_utils.labs.hw5.bits_chart import bits_curve
from lab_utils.labs.hw5.images import load_images
from lab_utils.labs.hw5.judge import exact
from lab_utils.labs.hw5.network import (
    IntLayer,
    float_pixels,
    int8_pixels,
    lenet,
    lenet_int8,
    lenet_layers,
)
from lab_utils.labs.hw5.on_the_roof import layer_work, roof_of
from lab_utils.labs.hw5.tasks import integers
from tests.labs.hw5.catalogue.integers import RIGHT, WRONG
from tests.support.catalogue import Catalogue, NamedOnHidden
from tests.support.judged import verdict_of
from tests.support.solved_cells import solved_space

OURS = solved_space("hw5")
IMAGES = 200


class TestCatalogue(NamedOnHidden):
    catalogue = Catalogue("hw5", WRONG, RIGHT, part=integers.TASKS)


def test_who_is_lent_right_functions_is_right() -> None:
    for task in ("5.5", "5.7"):
        asked = OURS[integers.TASKS[int(task[2]) - 1].asks]
        found = verdict_of("hw5", task, asked, lend=True)
        assert found.passed, found


# Three oracles: numpy's int64 with real multipliers, the fixed-point form, ONNX Runtime.


def plain_layers() -> list[IntLayer]:
    """LeNet without biases, by the notebook's own functions."""
    weights, largest = lenet_int8()
    earlier: list[tuple[float, float]] = []
    found = []
    for layer, (whole, scale), reached in zip(lenet_layers(), weights, largest[1:], strict=True):
        m = OURS["output_multiplier"](reached, 127 / largest[0], scale, earlier)
        m0, shift = OURS["fixed_point"](m)
        rest = (layer.padding, layer.relu, layer.pool)
        found.append(IntLayer(layer.name, whole, None, m0, shift, *rest))
        earlier.append((scale, m))
    return found


@cache
def by_the_notebook() -> list[np.ndarray]:
    """What comes out of each layer, in the form of Jacob et al."""
    pixels = int8_pixels(load_images().test_x[:IMAGES])
    return [one.numpy() for one in OURS["integer_forward"](plain_layers(), pixels)]


def real_scales() -> list[float]:
    """127 by the largest magnitude: of what enters, and of what comes out of each layer."""
    return [127 / reached for reached in lenet_int8()[1]]


def test_numpy_with_real_multipliers_agrees_bit_for_bit() -> None:
    """Sums in int64, multiplied by a double and rounded: no m0, no shift."""
    x = int8_pixels(load_images().test_x[:IMAGES]).numpy().astype(np.int64)
    weights, scales = lenet_int8()[0], real_scales()
    parts = zip(lenet_layers(), weights, scales, scales[1:], by_the_notebook(), strict=False)
    for layer, (whole, scale), before, after, ours in parts:
        w = whole.numpy().astype(np.int64)
        acc = exact.accumulated(x if w.ndim == 4 else x.reshape(len(x), -1), w, None, layer.padding)
        acc = np.maximum(acc, 0) if layer.relu else acc
        acc = exact.pooled(acc) if layer.pool else acc
        x = np.clip(np.rint(acc * (after / (before * scale))), -128, 127).astype(np.int64)
        assert (x == ours).all(), layer.name


def test_onnx_runtime_agrees_bit_for_bit() -> None:
    """QLinearConv and QLinearMatMul, all five layers; its scales are the inverse of ours."""
    why = "onnx and onnxruntime are in requirements.txt, for this test alone: make setup"
    onnx = pytest.importorskip("onnx", reason=why)
    runtime = pytest.importorskip("onnxruntime", reason=why)
    options = runtime.SessionOptions()
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    model = _onnx_model(onnx)
    session = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    pixels = int8_pixels(load_images().test_x[:IMAGES]).numpy()
    theirs = session.run(None, {"x": pixels})
    for layer, yours, ours in zip(lenet_layers(), theirs, by_the_notebook(), strict=True):
        assert (yours == ours).all(), layer.name


def _onnx_model(onnx: Any) -> bytes:
    helper, kinds = onnx.helper, onnx.TensorProto
    weights, scales = lenet_int8()[0], real_scales()
    nodes, constants, outputs, x = [], [], [], "x"

    def constant(name: str, value: np.ndarray) -> str:
        constants.append(onnx.numpy_helper.from_array(value, name))
        return name

    zero = constant("zero", np.array(0, np.int8))
    places = [constant(f"s{at}", np.array(1 / s, np.float32)) for at, s in enumerate(scales)]
    for at, (layer, (whole, scale)) in enumerate(zip(lenet_layers(), weights, strict=True)):
        name, is_conv = layer.name, whole.dim() == 4
        w = constant(f"w.{name}", whole.numpy() if is_conv else whole.numpy().T.copy())
        step = constant(f"sw.{name}", np.array(1 / scale, np.float32))
        if not is_conv and at and lenet_layers()[at - 1].pool:
            nodes.append(helper.make_node("Flatten", [x], [f"flat.{name}"]))
            x = f"flat.{name}"
        inputs = [x, places[at], zero, w, step, zero, places[at + 1], zero]
        pads = {"pads": [layer.padding] * 4} if is_conv else {}
        kind = "QLinearConv" if is_conv else "QLinearMatMul"
        x = f"y.{name}"
        nodes.append(helper.make_node(kind, inputs, [x], **pads))
        if layer.relu:
            nodes.append(helper.make_node("Max", [x, zero], [f"relu.{name}"]))
            x = f"relu.{name}"
        if layer.pool:
            pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
            nodes.append(helper.make_node("MaxPool", [x], [f"pool.{name}"], **pool))
            x = f"pool.{name}"
        outputs.append(helper.make_tensor_value_info(x, kinds.INT8, None))
    entry = helper.make_tensor_value_info("x", kinds.INT8, [None, 1, 28, 28])
    graph = helper.make_graph(nodes, "lenet", [entry], outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    text: bytes = model.SerializeToString()
    return text


# Parts of it, one by one.


@settings(max_examples=60, deadline=None)
@given(st.floats(1e-9, 1000, allow_subnormal=False))
def test_m0_and_shift_are_as_near_as_31_bits_allow(multiplier: float) -> None:
    m0, shift = OURS["fixed_point"](multiplier)
    assert 2**30 <= m0 < 2**31
    assert abs(Fraction(m0, 2**shift) - Fraction(multiplier)) <= Fraction(1, 2 ** (shift + 1))
    assert (m0, shift) == exact.fixed_point_of(multiplier)


@settings(max_examples=40, deadline=None)
@given(st.integers(-(2**31), 2**31 - 1), st.integers(2**30, 2**31 - 1), st.integers(31, 61))
def test_multiply_and_shift_is_rounding_of_a_fraction(acc: int, m0: int, shift: int) -> None:
    right = Fraction(acc * m0, 2**shift) + Fraction(1, 2)
    wanted = min(max(right.numerator // right.denominator, -128), 127)
    assert OURS["requantize"](torch.tensor([acc], dtype=torch.int32), m0, shift).item() == wanted


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 2))
def test_pytorch_sums_as_numpy_does(seed: int, padding: int) -> None:
    rng = np.random.default_rng(seed)
    x, w = rng.integers(-128, 128, (2, 3, 6, 5)), rng.integers(-128, 128, (4, 3, 3, 2))
    theirs = torch.nn.functional.conv2d(torch.tensor(x), torch.tensor(w), padding=padding)
    assert (theirs.numpy() == exact.accumulated(x, w, None, padding)).all()
    even = torch.nn.functional.max_pool2d(theirs, 2)
    assert (even.numpy() == exact.pooled(theirs.numpy())).all()


def test_torch_multiplies_int8_by_itself_the_same_way() -> None:
    rng = np.random.default_rng(1)
    x, w = rng.integers(-128, 128, (40, 64)), rng.integers(-128, 128, (64, 32))
    theirs = torch._int_mm(torch.tensor(x, dtype=torch.int8), torch.tensor(w, dtype=torch.int8))
    assert (theirs.numpy() == exact.accumulated(x, w.T, None, 0)).all()


def test_pixels_are_rounded_floats() -> None:
    every = np.arange(256, dtype=np.uint8).reshape(1, 16, 16)
    assert torch.equal(int8_pixels(every), (float_pixels(every) * 127).round().to(torch.int8))


def test_what_ships_is_what_notebook_4_finds() -> None:
    for bias in (False, True):
        weights, largest = lenet_int8(bias)
        for layer, (whole, scale) in zip(lenet_layers(bias), weights, strict=True):
            ours, ours_scale = OURS["quantized_weights"](layer.weight)
            assert scale == pytest.approx(ours_scale)
            assert (ours.int() - whole.int()).abs().max() <= 1  # a tie may go either way
            assert (ours != whole).double().mean() < 1e-3
        seen = OURS["profile"](lenet(bias), float_pixels(load_images().train_x[:400]).split(100))
        assert largest == pytest.approx([one.largest for one in seen.values()], rel=1e-4)


def test_accuracy_sees_only_one_of_the_mistakes() -> None:
    """The notebook says so; the networks are judged as wrong all the same."""
    labels = torch.tensor(load_images().test_y[:IMAGES])
    pixels = int8_pixels(load_images().test_x[:IMAGES])
    right = plain_layers()

    def share(layers: list[IntLayer]) -> float:
        scores = OURS["integer_forward"](layers, pixels)[-1]
        return float((scores.argmax(1) == labels).double().mean())

    floor = [one._replace(m0=int(one.m0 * 0.995)) for one in right]
    assert abs(share(floor) - share(right)) < 0.02
    lost = [one._replace(shift=max(one.shift - 7, 1)) for one in right]
    assert share(lost) < 0.4


def test_bytes_and_operations_on_the_roof() -> None:
    works = {work.name: work for work in layer_work(lenet_layers())}
    assert works["conv1"].operations == 2 * 6 * 25 * 28 * 28
    assert works["fc1"].weights == 48_000
    assert works["fc1"].values == 520
    assert works["fc1"].moved("fp32") == 4 * works["fc1"].moved("int8")
    assert sum(work.weights for work in works.values()) == 61_470
    picture = roof_of(list(works.values()), ORIN_NANO)
    assert "fc1: 0.495 operations a byte" in picture.words
    curve = bits_curve({"one": {2: 0.2, 8: 0.85}}, 0.86)
    assert "one: 2 bits 20.0%, 8 bits 85.0%" in curve.words
    assert "aria-label" in curve.svg
