"""A circle in which nodes wait for each other, drawn as one, with the edges that closed it."""

from __future__ import annotations

from math import cos, pi, sin

from lab_utils.kit.charts.colors import RED
from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import INK, OWN, document, text
from lab_utils.steps.draw.kinds import FILL
from lab_utils.steps.graph import CycleError, control_dependencies, kind

_MOST = 14  # nodes that are drawn
_HIGH = 24


def draw_circle(error: CycleError) -> Drawing:
    """The circle of ``error``: grey what is read, red what was made to wait."""
    caption = (
        "Each node needs the one before it, all around. Grey: it reads it. Red: it was made to "
        "wait for it."
    )
    return drawing(lambda alone: _svg(error, alone), f"{error}\n{error.look}", caption)


def _svg(error: CycleError, alone: bool) -> str:
    nodes = error.circle[:_MOST]
    wide = 16 + 7 * max(len(node.name) for node in nodes)
    across, down = max(wide + 60, 30 * len(nodes)), max(70.0, 17.0 * len(nodes))
    middle, height = across + wide / 2 + 10, 2 * down + 80
    spots = [
        (
            middle + across * cos(2 * pi * at / len(nodes) - pi / 2),
            height / 2 + down * sin(2 * pi * at / len(nodes) - pi / 2),
        )
        for at in range(len(nodes))
    ]
    body = []
    for at, node in enumerate(nodes):
        after = nodes[(at + 1) % len(nodes)]
        waits = node in control_dependencies(after) and node not in after.all_input_nodes
        body.append(_arrow(spots[at], spots[(at + 1) % len(nodes)], waits))
    for (x, y), node in zip(spots, nodes, strict=True):
        left, top = x - wide / 2, y - _HIGH / 2
        body.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide}" height="{_HIGH}" rx="5" '
            f'fill="{FILL[kind(node)]}" stroke="#555"/>'
        )
        body.append(text(x, y + 4, node.name, text_anchor="middle", fill=INK))
    label = "a circle: " + ", then ".join(node.name for node in nodes)
    return document(2 * middle, height, label, body, alone)


def _arrow(start: tuple[float, float], end: tuple[float, float], waits: bool) -> str:
    (x1, y1), (x2, y2) = start, end
    # From the middle of one box to the rim of the next, so that the tip is seen.
    share = 1 - (_HIGH / 2 + 4) / max(abs(y2 - y1), _HIGH / 2 + 5)
    x2, y2 = x1 + (x2 - x1) * share, y1 + (y2 - y1) * share
    look = f'stroke="{RED}" stroke-width="2.5" stroke-dasharray="6 3"' if waits else 'stroke="#888"'
    tip = "wrong" if waits else "tip"
    return (
        f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" fill="none" {look} '
        f'marker-end="url(#{OWN}{tip})"/>'
    )
