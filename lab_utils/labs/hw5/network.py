"""The network that part B quantizes: LeNet, trained; and the layers that it is made of.

Weights are shipped, so that everybody quantizes the same ones. Nothing here knows int8, but for
the table of the 256 values that a pixel can have.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from lab_utils.labs.hw5.images import load_images

WEIGHTS = Path(__file__).with_name("data") / "lenet.npz"
INTEGERS = Path(__file__).with_name("data") / "lenet_int8.npz"
CALIBRATION = 400
"""Training images over which the largest magnitudes are taken."""


class Layer(NamedTuple):
    """A layer of a network, and what follows it: ReLU, then max-pooling of 2 x 2."""

    name: str
    weight: torch.Tensor
    """[outputs, inputs] of a linear layer, [outputs, inputs, high, wide] of a convolution."""
    bias: torch.Tensor | None = None
    padding: int = 0
    relu: bool = True
    pool: bool = False


class IntLayer(NamedTuple):
    """The same in integers: int8 weights, an int32 bias, and M = m0 / 2**shift."""

    name: str
    weight: torch.Tensor
    bias: torch.Tensor | None
    m0: int
    shift: int
    padding: int = 0
    relu: bool = True
    pool: bool = False


class Network(nn.Module):
    """Layers one after the other, each a module of its own name."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        super().__init__()
        self.layers = list(layers)
        for layer in layers:
            self.add_module(layer.name, _module(layer))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What comes out of the last layer: a number for each class."""
        for layer in self.layers:
            module = self.get_submodule(layer.name)
            if isinstance(module, nn.Linear):
                x = x.flatten(1)
            x = module(x)
            if layer.relu:
                x = F.relu(x)
            if layer.pool:
                x = F.max_pool2d(x, 2)
        return x


def _module(layer: Layer) -> nn.Module:
    outputs, inputs = layer.weight.shape[:2]
    has_bias = layer.bias is not None
    module: nn.Module
    if layer.weight.dim() == 4:
        high, wide = layer.weight.shape[2:]
        module = nn.Conv2d(inputs, outputs, (high, wide), padding=layer.padding, bias=has_bias)
    else:
        module = nn.Linear(inputs, outputs, bias=has_bias)
    state = {"weight": layer.weight} | ({"bias": layer.bias} if layer.bias is not None else {})
    module.load_state_dict(state)
    return module


def untrained(bias: bool) -> list[Layer]:
    """LeNet's layers with zeros for weights."""
    shapes: dict[str, tuple[int, ...]] = {"conv1": (6, 1, 5, 5), "conv2": (16, 6, 5, 5)}
    shapes |= {"fc1": (120, 400), "fc2": (84, 120), "fc3": (10, 84)}
    return [
        Layer(
            name,
            torch.zeros(shape),
            torch.zeros(shape[0]) if bias else None,
            padding=2 if name == "conv1" else 0,
            relu=name != "fc3",
            pool=name.startswith("conv"),
        )
        for name, shape in shapes.items()
    ]


def lenet_layers(bias: bool = False) -> list[Layer]:
    """The layers of the trained network: five, without biases or with."""
    found = []
    with np.load(WEIGHTS) as file:
        prefix = "biased" if bias else "plain"
        for layer in untrained(bias):
            weight = torch.from_numpy(file[f"{prefix}.{layer.name}.weight"])
            offset = torch.from_numpy(file[f"{prefix}.{layer.name}.bias"]) if bias else None
            found.append(layer._replace(weight=weight, bias=offset))
    return found


def lenet(bias: bool = False) -> Network:
    """The trained network, ready to be used."""
    return Network(lenet_layers(bias)).eval()


def lenet_int8(bias: bool = False) -> tuple[list[tuple[torch.Tensor, float]], list[float]]:
    """What notebook 4 finds of the trained network.

    For each layer its int8 weights and their scale; and the largest magnitudes over the first 400
    training images: of what enters the network, and of what comes out of each layer.
    """
    prefix = "biased" if bias else "plain"
    with np.load(INTEGERS) as file:
        weights = [
            (torch.from_numpy(file[f"{prefix}.{layer.name}.int8"]), float(scale))
            for layer, scale in zip(untrained(bias), file[f"{prefix}.scales"], strict=True)
        ]
        return weights, file[f"{prefix}.largest"].tolist()


def float_pixels(images: np.ndarray) -> torch.Tensor:
    """Images as the network was trained with them: from -1 to 1, [n, 1, high, wide]."""
    return torch.from_numpy(images.astype(np.float32) / 127.5 - 1)[:, None]


def int8_pixels(images: np.ndarray) -> torch.Tensor:
    """The same times 127, rounded: a table of 256 int8 numbers, by pixel."""
    table = ((254 * np.arange(256) + 127) // 255 - 127).astype(np.int8)
    return torch.from_numpy(table[images])[:, None]


@lru_cache(maxsize=2)
def _tested(many: int) -> tuple[torch.Tensor, torch.Tensor]:
    images = load_images()
    return float_pixels(images.test_x[:many]), torch.tensor(images.test_y[:many])


def accuracy(net: nn.Module, many: int = 2000) -> float:
    """The share of the first ``many`` test images that ``net`` names right."""
    x, labels = _tested(many)
    with torch.no_grad():
        return right_share(net(x), labels)


def right_share(scores: torch.Tensor, labels: Iterable[int] | torch.Tensor) -> float:
    """The share of rows whose largest score is at the label."""
    wanted = torch.as_tensor(labels)
    return float((scores.argmax(1) == wanted).double().mean())
