"""How the tasks of notebook 5 are asked, a network in integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import index
from typing import Any

import torch

from lab_utils.kit.answers import a_type, collection, described, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask, Borrow, Call
from lab_utils.labs.hw5.ask.weights import two
from lab_utils.labs.hw5.network import IntLayer
from lab_utils.labs.hw5.tensors import float_layers, int_layers, made, tensor_of, told

Pairs = Sequence[tuple[float, float]]


def whole(value: Any, what: str) -> int:
    """``value`` if it is an integer."""
    try:
        return index(value)
    except TypeError:
        look = "An integer is wanted there: no part of the network may be a real number."
        raise BadAnswer(f"{what} is {described(value)}", look, "an integer") from None


def _scales(given: Mapping[str, Any]) -> tuple[float, float, list[tuple[float, float]]]:
    earlier = [(weight, multiplier) for weight, multiplier in given["earlier"]]
    return given["input_scale"], given["weight_scale"], earlier


def ask_multiplier(function: Any, given: Mapping[str, Any]) -> float:
    """Task 5.1: one number."""
    return number(function(given["largest"], *_scales(given)), "what you return")


def ask_fixed_point(function: Any, given: Mapping[str, Any]) -> list[int]:
    """Task 5.2: two integers."""
    m0, shift = two(function(given["multiplier"]), "m0, then shift")
    return [whole(m0, "m0"), whole(shift, "shift")]


def ask_requantize(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 5.3: the int8 tensor."""
    return told(function(made(given["acc"]), given["m0"], given["shift"]))


def ask_accumulate(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 5.4: the int32 tensor."""
    (layer,) = int_layers([given["layer"]])
    return told(function(made(given["x"]), layer))


def ask_forward(function: Any, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Task 5.5: what comes out of each layer."""
    layers = int_layers(given["layers"])
    value = function(layers, made(given["x"]))
    if isinstance(value, torch.Tensor):
        look = "Return a list: what comes out of each layer, not of the last one alone."
        raise BadAnswer(f"what you return is {a_type(value)}", look, "a list of tensors")
    found = list(collection(value, "what you return"))
    if len(found) != len(layers):
        look = "One int8 tensor for each layer, after its ReLU and its pooling."
        raise BadAnswer(f"what you return has {len(found)} parts", look, f"{len(layers)} tensors")
    return [told(one, f"entry {place}") for place, one in enumerate(found)]


def ask_bias(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 5.6: the int32 tensor."""
    return told(function(made(given["bias"]), *_scales(given)))


def ask_net(function: Any, given: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Task 5.7: the integers of each layer."""
    layers = float_layers(given["layers"])
    weights = [(made(one), scale) for one, scale in given["weights"]]
    found = list(collection(function(layers, weights, list(given["largest"])), "what you return"))
    if len(found) != len(layers):
        look = "One IntLayer for each layer, in their order."
        raise BadAnswer(f"what you return has {len(found)} parts", look, f"{len(layers)} layers")
    return [_layer_told(one, f"entry {place}") for place, one in enumerate(found)]


def _layer_told(value: Any, what: str) -> dict[str, Any]:
    if not all(hasattr(value, name) for name in IntLayer._fields):
        look = "Return an IntLayer: IntLayer(name, weight, bias, m0, shift, padding, relu, pool)."
        raise BadAnswer(f"{what} is {a_type(value)}", look, "an IntLayer")
    return {
        "name": str(value.name),
        "weight": told(value.weight, f"the weight of {what}"),
        "bias": None if value.bias is None else told(value.bias, f"the bias of {what}"),
        "m0": whole(value.m0, f"m0 of {what}"),
        "shift": whole(value.shift, f"the shift of {what}"),
        "padding": whole(value.padding, f"the padding of {what}"),
        "relu": bool(value.relu),
        "pool": bool(value.pool),
    }


ASK: dict[str, Ask] = {
    "5.1": asked_in_parts(ask_multiplier),
    "5.2": asked_in_parts(ask_fixed_point),
    "5.3": asked_in_parts(ask_requantize),
    "5.4": asked_in_parts(ask_accumulate),
    "5.5": ask_forward,
    "5.6": asked_in_parts(ask_bias),
    "5.7": ask_net,
}


def _pairs(earlier: Pairs) -> list[list[float]]:
    return [[float(weight), float(multiplier)] for weight, multiplier in earlier]


def _multiplier(call: Call) -> Any:
    def output_multiplier(
        largest: float, input_scale: float, weight_scale: float, earlier: Pairs
    ) -> Any:
        return call([*map(float, (largest, input_scale, weight_scale)), _pairs(earlier)])

    return output_multiplier


def _fixed_point(call: Call) -> Any:
    def fixed_point(multiplier: float) -> Any:
        return tuple(call([float(multiplier)]))

    return fixed_point


def _requantize(call: Call) -> Any:
    def requantize(acc: torch.Tensor, m0: int, shift: int) -> Any:
        return tensor_of(call([told(acc), index(m0), index(shift)]))

    return requantize


def _accumulate(call: Call) -> Any:
    def accumulate(x: torch.Tensor, layer: IntLayer) -> Any:
        bias = None if layer.bias is None else told(layer.bias)
        return tensor_of(call([told(x), told(layer.weight), bias, index(layer.padding)]))

    return accumulate


def _bias(call: Call) -> Any:
    def quantized_bias(
        bias: torch.Tensor, input_scale: float, weight_scale: float, earlier: Pairs
    ) -> Any:
        scales = [float(input_scale), float(weight_scale), _pairs(earlier)]
        return tensor_of(call([told(bias), *scales]))

    return quantized_bias


BORROWED: dict[str, Borrow] = {
    "output_multiplier": _multiplier,
    "fixed_point": _fixed_point,
    "requantize": _requantize,
    "accumulate": _accumulate,
    "quantized_bias": _bias,
}
