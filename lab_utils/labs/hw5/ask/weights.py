"""How the tasks of notebook 4 are asked, weights and what enters the layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import nn

from lab_utils.kit.answers import collection, described, fields_told, mapping, number
from lab_utils.kit.errors import BadAnswer
from lab_utils.kit.parts import asked_in_parts
from lab_utils.kit.task import Ask, Borrow, Call
from lab_utils.labs.hw5.held import Held
from lab_utils.labs.hw5.network import Network
from lab_utils.labs.hw5.records import Seen, WeightRange
from lab_utils.labs.hw5.tensors import float_layers, made, tensor_of, told


def two(value: Any, form: str) -> list[Any]:
    """``value`` if it is a pair."""
    parts = list(collection(value, "what you return"))
    if len(parts) != 2:
        raise BadAnswer(f"what you return has {len(parts)} parts", f"Return a pair: {form}.")
    return parts


def ask_range(function: Any, given: Mapping[str, Any]) -> dict[str, float]:
    """Task 4.1: five numbers."""
    values = fields_told(function(made(given["weight"])), "what you return", WeightRange)
    pairs = zip(WeightRange._fields, values, strict=True)
    return {name: number(value, name) for name, value in pairs}


def ask_lost(function: Any, given: Mapping[str, Any]) -> list[float]:
    """Task 4.2: two counts."""
    value = function(made(given["weight"]), given["limit"], given["bits"])
    return [number(part, "a count") for part in two(value, "saturated, zeroed")]


def ask_quantized(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 4.3: the int8 tensor; and whether what was given is still what it was."""
    values = made(given["values"])
    answer = told(function(values, given["scale"]))
    return {**answer, "spoiled": not torch.equal(values, made(given["values"]))}


def _weights_and_scale(value: Any) -> dict[str, Any]:
    whole, scale = two(value, "the int8 tensor, then the scale")
    return {**told(whole, "the first of the pair"), "scale": number(scale, "the scale")}


def ask_weights(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Tasks 4.5 and 4.6: the int8 tensor and its scale."""
    return _weights_and_scale(function(made(given["weight"])))


def ask_channels(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 4.7: the int8 tensor and a scale for each output."""
    value = function(made(given["weight"]), given["bits"])
    whole, scales = two(value, "the int8 tensor, then the scales")
    flat = scales.reshape(-1) if hasattr(scales, "reshape") else collection(scales, "the scales")
    told_scales = [number(one, "a scale") for one in flat]
    return {**told(whole, "the first of the pair"), "scales": told_scales}


class Nested(nn.Module):
    """A network inside of another, with dropout behind it and, at some place, somebody's hook."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        super().__init__()
        self.body = Network(float_layers(given["layers"]))
        self.dropout = nn.Dropout(0.5)
        self.calls: list[int] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Count the images, and run the network on them."""
        self.calls.append(len(x))
        out: torch.Tensor = self.dropout(self.body(self.dropout(x)))
        return out


def ask_profile(function: Any, given: Mapping[str, Any]) -> dict[str, list[float]]:
    """Task 4.8: by place, the four numbers of a Seen."""
    net = Nested(given).train(given["training"])
    return _seen(function(net, _batches(given)))


def _batches(given: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    """The images batch by batch; they can be walked through once."""
    yield from made(given["images"]).split(given["batch"])


def _seen(value: Any) -> dict[str, list[float]]:
    found = {}
    for name, one in mapping(value, "what you return").items():
        if not isinstance(name, str):
            look = "The keys are names of layers, as net.named_modules() has them, and 'output'."
            raise BadAnswer(f"one of the keys is {described(name)}", look)
        parts = fields_told(one, f"what you return for {name!r}", Seen)
        found[name] = [number(part, f"a number of {name!r}") for part in parts]
    return found


def ask_tidy(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 4.9: what of the network and its images is another than before."""
    net = Nested(given).train(given["training"])
    kept = net.body.register_forward_pre_hook(lambda module, args: None)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    images = made(given["images"])
    counts = {name: seen[0] for name, seen in _seen(function(net, _parts(images, given))).items()}
    hooks = [
        len(module._forward_hooks) + len(module._forward_pre_hooks) for module in net.modules()
    ]
    return {
        "counts": counts,
        "images": sum(net.calls),
        "hooks": sum(hooks),
        "kept": kept.id in net.body._forward_pre_hooks,
        "training": sorted({module.training for module in net.modules()}),
        "changed": [n for n, v in net.state_dict().items() if not torch.equal(v, before[n])],
        "spoiled": not torch.equal(images, made(given["images"])),
        "gradients": any(value.requires_grad is False for value in net.parameters()),
    }


def ask_held(function: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Task 4.10: how many bytes were held half-way through the batches, and after the last one."""
    net, images = Nested(given).train(given["training"]), made(given["images"])
    with Held() as held:
        seen = _seen(function(net, held.batches(images, given["batch"])))
    counts = {name: one[0] for name, one in seen.items()}
    return {"counts": counts, "half": held.half, "end": held.bytes[-1] if held.bytes else 0}


def _parts(images: torch.Tensor, given: Mapping[str, Any]) -> Iterator[torch.Tensor]:
    yield from images.split(given["batch"])


def _quantized(call: Call) -> Any:
    def quantized(values: torch.Tensor, scale: float) -> Any:
        return tensor_of(call([told(values), float(scale)]))

    return quantized


ASK: dict[str, Ask] = {
    "4.1": asked_in_parts(ask_range),
    "4.2": asked_in_parts(ask_lost),
    "4.3": asked_in_parts(ask_quantized),
    "4.5": asked_in_parts(ask_weights),
    "4.6": asked_in_parts(ask_weights),
    "4.7": asked_in_parts(ask_channels),
    "4.8": ask_profile,
    "4.9": ask_tidy,
    "4.10": ask_held,
}
BORROWED: dict[str, Borrow] = {"quantized": _quantized}
