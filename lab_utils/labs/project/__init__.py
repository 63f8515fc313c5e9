"""The project, choosing what to recompute on BERT and ResNet-152: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.charts.drawn import picture_book
from lab_utils.kit.lab import Lab, Small
from lab_utils.kit.task import Task
from lab_utils.labs.graphs.files import DotFile
from lab_utils.labs.project.tables import Table

_KEPT, _RERUN = "lab_utils.steps.kept", "lab_utils.steps.rerun"

LAB = Lab(
    home=__name__,
    noun="graph",
    tasks=(
        Task("5.1", "the candidates", 3, "candidates", "graph", "a dict from node to bytes"),
        Task(
            "5.2",
            "sources and path",
            3,
            "rebuild",
            "node, kept, memory",
            "Rebuild(sources, path)",
        ),
        Task("5.3", "cost and ratio", 3, "describe", "graph, seconds", "a list of Candidate"),
        Task(
            "5.4",
            "the updates",
            3,
            "update",
            "t, chosen, remaining",
            "nothing: it changes the candidates",
        ),
        Task("5.5", "the simulated peak", 4, "simulate", "graph, drop", "Simulated(nbytes, node)"),
        Task("5.6", "the plan", 4, "choose", "graph, seconds, budget", "Plan(drop, nbytes)"),
        Task(
            "6.1",
            "the static analysis",
            3,
            "analyse",
            "graph, seconds",
            "a DataFrame with the columns activation, bytes, idle_seconds, recompute_seconds",
        ),
        Task("6.2", "peaks without recomputation", 2.25, "memory.csv"),
        Task(
            "6.3",
            "a rewriter for real models",
            3,
            "recompute",
            "graph, drop",
            "nothing: it changes the graph",
        ),
        Task("6.4", "peaks with recomputation", 2.25, "memory.csv"),
        Task("6.5", "the latency", 1.5, "latency.csv"),
    ),
    files=(
        DotFile("llm_mlp.dot"),
        DotFile("llm_mlp_ar.dot"),
        Table("memory.csv", measured=True),
        Table("latency.csv", measured=True),
    ),
    packages=("graphs", "project"),
    small=Small("PROJECT_SIZE", "small", "full"),
    names={
        "Candidate": "lab_utils.steps.candidate",
        "Plan": ".records",
        "Rebuild": ".records",
        "Simulated": ".records",
        "in_backward": _KEPT,
        "is_early": _KEPT,
        "kept_values": _KEPT,
        "open_graph": ".tradeoff",
        "rebuildable": _RERUN,
        "run_again": _RERUN,
    },
)
picture_book("lab_utils.labs.project.show.plan")
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
