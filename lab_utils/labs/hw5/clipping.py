"""The clipping film: a layer's weights, a range that can be moved, and what that loses.

It draws, and asks the notebook's own functions for integers and counts.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import torch

from lab_utils.kit.charts.colors import BLUE, ORANGE, RED
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.live import Live, widgets
from lab_utils.kit.charts.svg import document, line, rectangle, text
from lab_utils.labs.hw5.network import Network, accuracy

Quantized = Callable[[torch.Tensor, float], torch.Tensor]
Lost = Callable[[torch.Tensor, float, int], tuple[int, int]]
_LEFT, _TOP, _WIDE, _HIGH, _BINS = 40, 58, 600, 170, 75
_CAPTION = (
    "Bars: how many weights lie there (logarithmic). Red: beyond the range, so they saturate. "
    "Orange: less than half a step, so they become 0. Ticks below: the integers."
)
_TICKS = 33  # more integers than that, and nobody can tell their ticks apart


def clipping_film(
    net: Network, quantized: Quantized, lost: Lost, layer: str, images: int = 500
) -> ClippingFilm:
    """Choose a layer, a range and a number of bits; see what saturates and what becomes 0.

    Args:
        net: the network; it stays as it is.
        quantized: your function: real numbers and a scale to int8.
        lost: your function: weights, limit and bits to two counts.
        layer: the name of the one that is shown first.
        images: on how many test images the accuracy is taken.
    """
    return ClippingFilm(net, quantized, lost, layer, images)


class ClippingFilm(Live):
    """The widget that ``clipping_film`` returns; its three controls are attributes."""

    def __init__(
        self, net: Network, quantized: Quantized, lost: Lost, layer: str, images: int
    ) -> None:
        w = widgets()
        self._net, self._quantized, self._lost, self._images = net, quantized, lost, images
        self._float = accuracy(net, images)
        names = [layer.name for layer in net.layers]
        wide = {"layout": {"width": "60%"}, "style": {"description_width": "110px"}}
        self.layer = w.Dropdown(description="layer", options=names, value=layer, **wide)
        self.percent = w.IntSlider(
            description="range (%)", min=2, max=100, step=2, value=100, **wide
        )
        self.bits = w.IntSlider(description="bits", min=2, max=8, value=4, **wide)
        self.picture = w.HTML()
        for control in (self.layer, self.percent, self.bits):
            control.observe(lambda _: self._move(), "value")
        self.widget = w.VBox([self.layer, self.percent, self.bits, self.picture])
        self._move()
        self.static = self.at(layer, 40, 4)

    def _move(self) -> None:
        self.picture.value = self.at(self.layer.value, self.percent.value, self.bits.value).html

    def at(self, name: str, percent: int, bits: int) -> Drawing:
        """The picture of a layer whose range is ``percent`` of its largest magnitude."""
        weight = next(one.weight for one in self._net.layers if one.name == name)
        largest = float(weight.abs().max()) or 1.0
        limit, steps = largest * percent / 100, 2 ** (bits - 1) - 1
        back = self._quantized(weight.clamp(-limit, limit), steps / limit).double() * limit / steps
        error = float((back - weight).square().mean().sqrt() / (weight.double().std() or 1.0))
        saturated, zeroed = self._lost(weight, limit, bits)
        many = weight.numel()
        told = [
            f"{name}, {bits} bits, range ±{limit:.3g} ({percent} % of the largest)",
            f"{saturated:,} of {many:,} saturate ({saturated / many:.1%}), "
            f"{zeroed:,} become 0 ({zeroed / many:.1%}), error {error:.1%} of sigma; "
            f"{self._accuracy(name, back):.1%} right (float {self._float:.1%})",
        ]
        return drawing(
            lambda alone: _svg(weight, limit, steps, told, alone), "\n".join(told), _CAPTION
        )

    def _accuracy(self, name: str, weight: torch.Tensor) -> float:
        changed = deepcopy(self._net)
        module: Any = changed.get_submodule(name)
        with torch.no_grad():
            module.weight.copy_(weight)
        return accuracy(changed, self._images)


def _svg(weight: torch.Tensor, limit: float, steps: int, told: list[str], alone: bool) -> str:
    largest = float(weight.abs().max()) or 1.0
    counts = torch.histc(weight.float(), _BINS, -largest, largest)
    most = float(torch.log1p(counts).max()) or 1.0
    bottom, half = _TOP + _HIGH, limit / steps / 2

    def x(value: float) -> float:
        return _LEFT + (value / largest + 1) / 2 * _WIDE

    body = [
        text(_LEFT, 18, told[0], font_weight="bold", font_size=13),
        text(_LEFT, 36, told[1]),
        line(_LEFT, bottom, _LEFT + _WIDE, bottom),
    ]
    for place, count in enumerate(counts.tolist()):
        if not count:
            continue
        start = largest * (2 * place / _BINS - 1)
        middle = abs(start + largest / _BINS)
        colour = RED if middle > limit else ORANGE if middle < half else BLUE
        high = float(torch.log1p(torch.tensor(count))) / most * (_HIGH - 8)
        body.append(rectangle(x(start), bottom - high, _WIDE / _BINS - 0.8, high, fill=colour))
    for end in (-limit, limit):
        body.append(
            line(x(end), _TOP, x(end), bottom + 14, stroke_dasharray="5 3", stroke_width=1.6)
        )
        body.append(text(x(end), bottom + 28, f"{end:.3g}", text_anchor="middle", font_size=10))
    if 2 * steps + 1 <= _TICKS:
        for step in range(-steps, steps + 1):
            at = x(step * limit / steps)
            body.append(line(at, bottom, at, bottom + 7))
    body.append(text(x(0), bottom + 28, "0", text_anchor="middle", font_size=10))
    return document(_LEFT + _WIDE + 40, bottom + 38, " ".join(told), body, alone)
