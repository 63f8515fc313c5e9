"""What our plots of bytes share: the frame with its ticks and labels, and a scale for bytes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from lab_utils.kit.charts.svg import line, size, text


class Scale(NamedTuple):
    """The top of the vertical axis in bytes, its ticks, and their unit (``factor`` bytes)."""

    top: float
    ticks: list[float]
    unit: str
    factor: float


def scale_for(highest: float, unit: str = "bytes") -> Scale:
    """Round ticks in the unit that suits ``highest`` bytes, with room for a label above.

    Another ``unit`` than bytes (a drawing without shapes counts values) stays as it is.
    """
    larger = ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")) if unit == "bytes" else ()
    factor, unit = next(((f, u) for f, u in larger if highest >= f), (1.0, unit))
    top = max(highest, 1) / factor * 1.12
    rough = top / 7
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
    return Scale(top * factor, [i * step for i in range(int(top / step) + 1)], unit, factor)


def turned(x: float, y: float, words: str) -> str:
    """The label of a vertical axis, read from below."""
    return text(x, y, words, text_anchor="middle", transform=f"rotate(-90 {x:g} {y:g})")


@dataclass(frozen=True)
class Plot:
    """A plot of bytes: where it stands in its picture (in pixels), and what its height means.

    ``floor`` is the number of bytes at its foot.
    """

    scale: Scale
    top: int
    width: int
    height: int
    floor: float = 0.0
    left: int = 56

    @property
    def bottom(self) -> int:
        """Where its foot is."""
        return self.top + self.height

    @property
    def right(self) -> int:
        """Where it ends."""
        return self.left + self.width

    def y(self, nbytes: float) -> float:
        """The vertical place of ``nbytes``."""
        share = (nbytes - self.floor) / (self.scale.top - self.floor)
        return self.bottom - share * self.height

    def axes(self, what: str, across: str, marks: Iterable[tuple[float, str]]) -> list[str]:
        """Both axes: ``what`` the bytes are, and ``across`` them the marks, each at its x."""
        middle = {"text_anchor": "middle"}
        parts = [
            line(self.left, self.bottom, self.right, self.bottom),
            text(self.left + self.width / 2, self.bottom + 32, across, **middle),
            turned(14, self.top + self.height / 2, f"{what} ({self.scale.unit})"),
        ]
        for tick in self.scale.ticks:
            if (nbytes := tick * self.scale.factor) >= self.floor:
                y = self.y(nbytes)
                parts.append(line(self.left, y, self.right, y, stroke_opacity=0.15))
                parts.append(text(self.left - 6, y + 4, f"{tick:g}", text_anchor="end"))
        for x, mark in marks:
            parts.append(text(x, self.bottom + 16, mark, **middle, font_size=10))
        return parts

    def budget(self, nbytes: int) -> list[str]:
        """A dashed line at ``nbytes``, with its name."""
        y = self.y(nbytes)
        return [
            line(self.left, y, self.right, y, stroke_dasharray="6 4"),
            text(self.right, y - 4, f"budget {size(nbytes)}", text_anchor="end"),
        ]
