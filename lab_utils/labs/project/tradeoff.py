"""The trade-off of notebook 05: peak memory against the work that runs again."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from torch import fx

from lab_utils.labs.graphs.shipped import shipped_graph
from lab_utils.labs.project import LAB
from lab_utils.steps.kept import in_backward, is_early, kept_values
from lab_utils.steps.storage import is_operation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: (seconds that run again, peak in bytes) of one plan.
Point = tuple[float, int]


def open_graph(name: str) -> fx.Graph:
    """A small training step of the lab: ``chain``, ``diamond``, ``reads_twice``, …"""
    return shipped_graph(LAB, name)


def tradeoff_graph() -> fx.Graph:
    """The training step on which the plans are compared: an llm_mlp of two blocks."""
    return open_graph("tradeoff")


def recomputed_seconds(
    graph: fx.Graph, drop: Collection[fx.Node], seconds: Mapping[fx.Node, float]
) -> float:
    """The time of all operators that run again when ``drop`` is rebuilt, each once."""
    kept = kept_values(graph, drop)
    late = [n for n in graph.nodes if n.op == "call_function" and in_backward(n)]
    queue = [read for node in late for read in node.all_input_nodes]
    again: set[fx.Node] = set()
    while queue:
        node = queue.pop()
        lost = node.op == "call_function" and is_early(node) and node not in kept
        if lost and node not in again:
            again.add(node)
            queue += node.all_input_nodes
    return sum(seconds[node] for node in again if is_operation(node))


def known_points() -> dict[str, list[Point]]:
    """What other ways reach on ``tradeoff_graph``, by name; the file says how it was made."""
    table = json.loads((LAB.folder / "tradeoff.json").read_text(encoding="utf-8"))["points"]
    return {name: [(work, peak) for work, peak in points] for name, points in table.items()}


#: Line or marker, its size, and a colour that is not that of one's own plans.
_STYLES = {
    "optimum (each value at most once)": ("--", 4, "black"),
    "torch.utils.checkpoint per block": ("s", 9, "tab:blue"),
    "min-cut partitioner": ("^", 7, "tab:green"),
}


def plot_tradeoff(mine: Mapping[str, Sequence[Point]]) -> Figure:
    """Peak against recomputed work: ``mine`` as lines, beside what other ways reach."""
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(7, 4.2))
    for name, points in mine.items():
        axis.plot(*_scaled(points), "o-", label=name, color="tab:orange", zorder=3)
    for name, points in known_points().items():
        style, size, color = _STYLES[name]
        axis.plot(*_scaled(points), style, markersize=size, color=color, label=name)
    axis.set_xlabel("recomputed work (ms, estimated)")
    axis.set_ylabel("peak (MB)")
    axis.set_ylim(bottom=0)
    axis.grid(alpha=0.3)
    axis.legend()
    figure.set_layout_engine("constrained")
    pyplot.close(figure)  # a notebook shows what is returned, and would show it twice
    return figure


def _scaled(points: Sequence[Point]) -> tuple[list[float], list[float]]:
    ordered = sorted(points)
    return [1e3 * work for work, _ in ordered], [peak / 1e6 for _, peak in ordered]
