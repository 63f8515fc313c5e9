"""What our plots share: the frame with its ticks and labels, a scale, and long lines made short."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from lab_utils.kit.charts.svg import line, text
from lab_utils.kit.words import UNITS, size


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
    larger = UNITS if unit == "bytes" else ()
    unit, factor = next(((u, f) for u, f in larger if highest >= f), (unit, 1.0))
    top = (highest if highest > 0 else 1) / factor * 1.12
    rough = top / 7
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= rough)
    return Scale(top * factor, [i * step for i in range(int(top / step) + 1)], unit, factor)


def worst_steps(total: Sequence[float], columns: int) -> list[int]:
    """The steps to draw: all of them, or the highest of each column, so that peaks stay."""
    if len(total) <= columns:
        return list(range(len(total)))
    edges = [i * len(total) // columns for i in range(columns + 1)]
    return [max(range(a, b), key=total.__getitem__) for a, b in pairwise(edges)]


def turned(x: float, y: float, words: str) -> str:
    """The label of a vertical axis, read from below."""
    return text(x, y, words, text_anchor="middle", transform=f"rotate(-90 {x:g} {y:g})")


@dataclass(frozen=True)
class Plot:
    """A plot: where it stands in its picture (in pixels), and what its height means.

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
        middle, unit = {"text_anchor": "middle"}, self.scale.unit
        parts = [
            line(self.left, self.bottom, self.right, self.bottom),
            text(self.left + self.width / 2, self.bottom + 32, across, **middle),
            turned(14, self.top + self.height / 2, f"{what} ({unit})" if what else unit),
        ]
        for tick in self.scale.ticks:
            if (nbytes := tick * self.scale.factor) >= self.floor:
                y = self.y(nbytes)
                parts.append(line(self.left, y, self.right, y, stroke_opacity=0.15))
                parts.append(text(self.left - 6, y + 4, f"{tick:g}", text_anchor="end"))
        for x, mark in marks:
            parts.append(text(x, self.bottom + 16, mark, **middle, font_size=10))
        return parts

    def budget(self, most: float, unit: str = "bytes", **look: Any) -> list[str]:
        """A dashed line at the ``most`` that is allowed, with its name."""
        y = self.y(most)
        return [
            line(self.left, y, self.right, y, stroke_dasharray="6 4", **look),
            text(self.right, y - 4, f"budget {size(most, unit)}", text_anchor="end"),
        ]
