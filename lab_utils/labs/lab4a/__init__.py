"""Lab 4A, activation recomputation by graph rewriting: what the kit knows of it."""

from __future__ import annotations

from lab_utils.kit.lab import Lab
from lab_utils.kit.task import Task
from lab_utils.labs.graphs.files import DotFile

_CHANGES = "nothing: it changes the graph"

LAB = Lab(
    home=__name__,
    noun="graph",
    tasks=(
        Task("1.1", "the kind of every value", 1, "classify", "graph", "a dict from node to Kind"),
        Task(
            "1.2",
            "first and last uses",
            1,
            "activation_lifetimes",
            "graph",
            "a dict from node to Uses",
        ),
        Task(
            "1.3",
            "time and memory of each operator",
            0.75,
            "GraphProfiler",
            "graph",
            "a class whose profile() returns a DataFrame: node, operator, phase, seconds, bytes",
        ),
        Task("1.4", "the peak", 1, "peak_breakdown", "graph", "Peak(nbytes, node, by_kind)"),
        Task(
            "1.5",
            "the file llm_mlp.dot",
            0.25,
            "llm_mlp.dot",
            returns="the name of the file llm_mlp.dot",
        ),
        Task("2.1", "what must run again", 1, "recompute_set", "target, kept", "a list of nodes"),
        Task(
            "2.2",
            "clones in the backward pass",
            2,
            "inject_recomputation",
            "graph, drop",
            "a dict from each original node to its clone",
        ),
        Task("3.1", "backward reads the clones", 2, "rewire_backward", "graph, clones", _CHANGES),
        Task("4.1", "the clones wait", 0.75, "add_control_dependencies", "graph, clones", _CHANGES),
        Task(
            "4.2",
            "the file llm_mlp_ar.dot",
            0.25,
            "llm_mlp_ar.dot",
            returns="the name of the file llm_mlp_ar.dot",
        ),
    ),
    files=(DotFile("llm_mlp.dot"), DotFile("llm_mlp_ar.dot")),
    packages=("graphs",),
    names={
        "Peak": ".records",
        "Uses": ".records",
        "assemble": ".assembly",
        "in_backward": "lab_utils.steps.kept",
        "kept_values": "lab_utils.steps.kept",
        "open_graph": ".assembly",
    },
)
check, public_cases, __getattr__ = LAB.check, LAB.public_cases, LAB.named
