"""A mesh as a picture: nodes in rows, every link a line of its own for each direction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lab_utils.kit.charts.drawn import Drawing, drawing
from lab_utils.kit.charts.svg import document, rectangle, text

Pair = tuple[int, int]
_NODE, _PITCH, _SIDE = 24, 66, 5.5  # pixels: a node, from node to node, from the middle of a pair
_MARGIN, _HEAD = 16, 30
IDLE = "#9a9a9a"


class Look(NamedTuple):
    """How a link is drawn."""

    colour: str = IDLE
    wide: float = 1.2
    """Pixels."""
    label: str = ""
    faint: bool = False
    ringed: bool = False
    """Whether it is the one that somebody chose."""


def neighbours(width: int, height: int) -> list[Pair]:
    """The links of a mesh, both ways."""
    across = [(y * width + x, y * width + x + 1) for y in range(height) for x in range(width - 1)]
    down = [(node, node + width) for node in range(width * (height - 1))]
    return [pair for a, b in across + down for pair in ((a, b), (b, a))]


def size(width: int, height: int) -> tuple[float, float]:
    """Pixels that a mesh takes, from left to right and from top to bottom."""
    return (
        2 * _MARGIN + (width - 1) * _PITCH + _NODE,
        2 * _MARGIN + (height - 1) * _PITCH + _NODE,
    )


class Area(NamedTuple):
    """Where a link lies in the picture, with some room to hit it; pixels."""

    left: float
    top: float
    wide: float
    high: float


def area(link: Pair, width: int, left: float = 0, top: float = 0) -> Area:
    """Where a link of a mesh lies that ``mesh`` draws at ``left``, ``top``."""
    (ax, ay), (bx, by) = (divmod(node, width)[::-1] for node in link)
    long, broad = _PITCH - _NODE, 2 * _SIDE + 4
    x = left + _MARGIN + _NODE / 2 + min(ax, bx) * _PITCH
    y = top + _MARGIN + _NODE / 2 + min(ay, by) * _PITCH
    if ay == by:  # who goes to the right is drawn below
        return Area(x + _NODE / 2, y if bx > ax else y - broad, long, broad)
    return Area(x - broad if by > ay else x, y + _NODE / 2, broad, long)


def mesh(
    width: int, height: int, looks: Mapping[Pair, Look], left: float = 0, top: float = 0
) -> list[str]:
    """The parts of the picture; a link without a look of its own is pale."""
    middles = {
        y * width + x: (
            left + _MARGIN + _NODE / 2 + x * _PITCH,
            top + _MARGIN + _NODE / 2 + y * _PITCH,
        )
        for y in range(height)
        for x in range(width)
    }
    looks = dict.fromkeys(neighbours(width, height), Look(faint=True)) | dict(looks)
    body = [
        _link(middles[a], middles[b], look, f"{a} → {b}")
        for (a, b), look in sorted(looks.items(), key=lambda item: item[1].wide)
        if a in middles and b in middles and a != b
    ]
    for node, (x, y) in middles.items():
        side = {"fill": "none", "stroke": "currentColor", "rx": 4}
        body.append(rectangle(x - _NODE / 2, y - _NODE / 2, _NODE, _NODE, **side))
        body.append(text(x, y + 4, str(node), text_anchor="middle"))
    return body


def _link(start: tuple[float, float], end: tuple[float, float], look: Look, name: str) -> str:
    """A line with a head, on the right-hand side of the way from node to node."""
    (x1, y1), (x2, y2) = start, end
    far = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    dx, dy = (x2 - x1) / far, (y2 - y1) / far
    gap = _NODE / 2 + 2
    x1, y1 = x1 + dx * gap - dy * _SIDE, y1 + dy * gap + dx * _SIDE
    x2, y2 = x2 - dx * gap - dy * _SIDE, y2 - dy * gap + dx * _SIDE
    head = 4 + look.wide
    bx, by = x2 - dx * head, y2 - dy * head
    half = head / 2
    tip = (
        f"M{x2:.1f} {y2:.1f}L{bx - dy * half:.1f} {by + dx * half:.1f}"
        f"L{bx + dy * half:.1f} {by - dx * half:.1f}z"
    )
    shade = ' opacity="0.45"' if look.faint else ""
    line = f"M{x1:.1f} {y1:.1f}L{bx:.1f} {by:.1f}"
    ring = (
        f'<path d="{line}" stroke="currentColor" stroke-width="{look.wide + 6:g}" '
        'stroke-opacity="0.35" stroke-linecap="round"/>'
        if look.ringed
        else ""
    )
    number = ""
    if look.label:
        mx, my = (x1 + x2) / 2 - dy * 9, (y1 + y2) / 2 + dx * 9 + 4
        number = text(round(mx, 1), round(my, 1), look.label, text_anchor="middle", font_size=10)
    return (
        f"<g{shade}><title>{name}</title>{ring}"
        f'<path d="{line}" stroke="{look.colour}" stroke-width="{look.wide:g}"/>'
        f'<path d="{tip}" fill="{look.colour}"/>{number}</g>'
    )


def draw_mesh(
    width: int, height: int, looks: Mapping[Pair, Look], title: str, words: str, caption: str = ""
) -> Drawing:
    """A picture of one mesh; ``words`` are its alternative text."""
    wide, high = size(width, height)
    wide = max(wide, 7.2 * len(title) + 2 * _MARGIN)

    def svg(alone: bool) -> str:
        head = text(_MARGIN, 20, title, font_weight="bold", font_size=13)
        body = [head, *mesh(width, height, looks, 0, _HEAD - _MARGIN / 2)]
        return document(round(wide), round(high + _HEAD), words, body, alone)

    return drawing(svg, words, caption)
