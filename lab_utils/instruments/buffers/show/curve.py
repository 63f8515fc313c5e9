"""Misses against the size of a buffer, for both policies, with the sizes at which more is worse."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from lab_utils.instruments.buffers.show.fast import lru_curve
from lab_utils.instruments.buffers.show.walk import count
from lab_utils.kit.charts.axes import Plot, scale_for
from lab_utils.kit.charts.colors import BLUE, ORANGE, RED
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import document, line, text
from lab_utils.kit.errors import LabError

_WIDE, _HIGH = 520, 220
_CAPTION = (
    "Under LRU a larger buffer never misses more. A FIFO may: where its line goes up with the "
    "size, it is red. Dashed: each line is fetched once, less is impossible."
)


def draw_curve(trace: Sequence[int], sizes: Sequence[int]) -> Drawing:
    """A line for each policy; LRU from the distances of one pass, FIFO size by size."""
    sizes = sorted(set(sizes))
    if not trace or len(sizes) < 2 or sizes[0] < 1:
        raise LabError("a curve needs a trace, and at least two sizes of one line or more")
    lru = lru_curve(trace, sizes)
    fifo = [count(trace, size, 0, "FIFO").first for size in sizes]
    worse = [(a, b) for a, b in pairwise(range(len(sizes))) if fifo[b] > fifo[a]]
    words = "\n".join(
        f"{name}: " + ", ".join(f"{n} at {size}" for size, n in zip(sizes, values, strict=True))
        for name, values in (("misses under LRU", lru), ("misses under FIFO", fifo))
    )
    for a, b in worse:
        words += f"\nFIFO: {fifo[b] - fifo[a]} more with {sizes[b]} lines than with {sizes[a]}"
    lines = {"LRU": (lru, BLUE, ""), "FIFO": (fifo, ORANGE, "7 3")}
    once = len(set(trace))
    return drawing(lambda alone: _svg(sizes, lines, worse, once, words, alone), words, _CAPTION)


def _svg(
    sizes: Sequence[int],
    lines: dict[str, tuple[list[int], str, str]],
    worse: Sequence[tuple[int, int]],
    once: int,
    words: str,
    alone: bool,
) -> str:
    highest = max(n for values, _, _ in lines.values() for n in values)
    plot = Plot(scale_for(highest, "lines"), 30, _WIDE, _HIGH)
    first, last = sizes[0], sizes[-1]

    def x(size: int) -> float:
        return plot.left + 8 + (size - first) / (last - first) * (_WIDE - 16)

    every = max(1, len(sizes) // 12)
    marks = [(x(size), str(size)) for size in sizes[::every]]
    body = plot.axes("misses", "lines in the buffer", marks)
    y = plot.y(once)
    body.append(line(plot.left, y, plot.right, y, stroke_dasharray="4 4", stroke_opacity=0.6))
    key = float(plot.left)
    for name, (values, colour, dashes) in lines.items():
        look: dict[str, Any] = {
            "fill": "none",
            "stroke": colour,
            "stroke_width": 2.4,
            "stroke_dasharray": dashes,
        }
        for a, b in pairwise(range(len(sizes))):
            ends = (x(sizes[a]), plot.y(values[a]), x(sizes[b]), plot.y(values[b]))
            up = name == "FIFO" and (a, b) in worse
            drawn = look | {"stroke": RED, "stroke_width": 5} if up else look
            body.append(line(*ends, **drawn))
        for size, value in zip(sizes, values, strict=True):
            body.append(
                f'<circle cx="{x(size):.1f}" cy="{plot.y(value):.1f}" r="3" fill="{colour}"/>'
            )
        body.append(line(key, 14, key + 28, 14, **look))
        body.append(text(key + 34, 18, name))
        key += 90
    return document(plot.right + 20, plot.bottom + 44, words, body, alone)
