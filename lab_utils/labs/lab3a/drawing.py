"""The picture ``graph.png``: a box for each node, by Graphviz or, where it is missing, by us."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import fx

from lab_utils.kit.files import write_whole

if TYPE_CHECKING:
    from graphviz import Digraph

NO_DOT = (
    "Graphviz' program dot is not installed, so this is a plain picture: the nodes below one "
    "another in the order in which they run. For a better layout install it: 'apt-get install "
    "graphviz', 'brew install graphviz' or 'conda install graphviz'."
)
_FILL = {
    "placeholder": "lightblue",
    "get_attr": "lightgreen",
    "call_module": "moccasin",
    "call_function": "lightyellow",
    "call_method": "whitesmoke",
    "output": "lightpink",
}
_SECONDS = 60


def draw_nodes(module: fx.GraphModule, file: str = "graph.png") -> str:
    """Draw the graph into a PNG: a box a node with its latency, an arrow a value with its shape.

    Returns the name of the file; what the picture lacks is printed.
    """
    image = _by_graphviz(module.graph)
    if image is None:
        print(NO_DOT)
        image = _by_matplotlib(module.graph)
    write_whole(Path(file), image)
    return file


def label(node: fx.Node) -> str:
    """``gelu (0.42 ms)``."""
    return f"{node.name} ({float(node.meta.get('latency', 0.0)):.2f} ms)"


def _shape(node: fx.Node) -> str:
    shape = node.meta.get("shape")
    return "" if shape is None else "×".join(map(str, shape)) or "one"


def digraph(graph: fx.Graph) -> Digraph:
    """The graph for Graphviz."""
    from graphviz import Digraph, escape

    drawn = Digraph(
        "nodes",
        graph_attr={"nodesep": "0.2", "ranksep": "0.3", "bgcolor": "white", "dpi": "80"},
        node_attr={"shape": "box", "style": "filled,rounded", "fontname": "Helvetica"},
        edge_attr={"fontname": "Helvetica", "fontsize": "9", "color": "#555555"},
    )
    for node in graph.nodes:
        drawn.node(node.name, escape(label(node)), fillcolor=_FILL[node.op], fontsize="11")
        for source in node.all_input_nodes:
            drawn.edge(source.name, node.name, escape(_shape(source)))
    return drawn


def _by_graphviz(graph: fx.Graph) -> bytes | None:
    """A PNG, or None where Graphviz cannot make one."""
    from subprocess import CalledProcessError, TimeoutExpired

    try:
        from graphviz import ExecutableNotFound
        from graphviz.backend import dot_command, execute
    except ImportError:
        return None
    try:
        done = execute.run_check(  # as Digraph.pipe does, with a limit of time
            dot_command.command("dot", "png"),
            input=digraph(graph).source.encode(),
            capture_output=True,
            quiet=True,
            timeout=_SECONDS,
        )
    except (ExecutableNotFound, PermissionError, CalledProcessError, TimeoutExpired):
        return None
    return bytes(done.stdout)


def _by_matplotlib(graph: fx.Graph) -> bytes:
    """A PNG of all nodes below one another; arrows go along the left side."""
    from io import BytesIO

    from matplotlib.figure import Figure

    nodes = list(graph.nodes)
    row = {node: -place for place, node in enumerate(nodes)}
    figure = Figure(figsize=(6.5, 0.32 * len(nodes) + 0.4), dpi=90, facecolor="white")
    axes: Any = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(-3.4, 5)
    axes.set_ylim(-len(nodes), 1)
    axes.axis("off")
    for node in nodes:
        _box(axes, node, row)
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def _box(axes: Any, node: fx.Node, row: Mapping[fx.Node, int]) -> None:
    look = {"boxstyle": "round", "facecolor": _FILL[node.op], "edgecolor": "#555555"}
    axes.text(0, row[node], label(node), va="center", fontsize=8, bbox=look)
    axes.text(3.4, row[node], _shape(node), va="center", fontsize=7, color="#555555")
    for source in node.all_input_nodes:
        far = row[source] - row[node]
        bend = f"arc3,rad={0.0 if far == 1 else min(0.45, 0.15 + 0.02 * far)}"
        style = {"arrowstyle": "->", "color": "#777777", "connectionstyle": bend, "lw": 0.7}
        start, end = (-0.15, row[source] - 0.2), (-0.15, row[node] + 0.2)
        axes.annotate("", end, start, arrowprops=style)
