"""Several lines in one plot: bytes (or anything else) over time, or from step to step."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from math import isfinite

from lab_utils.kit.charts.axes import Plot, scale_for, worst_steps
from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE, PALE
from lab_utils.kit.charts.svg import document, text

#: Told apart by their dashes as well as by their colours.
_LOOKS = ((PALE, ""), (ORANGE, ""), (BLUE, "7 3"), (GREEN, "2 3"))
_COLUMNS = 320  # points that a line over steps has at most: more than that, nobody can see


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
    for one, look in zip(lines, cycle(_LOOKS), strict=False):
        stairs = "".join(
            f"H{x(time):.1f}V{y(held):.1f}" for time, held in zip(one.times, one.held, strict=True)
        )
        body.append(f'<path d="M{plot.left} {y(0):.1f}{stairs}" {_drawn(look, one.title)}/>')
    body += _key([one.title for one in lines], plot.left)
    return document(plot.right + 24, plot.bottom + 42, label, body, alone)


def over_steps_svg(
    title: str,
    lines: Mapping[str, Sequence[float]],
    budget: float | None = None,
    unit: str = "bytes",
    what: str = "",
    alone: bool = True,
    key: bool = True,
) -> str:
    """Lines from the first to the last step, each as long as the plot however many it has.

    What is no number is drawn as zero. Of the line called ``yours`` the area below is tinted.
    A line has its name as a class, and the budget is a ``budget``, so that a page may give
    them its own colours.

    Args:
        title: the alternative text.
        lines: a value for each step, by name.
        budget: the most that is allowed, drawn as a dashed line.
        unit: what is counted.
        what: what the values are, for the axis; its unit alone unless given.
        alone: with a white ground, for a file or an image; else it takes the page's colours.
        key: whether the picture says which line is which.
    """
    drawn = {
        name: [value if isfinite(value) else 0.0 for value in values]
        for name, values in lines.items()
        if values
    }
    scale = scale_for(max([budget or 0, *map(max, drawn.values())]), unit)
    plot = Plot(scale, top=34 if key else 14, width=560, height=180)
    body = plot.axes(what, "step", [(plot.left, "first"), (plot.right, "last")])
    for (name, values), look in zip(drawn.items(), cycle(_LOOKS), strict=False):
        stairs = _stairs(plot, values)
        if name == "yours":
            area = f"M{plot.left} {plot.bottom}{stairs}V{plot.bottom}z"
            body.append(f'<path class="area" d="{area}" fill="{look[0]}" opacity="0.12"/>')
        start = f"M{plot.left} {plot.y(values[0]):.1f}"
        body.append(f'<path d="{start}{stairs}" {_drawn(look, name)}/>')
    if budget:
        body += plot.budget(budget, unit, class_="budget")
    body += _key(list(drawn), plot.left) if key else []
    return document(plot.right + 24, plot.bottom + 42, title, body, alone)


def _stairs(plot: Plot, values: Sequence[float]) -> str:
    """A value stays for the whole of its step; long lines are thinned, and peaks kept."""
    steps = worst_steps(values, _COLUMNS)
    each = plot.width / len(steps)
    return "".join(
        f"V{plot.y(values[step]):.1f}H{plot.left + each * place:.1f}"
        for place, step in enumerate(steps, 1)
    )


def _drawn(look: tuple[str, str], name: str) -> str:
    """How a line looks, unless the page knows the class that is its name."""
    colour, dashes = look
    named = re.sub(r"\W+", "-", name)
    return (
        f'class="line {named}" fill="none" stroke="{colour}" stroke-width="2" '
        f'stroke-dasharray="{dashes}"'
    )


def _key(names: Sequence[str], left: float) -> list[str]:
    """Above the plot: which line is which."""
    parts, at = [], left
    for name, look in zip(names, cycle(_LOOKS), strict=False):
        parts.append(f'<path d="M{at:g} 12h26" {_drawn(look, name)}/>' + text(at + 32, 16, name))
        at += 60 + 7 * len(name)
    return parts
