"""The picture at the head of notebook 05; the same bytes every time."""

from __future__ import annotations

import io
from pathlib import Path

from autograder.labs.project import reference
from lab_utils.labs.project.tradeoff import plot_tradeoff, recomputed_seconds, tradeoff_graph
from lab_utils.steps.estimate import estimated_seconds

FOLDER = Path("solutions/project/images")


def pictures() -> dict[Path, str]:
    """The text of every picture, by its path in the repository."""
    return {FOLDER / "tradeoff.svg": _tradeoff()}


def _tradeoff() -> str:
    """The plans of the reference beside the optimum, on the graph of notebook 05."""
    import matplotlib

    # Letters as text, a fixed salt and no date: the same bytes on every run.
    matplotlib.rcParams |= {"svg.hashsalt": "project", "svg.fonttype": "none"}
    graph = tradeoff_graph()
    seconds = estimated_seconds(graph)
    peak = reference.simulate(graph, []).nbytes
    points = []
    for share in (1.0, 0.9, 0.8, 0.7, 0.6):
        plan = reference.choose(graph, seconds, round(share * peak))
        points.append((recomputed_seconds(graph, plan.drop, seconds), plan.nbytes))
    text = io.StringIO()
    figure = plot_tradeoff({"the greedy's plans": points})
    figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"
