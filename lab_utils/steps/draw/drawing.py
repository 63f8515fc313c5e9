"""Pictures of graphs: by Graphviz where it is installed, else in lanes laid out by us."""

from __future__ import annotations

from pathlib import Path
from subprocess import CalledProcessError, TimeoutExpired
from typing import TYPE_CHECKING

from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.kit.machine.terminal import typed
from lab_utils.steps.dot.colors import COLOURS
from lab_utils.steps.draw.boxes import Picture, fold
from lab_utils.steps.draw.lanes import lanes_svg

if TYPE_CHECKING:
    from graphviz import Digraph

NO_GRAPHVIZ = (
    "Graphviz is not installed, so this is a plain picture in lanes. For a better layout install "
    "it: 'apt-get install graphviz', 'brew install graphviz' or 'conda install graphviz'."
)
NO_PACKAGE = (
    "the package graphviz is not installed, so this is a plain picture in lanes. For a better "
    f"layout install it: {typed('install graphviz', 'pip')}"
)
#: Graphviz takes seconds up to here and minutes beyond; the lanes stay quick.
GRAPHVIZ_LIMIT = 300
_GRAPHVIZ_SECONDS = 60
_GIVEN = ("WEIGHT", "INPUT", "OPT_STATE")


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
        path.write_bytes(_laid_out(picture, form))
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
        return _laid_out(picture, "svg").decode()
    except _NoLayout:
        return lanes_svg(picture)


def _digraph(picture: Picture) -> Digraph:
    """The folded picture for Graphviz."""
    from graphviz import Digraph, escape

    drawn = Digraph(
        "picture",
        graph_attr={"nslimit": "2", "nodesep": "0.2", "ranksep": "0.35", "bgcolor": "white"},
        node_attr={
            "shape": "box",
            "style": "filled,rounded",
            "fontname": "Helvetica",
            "fontsize": "10",
            "height": "0.3",
            "margin": "0.1,0.04",
            "color": "#555555",
        },
        edge_attr={"color": "#555555", "arrowsize": "0.6"},
    )
    for box in picture.boxes:
        look = {"shape": "ellipse"} if box.kind in _GIVEN else {}
        look |= {"peripheries": "2"} if box.is_output else {}
        drawn.node(box.name, escape(box.label), fillcolor=COLOURS[box.kind], **look)
    waits = {"style": "dashed", "color": "#c0392b", "constraint": "false"}
    for arrow in picture.arrows:
        drawn.edge(arrow.source, arrow.target, **(waits if arrow.control else {}))
    return drawn


def _laid_out(picture: Picture, form: str) -> bytes:
    try:
        from graphviz import ExecutableNotFound
        from graphviz.backend import dot_command, execute
    except ImportError:
        raise _NoLayout(NO_PACKAGE) from None
    nodes = len(picture.boxes)
    if nodes > GRAPHVIZ_LIMIT:
        raise _NoLayout(
            f"{nodes} nodes are too many for Graphviz: this is a plain picture in lanes"
        )
    try:
        # What Digraph.pipe does. That has no time limit, and this hands ours on.
        done = execute.run_check(
            dot_command.command("dot", form),
            input=_digraph(picture).source.encode(),
            capture_output=True,
            quiet=True,
            timeout=_GRAPHVIZ_SECONDS,
        )
    except (ExecutableNotFound, PermissionError):
        raise _NoLayout(NO_GRAPHVIZ) from None
    except TimeoutExpired:
        raise _NoLayout(
            f"Graphviz needed more than {_GRAPHVIZ_SECONDS} s: this is a plain picture in lanes"
        ) from None
    except CalledProcessError as error:
        words = error.stderr.decode(errors="replace").split("\n")[0]
        raise LabError(f"Graphviz failed: {words[:300]}") from None
    return bytes(done.stdout)
