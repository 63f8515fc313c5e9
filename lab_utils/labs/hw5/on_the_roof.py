"""What a network's layers do and move, for the roofline: operations, and bytes in two types."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from lab_utils.instruments.roofline import Machine, item_bytes
from lab_utils.instruments.roofline.chart import Dot, Roof, draw_roofline
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.labs.hw5.network import Layer

_CAPTION = "Each layer twice: its bytes in fp32 and in int8. Fewer bytes move a dot to the right."


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
    """Every layer under the machine's roofs for fp32 and int8."""
    dots = []
    for dtype in ("fp32", "int8"):
        for work in works:
            intensity = work.operations / work.moved(dtype)
            rate = machine.attainable(intensity, dtype)
            dots.append(Dot(f"{work.name} {dtype}", intensity, rate))
    roofs = [Roof(machine, "int8"), Roof(machine, "fp32")]
    return draw_roofline(roofs, dots, _CAPTION)
