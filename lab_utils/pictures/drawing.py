"""Pictures of graphs: by Graphviz where it is installed, else in lanes laid out by us."""

from __future__ import annotations

import shutil
import subprocess
from html import escape
from pathlib import Path

from torch import fx

from lab_utils.graph import LabError, Phase
from lab_utils.pictures.boxes import Arrow, Box, Picture, fold
from lab_utils.pictures.colors import FILL

NO_GRAPHVIZ = (
    "Graphviz is not installed, so this is a plain picture in lanes. For a better layout install "
    "it: 'apt-get install graphviz', 'brew install graphviz' or 'conda install graphviz'."
)
#: Graphviz takes seconds up to here and minutes beyond; the lanes stay quick.
GRAPHVIZ_LIMIT = 300
_GRAPHVIZ_SECONDS = 60


class _NoLayout(Exception):
    """Graphviz cannot lay this picture out; the text tells the user why."""


def draw(graph: fx.Graph, path: str | Path) -> str | None:
    """Draw ``graph`` into ``path``: .svg always, .png and .pdf where Graphviz can do it.

    Returns a message for the user where the picture is the plain one, else None.

    Raises:
        LabError: the file's ending is not one that can be drawn here.
    """
    path = Path(path)
    form = path.suffix.lstrip(".").lower()
    if form not in ("svg", "png", "pdf"):
        raise LabError(f"{path}: a picture's name must end in .svg, .png or .pdf")
    picture = fold(graph)
    try:
        path.write_bytes(_graphviz(picture, form))
        return None
    except _NoLayout as why:
        if form != "svg":
            raise LabError(f"{path}: only .svg can be drawn without Graphviz. {why}") from None
        path.write_text(lanes_svg(picture), encoding="utf-8")
        return str(why)


def to_svg(graph: fx.Graph) -> str:
    """The picture of ``graph`` as SVG text."""
    picture = fold(graph)
    try:
        return _graphviz(picture, "svg").decode()
    except _NoLayout:
        return lanes_svg(picture)


def picture_dot(picture: Picture) -> str:
    """The folded picture as text for Graphviz."""
    lines = [
        "digraph picture {",
        '  graph [rankdir=TB, nslimit=2, nodesep=0.2, ranksep=0.35, bgcolor="white"];',
        '  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=10,'
        ' height=0.3, margin="0.1,0.04", color="#555555"];',
        '  edge [color="#555555", arrowsize=0.6];',
    ]
    for box in picture.boxes:
        shape = ", shape=ellipse" if box.kind in ("WEIGHT", "INPUT", "OPT_STATE") else ""
        double = ", peripheries=2" if box.is_output else ""
        lines.append(
            f'  "{box.name}" [label="{box.label}", fillcolor={FILL[box.kind]}{shape}{double}];'
        )
    for arrow in picture.arrows:
        style = ' [style=dashed, color="#c0392b", constraint=false]' if arrow.control else ""
        lines.append(f'  "{arrow.source}" -> "{arrow.target}"{style};')
    return "\n".join([*lines, "}"])


def _graphviz(picture: Picture, form: str) -> bytes:
    if not shutil.which("dot"):
        raise _NoLayout(NO_GRAPHVIZ)
    if len(picture.boxes) > GRAPHVIZ_LIMIT:
        raise _NoLayout(
            f"{len(picture.boxes)} nodes are too many for Graphviz: this is a plain picture in lanes"
        )
    try:
        done = subprocess.run(
            ["dot", f"-T{form}"],
            input=picture_dot(picture).encode(),
            capture_output=True,
            timeout=_GRAPHVIZ_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise _NoLayout(
            f"Graphviz needed more than {_GRAPHVIZ_SECONDS} s: this is a plain picture in lanes"
        ) from None
    if done.returncode:
        raise LabError(f"Graphviz failed: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


_LANES = ("given", "forward", "recompute", "backward", "optimizer")
_WIDTH, _ROW, _TOP, _BOX = 230, 30, 40, (200, 22)


def _lane(box: Box) -> int:
    if box.operator == box.kind:
        return 0
    lane = {Phase.LOSS: "forward"}.get(box.phase, str(box.phase))
    return _LANES.index(lane)


def lanes_svg(picture: Picture) -> str:
    """Forward runs down on the left, backward up on the right, recomputation between them."""
    places = _places(picture)
    height = max((y for _, y in places.values()), default=0) + _TOP
    width = _WIDTH * len(_LANES)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="Helvetica, Arial, sans-serif" '
        'font-size="10" role="img">',
        f"<title>Training-step graph with {len(picture.boxes)} nodes</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="#777"/></marker></defs>',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for index, lane in enumerate(_LANES):
        parts.append(
            f'<text x="{index * _WIDTH + _WIDTH / 2}" y="18" text-anchor="middle" '
            f'font-weight="bold">{lane}</text>'
        )
    parts += [_line(arrow, places) for arrow in picture.arrows]
    parts += [_rectangle(box, *places[box.name]) for box in picture.boxes]
    return "\n".join([*parts, "</svg>"])


def _places(picture: Picture) -> dict[str, tuple[float, float]]:
    """Middle of each box. Given values and clones stand at the height of their first reader."""
    lanes = [[b for b in picture.boxes if _lane(b) == index] for index in range(len(_LANES))]
    rows = max(map(len, lanes), default=1)
    height: dict[str, float] = {}
    for index, boxes in enumerate(lanes):
        if index in (1, 3):
            for place, box in enumerate(boxes):
                share = (place + 0.5) / len(boxes)
                height[box.name] = rows * (share if index == 1 else 1 - share)
    first_reader: dict[str, str] = {}
    for arrow in picture.arrows:
        if not arrow.control:
            first_reader.setdefault(arrow.source, arrow.target)
    last_source = {arrow.target: arrow.source for arrow in picture.arrows if not arrow.control}
    for index in (4, 2, 0):
        beside = last_source if index == 4 else first_reader
        wanted: dict[str, float] = {}
        for box in reversed(lanes[index]):  # a clone's first reader may be the next clone
            wanted[box.name] = height.get(beside.get(box.name, ""), rows / 2)
            height[box.name] = wanted[box.name]
        height |= _spread(wanted, rows)
    middle = {box.name: _lane(box) * _WIDTH + _WIDTH / 2 for box in picture.boxes}
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


def _rectangle(box: Box, x: float, y: float) -> str:
    width, height = _BOX
    label = box.label if len(box.label) <= 33 else box.label[:32] + "…"
    return (
        f"<g><title>{escape(box.label)}, {box.nbytes:,} bytes</title>"
        f'<rect x="{x - width / 2}" y="{y - height / 2}" width="{width}" height="{height}" rx="4" '
        f'fill="{FILL[box.kind]}" stroke="#555" stroke-width="{2 if box.is_output else 1}"/>'
        f'<text x="{x}" y="{y + 3.5}" text-anchor="middle">{escape(label)}</text></g>'
    )


def _line(arrow: Arrow, places: dict[str, tuple[float, float]]) -> str:
    (x1, y1), (x2, y2) = places[arrow.source], places[arrow.target]
    half = _BOX[0] / 2
    style = 'stroke="#c0392b" stroke-dasharray="5 3"' if arrow.control else 'stroke="#aaa"'
    if x1 == x2:
        bend = half + 14 if abs(y1 - y2) > _ROW else half
        path = f"M{x1 + half} {y1}C{x1 + bend} {y1} {x2 + bend} {y2} {x2 + half} {y2}"
    else:
        side = 1 if x2 > x1 else -1
        path = f"M{x1 + side * half} {y1}L{x2 - side * half} {y2}"
    return f'<path d="{path}" fill="none" {style} marker-end="url(#tip)"/>'
