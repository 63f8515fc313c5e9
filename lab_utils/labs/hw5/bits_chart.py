"""Accuracy over the number of bits, a line for each way to quantize."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

from lab_utils.kit.charts.axes import Plot, scale_for
from lab_utils.kit.charts.colors import BLUE, GREEN, ORANGE
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import document, line, text

_LOOKS = ((ORANGE, "7 3"), (BLUE, ""), (GREEN, "2 3"))
_CAPTION = "Dashes and colours tell the ways apart; the thin line is the network in float."


def bits_curve(ways: Mapping[str, Mapping[int, float]], in_float: float) -> Drawing:
    """Draw accuracies (shares of 1) by number of bits, for each way by its name."""
    words = [
        f"{name}: "
        + ", ".join(f"{bits} bits {share:.1%}" for bits, share in sorted(points.items()))
        for name, points in ways.items()
    ]
    words.append(f"float: {in_float:.1%}")
    return drawing(lambda alone: _svg(ways, in_float, words, alone), "\n".join(words), _CAPTION)


def _svg(
    ways: Mapping[str, Mapping[int, float]], in_float: float, words: list[str], alone: bool
) -> str:
    plot = Plot(scale_for(100, "%"), top=40, width=460, height=200)
    every = sorted({bits for points in ways.values() for bits in points})
    between = plot.width / max(len(every) - 1, 1)

    def x(bits: int) -> float:
        return plot.left + every.index(bits) * between

    body = plot.axes("right", "bits of a weight", [(x(bits), str(bits)) for bits in every])
    level = plot.y(100 * in_float)
    body.append(line(plot.left, level, plot.right, level, stroke_opacity=0.6))
    at = plot.left
    for (name, points), (colour, dashes) in zip(ways.items(), cycle(_LOOKS), strict=False):
        ordered = sorted(points.items())
        path = "L".join(f"{x(bits):.1f} {plot.y(100 * share):.1f}" for bits, share in ordered)
        look = f'fill="none" stroke="{colour}" stroke-width="2.2" stroke-dasharray="{dashes}"'
        body.append(f'<path d="M{path}" {look}/>')
        body += [
            f'<circle cx="{x(bits):.1f}" cy="{plot.y(100 * share):.1f}" r="3.5" fill="{colour}"/>'
            for bits, share in ordered
        ]
        body.append(f'<path d="M{at:g} 16h26" {look}/>' + text(at + 32, 20, name))
        at += 60 + 7 * len(name)
    label = "Accuracy by bits. " + "; ".join(words)
    return document(plot.right + 30, plot.bottom + 42, label, body, alone)
