"""What a network's layers do and move, for the roofline: operations, and bytes in two types."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from lab_utils.instruments.roofline import Machine, item_bytes
from lab_utils.instruments.roofline.chart import Dot, Roof, draw_roofline, frame_for
from lab_utils.kit.charts.drawn import Drawing, stacked
from lab_utils.labs.hw5.network import Layer

_CAPTIONS = {
    "fp32": "Four bytes for each number.",
    "int8": "One byte for each number: every layer has moved to the right, and the roof is higher.",
}


class Work(NamedTuple):
    """What one layer takes for a batch of images."""

    name: str
    operations: int
    """Additions and multiplications."""
    weights: int
    """Numbers that are weights."""
    values: int
    """Numbers that enter or leave."""

    def moved(self, dtype: str) -> int:
        """Bytes that cross between memory and chip, each number once."""
        return (self.weights + self.values) * item_bytes(dtype)

    def seconds(self, machine: Machine, dtype: str) -> float:
        """The time at best: of computing or of moving, the longer."""
        compute = self.operations / machine.rate(dtype)
        return max(compute, self.moved(dtype) / machine.bandwidth)


def layer_work(layers: Sequence[Layer], side: int = 28, images: int = 1) -> list[Work]:
    """The work of each layer, for square images of ``side`` pixels."""
    found = []
    for layer in layers:
        outputs, inputs, *window = layer.weight.shape
        entered = inputs * (side * side if window else 1)
        if window:
            side += 2 * layer.padding - window[0] + 1
        places = side * side if window else 1
        macs = prod(layer.weight.shape) * places
        side = side // 2 if layer.pool else side
        left = outputs * (side * side if window else 1)
        values = (entered + left) * images
        found.append(Work(layer.name, 2 * macs * images, layer.weight.numel(), values))
    return found


def roof_of(works: Sequence[Work], machine: Machine) -> Drawing:
    """Every layer under the machine's roof for fp32, and below that for int8."""
    roofs = {dtype: Roof(machine, dtype) for dtype in ("fp32", "int8")}
    frame = frame_for(roofs.values())
    pictures = []
    for dtype, roof in roofs.items():
        dots = [Dot(work.name, work.operations / work.moved(dtype)) for work in works]
        pictures.append(draw_roofline([roof], dots, _CAPTIONS[dtype], frame))
    return stacked(*pictures)
