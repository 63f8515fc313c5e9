"""The instructors' side of Lab 4A: its hidden graphs, and what a judge needs beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import fx

from autograder.grading.hidden import Hidden
from autograder.grading.sandbox import Limits
from autograder.grading.sandbox.host.cut import Cut
from autograder.grading.verdict import Chart
from autograder.labs import graphs
from autograder.labs.lab4a.against_reference import compared
from autograder.reference.rewrite import recompute_set
from lab_utils.kit.task import Case
from lab_utils.labs.graphs.nodes import by_name
from lab_utils.labs.graphs.replies import shared_graph
from lab_utils.labs.graphs.show import line_after, line_before
from lab_utils.labs.lab4a.ask.profiler import seconds_of_run


def right_recompute_set(target: fx.Node, kept: set[fx.Node]) -> list[fx.Node]:
    """Task 2.1, by the engine."""
    lost = {n for n in target.graph.nodes if n.op == "call_function"} - kept
    return recompute_set([target], lost) if target in lost else []


def _lend(name: str, case: Case, arguments: Any) -> Any:
    """What ``recompute_set`` answers on the graph of a case, by names; or the times of a run.

    Raises:
        KeyError, TypeError: the arguments are none of a student's honest call.
    """
    nodes = by_name(shared_graph(case.given["graph"]))
    if name == "seconds":
        operators = sum(node.op == "call_function" for node in nodes.values())
        pace, warmup = case.wanted["pace"], case.given["warmup"]
        return seconds_of_run(int(arguments["run"]), operators, warmup, pace)
    kept = {nodes[kept] for kept in arguments["kept"] if kept in nodes}
    return [node.name for node in right_recompute_set(nodes[arguments["target"]], kept)]


def _chart(_task: str, case: Case, answer: Any) -> Chart | None:
    """Bytes at each step: before the task's change, after it, and as the engine has them."""
    if "line" not in case.wanted:
        return None
    mine, budget = line_after(case, answer)
    lines = {
        "before": tuple(line_before(case).total),
        "yours": tuple(mine.total),
        "reference": tuple(case.wanted["line"]),
    }
    return Chart(f"Memory held at each step, on {case.name}", lines, case.wanted[budget])


_SHIPPED = "labs/lab4a/cases/*.{}.dot"
_CLONES, _REWIRED = _SHIPPED.format("injected"), _SHIPPED.format("rewired")

HIDDEN = Hidden(
    lab="lab4a",
    cases=Path(__file__).with_name("hidden_cases.json"),
    lent={"2.2": ("recompute_set",)},
    aid={"1.3": ("seconds",)},
    lend=_lend,
    chart=_chart,
    compared=compared,
    cuts={
        "1.1": graphs.WITHOUT_TRACING,  # which tells the kinds
        "1.4": graphs.WITHOUT_MEMORY,
        "2.1": Cut(frozenset({_CLONES, _REWIRED})),
        "2.2": Cut(frozenset({_CLONES, _REWIRED})),
        "3.1": Cut(frozenset({_REWIRED})),
    },
    preload=graphs.PRELOAD,
    warm_up=("lab_utils.labs.lab4a.warm:warm_up",),
    # A right hand-in takes three seconds in all.
    limits=Limits(cell_seconds=20, notebook_seconds=60, question_seconds=10),
)
