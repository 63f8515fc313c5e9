"""The instructors' side of Lab 4A: its hidden graphs, and what a judge needs beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import fx

import lab_utils.labs.lab4a
from autograder.grading.judge.graded import Graded
from autograder.reference.rewrite import recompute_set
from lab_utils.kit.checks import Case
from lab_utils.labs.graphs.replies import shared_graph
from lab_utils.labs.graphs.rewrite_judge import by_name
from lab_utils.labs.graphs.rewrite_picture import line_after, line_before
from lab_utils.steps.compare.diff import diff
from lab_utils.steps.dot.read import read_dot


def _recompute_set(target: fx.Node, kept: set[fx.Node]) -> list[fx.Node]:
    calls = {n for n in target.graph.nodes if n.op == "call_function"}
    return recompute_set([target], calls - set(kept)) if target in calls - set(kept) else []


#: What earlier tasks ask for, by the task that may call right versions of it.
LENT = {"2.2": {"recompute_set": _recompute_set}}
_LAB = Graded(lab_utils.labs.lab4a, Path(__file__).with_name("hidden_cases.json"), lent=LENT)
check, graded_cases, _lent = _LAB.check, _LAB.cases, _LAB.lent


def lend(task_id: str, name: str, case: Case, arguments: Any) -> Any:
    """What a right version of ``name`` answers on the graph of a case, in plain data.

    Raises:
        KeyError, TypeError: the arguments are none of a student's honest call.
    """
    nodes = by_name(shared_graph(case.given["graph"]))
    kept = {nodes[kept] for kept in arguments["kept"] if kept in nodes}
    return [node.name for node in LENT[task_id][name](nodes[arguments["target"]], kept)]


def memory_lines(case: Case, answer: Any) -> dict[str, Any] | None:
    """Bytes at each step for the pictures of the feedback; None for a task without a line."""
    if "line" not in case.wanted:
        return None
    mine, budget = line_after(case, answer)
    return {
        "before": line_before(case).total,
        "yours": mine.total,
        "reference": case.wanted["line"],
        "budget": case.wanted[budget],
    }


def difference(made: Any, handed_in: Any) -> str:
    """How the file that the notebooks make differs from the one that was handed in, in words."""
    if made == handed_in:
        return ""
    first, second = read_dot(made["dot"] + "\n"), read_dot(handed_in["dot"] + "\n")
    return next((found.text for found in diff(first, second)), "")
