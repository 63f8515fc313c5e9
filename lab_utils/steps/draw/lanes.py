"""Graphs in lanes laid out by us: forward runs down on the left, backward up on the right.

So a block's forward stands beside its backward, with what is recomputed for it between.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

from lab_utils.kit.charts.colors import BLUE, NEEDLESS, ORANGE, WRONG
from lab_utils.kit.charts.svg import INK, OWN, document, text
from lab_utils.kit.words import size
from lab_utils.steps.draw.boxes import Arrow, Box, Picture
from lab_utils.steps.draw.kinds import LETTER, TEXTURES, legend, paint

LANES = ("given", "forward", "recompute", "backward", "optimizer")
_WIDTH, _ROW, _TOP, _BOX = 232, 30, 34, (204, 22)
_LETTERS, _FEW = 34, 28  # that fit into a box: in small letters, and in large ones


@dataclass(frozen=True)
class Emphasis:
    """What stands out: ``ringed`` boxes, and all but ``pale`` ones.

    ``facts`` are shown where the mouse rests on a box; they are its label where missing.
    """

    ringed: Mapping[str, str] = field(default_factory=dict)
    pale: Collection[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)


def lanes_svg(
    picture: Picture,
    lanes: Sequence[str] = LANES,
    emphasis: Emphasis | None = None,
    alone: bool = True,
) -> str:
    """The picture in ``lanes``; boxes of other lanes are left out."""
    emphasis = emphasis or Emphasis()
    columns = [[b for b in picture.boxes if b.lane == lane] for lane in lanes]
    boxes = [box for column in columns for box in column]
    places = _places(columns, lanes, picture.arrows)
    shown = [a for a in picture.arrows if a.source in places and a.target in places]
    lowest = max((y for _, y in places.values()), default=0)
    kinds = list(dict.fromkeys(box.kind for box in boxes))
    width = max(_WIDTH * len(lanes) + 14, 118 * len(kinds))
    height = lowest + _TOP + 16
    bold = {"text_anchor": "middle", "font_weight": "bold"}
    body = [text((i + 0.5) * _WIDTH, 16, lane, **bold) for i, lane in enumerate(lanes)]
    last = sorted(shown, key=lambda arrow: arrow.mark == "missing")  # over what lies in its way
    body += [_path(arrow, places, emphasis) for arrow in last]
    body += [_rectangle(box, *places[box.name], emphasis) for box in boxes]
    body.append(legend(sorted(kinds, key=list(LETTER).index), 14, height - 8))
    count = sum(box.count for box in boxes)
    label = f"Training-step graph: {count} operators in lanes: {', '.join(lanes)}"
    return document(width, height, label, body, alone, TEXTURES)


def _places(
    columns: list[list[Box]], lanes: Sequence[str], arrows: Sequence[Arrow]
) -> dict[str, tuple[float, float]]:
    """Middle of each box. Given values and clones stand at the height of their first reader."""
    rows = max(map(len, columns), default=1)
    height: dict[str, float] = {}
    for lane, boxes in zip(lanes, columns, strict=True):
        if lane in ("forward", "backward"):
            for place, box in enumerate(boxes):
                share = (place + 0.5) / len(boxes)
                height[box.name] = rows * (share if lane == "forward" else 1 - share)
    first_reader: dict[str, str] = {}
    for arrow in arrows:
        if not arrow.control:
            first_reader.setdefault(arrow.source, arrow.target)
    last_source = {arrow.target: arrow.source for arrow in arrows if not arrow.control}
    for lane in ("optimizer", "recompute", "given"):
        beside = last_source if lane == "optimizer" else first_reader
        boxes = columns[lanes.index(lane)] if lane in lanes else []
        wanted: dict[str, float] = {}
        for box in reversed(boxes):  # a clone's first reader may be the next clone
            wanted[box.name] = height.get(beside.get(box.name, ""), rows / 2)
            height[box.name] = wanted[box.name]
        height |= _spread(wanted, rows)
    middle = {b.name: (i + 0.5) * _WIDTH for i, boxes in enumerate(columns) for b in boxes}
    return {name: (x, _TOP + height[name] * _ROW) for name, x in middle.items()}


def _spread(wanted: dict[str, float], rows: float) -> dict[str, float]:
    """Heights near the wanted ones, at least one row apart and inside the picture."""
    names = sorted(wanted, key=wanted.__getitem__)
    found: dict[str, float] = {}
    floor = 0.5
    for name in names:
        floor = found[name] = max(wanted[name], floor)
        floor += 1
    ceiling = rows - 0.5
    for name in reversed(names):
        ceiling = found[name] = min(found[name], ceiling)
        ceiling -= 1
    return found


def _rectangle(box: Box, x: float, y: float, emphasis: Emphasis) -> str:
    width, height = _BOX
    label = box.label if len(box.label) <= _LETTERS else box.label[: _LETTERS - 1] + "…"
    facts = emphasis.facts.get(box.name, f"{box.label}, {size(box.nbytes)}")
    ring = emphasis.ringed.get(box.name)
    stroke = ring or ("#222" if box.is_output else "#777")
    thick = 3.5 if ring else 2 if box.is_output else 1
    pale = ' opacity="0.2"' if box.name in emphasis.pale else ""
    left = x - width / 2
    ink = {"fill": INK, "font_size": 10 if len(label) <= _FEW else 8.5}
    return (
        f'<g data-node="{escape(box.name)}"{pale}><title>{escape(facts)}</title>'
        f'<rect x="{left:g}" y="{y - height / 2:.1f}" width="{width}" height="{height}" '
        f'rx="{11 if box.lane == "given" else 4}" fill="{paint(box.kind)}" stroke="{stroke}" '
        f'stroke-width="{thick:g}"/>'
        f'<rect x="{left + 22:g}" y="{y - 8:.1f}" width="{width - 26}" height="16" rx="3" '
        f'fill="white" fill-opacity="0.72"/>'
        + text(
            left + 11, y + 3.5, LETTER[box.kind], text_anchor="middle", font_weight="bold", **ink
        )
        + text(x + 9, y + 3.5, label, text_anchor="middle", **ink)
        + "</g>"
    )


_LOOK = {
    "": 'stroke="#888" stroke-opacity="0.8"',
    "control": f'stroke="{ORANGE}" stroke-dasharray="5 3" stroke-width="1.3"',
    "missing": f'stroke="{WRONG}" stroke-dasharray="7 4" stroke-width="2.5"',
    "needless": f'stroke="{NEEDLESS}" stroke-width="2.5"',
    "followed": f'stroke="{BLUE}" stroke-width="2.2"',
}
_TIP = {"control": "wait", "missing": "wrong"}


def _path(arrow: Arrow, places: Mapping[str, tuple[float, float]], emphasis: Emphasis) -> str:
    (x1, y1), (x2, y2) = places[arrow.source], places[arrow.target]
    half = _BOX[0] / 2
    look = arrow.mark or ("control" if arrow.control else "")
    if abs(x1 - x2) < 1:
        side = 1 if y2 > y1 else -1
        bend = min(12 + abs(y1 - y2) / 12, 30) if abs(y1 - y2) > _ROW + 1 else 0
        if bend:
            near, far = f"{x1 + half:g}", f"{x1 + half + bend:g}"
            path = f"M{near} {y1:.1f}C{far} {y1:.1f} {far} {y2:.1f} {near} {y2:.1f}"
        else:
            path = f"M{x1:g} {y1 + side * 11:.1f}V{y2 - side * 11:.1f}"
    else:
        side = 1 if x2 > x1 else -1
        start, end = x1 + side * half, x2 - side * half
        path = f"M{start:g} {y1:.1f}L{end:g} {y2:.1f}"
        if abs(x1 - x2) > 1.5 * _WIDTH and abs(y1 - y2) < _ROW / 2:  # below what is in between
            low, turn = (y1 + y2 + _ROW) / 2, side * 16
            path = (
                f"M{start:g} {y1:.1f}C{start + turn:g} {y1:.1f} {start:g} {low:.1f} "
                f"{start + turn:g} {low:.1f}H{end - turn:g}"
                f"C{end:g} {low:.1f} {end - turn:g} {y2 + 6:.1f} {end:g} {y2 + 6:.1f}"
            )
    pale = emphasis.pale and (arrow.source in emphasis.pale or arrow.target in emphasis.pale)
    faint = ' opacity="0.12"' if pale and not arrow.mark else ""
    words = "waits for" if arrow.control else "reads"
    mark = f"{arrow.mark}: " if arrow.mark in ("missing", "needless") else ""
    title = escape(f"{mark}{arrow.target} {words} {arrow.source}")
    tip = _TIP.get(look, "tip")
    return (
        f'<path d="{path}" fill="none" {_LOOK[look]} marker-end="url(#{OWN}{tip})"{faint}>'
        f"<title>{title}</title></path>"
    )
