"""Pictures of graphs: by Graphviz where it is installed, else in lanes laid out by us."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.draw.boxes import Picture, fold
from lab_utils.steps.draw.colors import COLOURS
from lab_utils.steps.draw.lanes import lanes_svg

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
            f'  "{box.name}" [label="{box.label}", fillcolor={COLOURS[box.kind]}{shape}{double}];'
        )
    for arrow in picture.arrows:
        style = ' [style=dashed, color="#c0392b", constraint=false]' if arrow.control else ""
        lines.append(f'  "{arrow.source}" -> "{arrow.target}"{style};')
    return "\n".join([*lines, "}"])


def _graphviz(picture: Picture, form: str) -> bytes:
    if not shutil.which("dot"):
        raise _NoLayout(NO_GRAPHVIZ)
    nodes = len(picture.boxes)
    if nodes > GRAPHVIZ_LIMIT:
        raise _NoLayout(
            f"{nodes} nodes are too many for Graphviz: this is a plain picture in lanes"
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
        words = done.stderr.decode(errors="replace").split("\n")[0]
        raise LabError(f"Graphviz failed: {words[:300]}")
    return done.stdout
