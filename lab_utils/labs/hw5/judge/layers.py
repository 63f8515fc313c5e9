"""Tasks 5.3 to 5.5 and 5.7: integers, bit for bit; of a network the first wrong layer is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.hw5.judge.exact import (
    HIGH,
    LOW,
    accumulated,
    bias_exact,
    int_arrays,
    integers,
    layer_out,
    multiplier_of,
    pooled,
    reals,
    requantized,
    within_int32,
)
from lab_utils.labs.hw5.judge.numbers import array_of, first_difference, form_wrong, near
from lab_utils.labs.hw5.judge.scales import EARLIER_LEFT_OUT, bias_differs, bias_look


def judge_requantize(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 5.3: multiply, round, shift, clamp."""
    acc, m0, shift = integers(case.given["acc"]), case.given["m0"], case.given["shift"]
    if found := form_wrong(answer, acc.shape, "int8"):
        return found
    mine, right = array_of(answer), requantized(acc, m0, shift)
    if (mine == right).all():
        return []
    look = _requantize_look(mine, right, acc, m0, shift)
    return [Finding(*first_difference(mine, right), look)]


def _requantize_look(
    mine: np.ndarray, right: np.ndarray, acc: np.ndarray, m0: int, shift: int
) -> str:
    wrong = mine != right
    products = np.array([int(value) * m0 for value in acc.reshape(-1)], object)
    rounded = np.array([(p + (1 << shift >> 1)) >> shift for p in products], object)
    floor = np.array([p >> shift for p in products], object)
    ties = np.array([p % (1 << shift) == (1 << shift) // 2 for p in products], bool)

    def is_all(guess: np.ndarray) -> bool:
        return bool((mine == guess.reshape(mine.shape).astype(np.int64))[wrong].all())

    def cut(guess: np.ndarray) -> np.ndarray:
        return np.clip(guess, LOW, HIGH)

    if is_all((rounded - LOW) % 256 + LOW):
        return "It wrapped around: clamp to -128 and 127 before you make it int8."
    if ties.reshape(mine.shape)[wrong].all():
        return "Just in the middle, the larger one is wanted: (product + half) >> shift does that."
    if is_all(cut(floor)):
        return (
            "A shift alone rounds down: add half of what is shifted out (1 << (shift - 1)) first."
        )
    toward_zero = np.array([-((-p) >> shift) if p < 0 else p >> shift for p in products], object)
    if is_all(cut(toward_zero)):
        return "A division that cuts the fraction off: add half first, then shift."
    narrow = [((int(p) + 2**31) % 2**32 - 2**31) for p in products]
    if is_all(cut(np.array([(p + (1 << shift >> 1)) >> shift for p in narrow], object))) or is_all(
        cut(np.array([p >> shift for p in narrow], object))
    ):
        return "32 bits times 31 bits need 63: make the accumulator int64 before you multiply."
    if (np.abs(mine - right) <= 1).all():
        return (
            "Off by one, a hair from the middle: a float has too few digits for this product. "
            "Integers have them all."
        )
    return "(acc x m0 + half) >> shift in int64, then clamp to -128 and 127."


def judge_accumulate(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 5.4: sums of products, in 32 bits."""
    x, layer = integers(case.given["x"]), int_arrays(case.given["layer"])
    x = x.reshape(len(x), -1) if layer["weight"].ndim == 2 else x
    right = accumulated(x, layer["weight"], layer["bias"], layer["padding"])
    if list(answer["shape"]) == list(right.shape) and answer["dtype"] in ("float32", "float64"):
        look = (
            "Floats again: with 24 bits a float32 counts only to 16,777,216 exactly, and "
            "1,040 products of 127 x 127 are more. Make both operands int32 first."
        )
        return [Finding(f"a tensor of {answer['dtype']}", "a tensor of int32", look)]
    if found := form_wrong(answer, right.shape, "int32"):
        if layer["padding"] and list(answer["shape"]) != list(right.shape):
            look = "layer.padding zeros go around the image: without them the output is smaller."
            found = [Finding(found[0].yours, found[0].wanted, look)]
        return found
    mine = array_of(answer)
    if (mine == right).all():
        return []
    look = _accumulate_look(mine, right, x, layer)
    return [Finding(*first_difference(mine, right), look)]


def _accumulate_look(
    mine: np.ndarray, right: np.ndarray, x: np.ndarray, layer: Mapping[str, Any]
) -> str:
    weight, bias = layer["weight"], layer["bias"]
    plain = accumulated(x, weight, None, layer["padding"])
    if (mine == (plain - LOW) % 256 + LOW).all() or (mine == (right - LOW) % 256 + LOW).all():
        return (
            "The accumulator wrapped: int8 x int8 was summed in int8, and 400 x 127 x 127 = "
            "6,451,600 does not fit. Make both operands int32 before you multiply."
        )
    if bias is not None and (mine == plain).all():
        return "The bias is missing: it is added to the accumulator, one number for each output."
    if (mine == np.maximum(right, 0)).all():
        return "ReLU comes later: the accumulator is the sum itself, below 0 too."
    if (np.abs(mine - right) <= 2e-6 * np.abs(right).max()).all():
        return (
            "Nearly right, so it was summed in float32: with 24 bits it counts only to 16,777,216 "
            "exactly. Make both operands int32 first."
        )
    return (
        "Sums of products of int8 numbers, in int32: F.conv2d or a matrix product, then the bias."
    )


def judge_forward(case: Case, answer: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Task 5.5: every layer bit for bit; only the first that is wrong is told of."""
    x = integers(case.given["x"])
    layers = [int_arrays(layer) for layer in case.given["layers"]]
    for layer, one in zip(layers, answer, strict=True):
        right = layer_out(layer, x)
        if found := form_wrong(one, right.shape, "int8"):
            if layer["pool"] and list(one["shape"]) != list(right.shape):
                look = "layer.pool: of each 2 x 2 the largest, after ReLU."
                found = [Finding(found[0].yours, found[0].wanted, look)]
            return [_of_layer(found[0], layer)]
        mine = array_of(one)
        if (mine != right).any():
            wanted = first_difference(mine, right)
            return [_of_layer(Finding(*wanted, _forward_look(mine, right, layer, x)), layer)]
        x = right
    return []


def _of_layer(finding: Finding, layer: Mapping[str, Any]) -> Finding:
    yours = f"layer {layer['name']} is the first that differs: {finding.yours}"
    return Finding(yours, finding.wanted, finding.look)


def _forward_look(
    mine: np.ndarray, right: np.ndarray, layer: Mapping[str, Any], x: np.ndarray
) -> str:
    def is_of(**other: Any) -> bool:
        guess = layer_out({**layer, **other}, x)
        return guess.shape == mine.shape and bool((guess == mine).all())

    if is_of(relu=not layer["relu"]):
        if layer["relu"]:
            return "layer.relu: what is below 0 becomes 0, and that is missing here."
        return "layer.relu is False here: the last layer's scores may be below 0."
    if layer["bias"] is not None and is_of(bias=None):
        return "The bias of this layer was not added."
    inputs = x.reshape(len(x), -1) if layer["weight"].ndim == 2 else x
    acc = accumulated(inputs, layer["weight"], layer["bias"], layer["padding"])
    acc = np.maximum(acc, 0) if layer["relu"] else acc
    acc = pooled(acc) if layer["pool"] else acc
    if acc.shape == mine.shape and (
        (mine == np.clip(acc, LOW, HIGH)).all() or (mine == (acc - LOW) % 256 + LOW).all()
    ):
        return "The accumulator was cut to int8 without m0 and shift: requantize it."
    if layer["pool"]:
        return "Pooling keeps the largest of each 2 x 2; it comes after ReLU, or before, but once."
    if (np.abs(mine - right) <= 1).all():
        return "All within 1 of the right one: look at how you round."
    return "The layers before are right: look at what this one does that they do not."


def judge_net(case: Case, answer: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """Task 5.7: weights, bias, m0 and shift of each layer; the first wrong layer is named."""
    given = case.given
    earlier: list[tuple[float, float]] = []
    input_scale = 127 / given["largest"][0]
    parts = zip(given["layers"], given["weights"], given["largest"][1:], answer, strict=True)
    for layer, (weight, scale), largest, mine in parts:
        multiplier = float(multiplier_of(largest, input_scale, scale, earlier))
        if look := _layer_look(mine, layer, weight, (input_scale, scale, earlier), multiplier):
            yours = f"layer {layer['name']} is the first that differs: {_in_short(mine)}"
            bias = within_int32(bias_exact(reals(layer["bias"]), input_scale, scale, earlier))
            wanted = f"M = {multiplier:.6g}, a bias that begins with {bias.reshape(-1)[0]}"
            return [Finding(yours, wanted, look)]
        earlier.append((scale, multiplier))
    return []


def _in_short(mine: Mapping[str, Any]) -> str:
    bias = mine["bias"]["values"][0] if mine["bias"] and mine["bias"]["values"] else None
    return f"m0 = {mine['m0']:,}, shift = {mine['shift']}, a bias that begins with {bias}"


def _layer_look(
    mine: Mapping[str, Any],
    layer: Mapping[str, Any],
    weight: Mapping[str, Any],
    scales: tuple[float, float, list[tuple[float, float]]],
    multiplier: float,
) -> str:
    """What is wrong with a layer; nothing if it is right."""
    input_scale, scale, earlier = scales
    wanted = integers(weight)
    if mine["weight"]["dtype"] != "int8" or mine["weight"]["values"] != wanted.reshape(-1).tolist():
        return "The weights are those that you were given in integers, unchanged."
    filled = {"padding": 0, "relu": True, "pool": False, **layer}
    if any(mine[name] != filled[name] for name in ("name", "padding", "relu", "pool")):
        return "Name, padding, relu and pool are those of the layer: hand all of them on."
    if not mine["bias"]:
        return "The bias is missing: every layer of this network has one."
    bias = reals(layer["bias"])
    exact = bias_exact(bias, input_scale, scale, earlier)
    if form_wrong(mine["bias"], bias.shape, "int32"):
        return "A bias is added to an accumulator of 32 bits: an int32 tensor as large as it was."
    numbers = array_of(mine["bias"])
    if bias_differs(numbers, exact).any():
        if not bias_differs(numbers, exact * multiplier).any():
            return "The bias also has the output scale: it is added before requantization."
        given = {"input_scale": input_scale, "weight_scale": scale, "earlier": earlier}
        return bias_look(numbers, bias, exact, given)
    return _m_look(mine, multiplier, input_scale, earlier)


def _m_look(
    mine: Mapping[str, Any],
    multiplier: float,
    input_scale: float,
    earlier: Sequence[tuple[float, float]],
) -> str:
    if not 0 <= mine["shift"] <= 200:
        return "M = m0 / 2**shift, with a shift that is not negative."
    m = float(Fraction(mine["m0"], 2 ** mine["shift"]))
    if near(m, multiplier, 1e-6):
        return ""
    product = float(np.prod([w * step for w, step in earlier])) if earlier else 1.0
    if earlier and near(m, multiplier * product, 1e-6):
        return EARLIER_LEFT_OUT
    for times in (2, 255 / 127, 128 / 127):
        if near(m, multiplier * times, 1e-6):
            return "The largest number that comes out becomes 127, the last step of int8."
    if near(m, multiplier / input_scale, 1e-6) or near(m, multiplier * input_scale, 1e-6):
        return "largest[0] is what enters the network: its scale is 127 / largest[0]."
    return (
        "largest[0] is what enters the network, largest[i + 1] what comes out of layer i; each "
        "layer adds its (weight scale, multiplier) to what is earlier for the next."
    )
