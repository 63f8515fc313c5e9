"""What the judge of Lab 4A has at hand: right functions to lend, and pictures for feedback."""

from __future__ import annotations

from typing import Any

from torch import fx

from autograder.grading.verdict import Chart
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


def lend(name: str, case: Case, arguments: Any) -> Any:
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


def chart(_task: str, case: Case, answer: Any) -> Chart | None:
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
