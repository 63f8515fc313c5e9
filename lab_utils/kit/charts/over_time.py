"""Bytes held over time, several steps in one picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab_utils.kit.charts.axes import Plot, scale_for
from lab_utils.kit.charts.svg import document, text
from lab_utils.steps.draw.colors import BLUE, ORANGE

#: Told apart by their dashes as well as by their colours.
_LOOKS = (("#888888", ""), (ORANGE, ""), (BLUE, "7 3"), ("#2a9d4a", "2 3"))


@dataclass(frozen=True)
class Line:
    """``held`` bytes from each of ``times`` (in ms) to the next."""

    title: str
    times: Sequence[float]
    held: Sequence[int]


def over_time_svg(lines: Sequence[Line], label: str, alone: bool) -> str:
    """Stairs of bytes over milliseconds; ``label`` is the alternative text."""
    scale = scale_for(max(max(one.held, default=0) for one in lines))
    longest = max(max(one.times, default=0.0) for one in lines) or 1.0
    plot = Plot(scale, top=34, width=620, height=200)
    y = plot.y

    def x(time: float) -> float:
        return plot.left + time / longest * plot.width

    quarters = [part / 4 * longest for part in range(5)]
    body = plot.axes("held", "time (ms, estimated)", [(x(t), f"{t:.3g}") for t in quarters])
    at = float(plot.left)
    for one, (colour, dashes) in zip(lines, _LOOKS, strict=False):
        stairs = "".join(
            f"H{x(time):.1f}V{y(held):.1f}" for time, held in zip(one.times, one.held, strict=True)
        )
        look = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"'
        body.append(f'<path d="M{plot.left} {y(0):.1f}{stairs}" {look}/>')
        body.append(f'<path d="M{at:g} 12h26" {look}/>' + text(at + 32, 16, one.title))
        at += 60 + 7 * len(one.title)
    return document(plot.right + 24, plot.bottom + 42, label, body, alone)
