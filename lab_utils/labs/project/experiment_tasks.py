"""Tasks of notebook 06: the analysis, a rewriter for real models, and the data."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from pathlib import Path
from typing import Any

from lab_utils.kit.checks import BadAnswer, Case, Finding, Task
from lab_utils.labs.graphs.replies import changed_graph, graph_of, node_named, number, told_name
from lab_utils.labs.graphs.rewrite_judge import (
    by_name,
    changed_nodes,
    over_budget,
    unwritable,
    wrong_values,
)
from lab_utils.labs.project.candidate_tasks import seconds_of
from lab_utils.labs.project.plan_picture import rewritten
from lab_utils.labs.project.result_problems import (
    baseline_problems,
    latency_problems,
    recomputed_problems,
)
from lab_utils.labs.project.results import Problems, Results
from lab_utils.labs.project.results_picture import baseline, latency, recomputed
from lab_utils.labs.project.selection_pictures import analysed
from lab_utils.steps.kept import is_early
from lab_utils.steps.schedule import program_order

_COLUMNS = ("bytes", "idle_seconds", "recompute_seconds")


def _ask_analyse(function: Any, given: Mapping[str, Any]) -> Any:
    graph = graph_of(given["graph"])
    table = function(graph, seconds_of(graph, given))
    rows = getattr(table, "to_dict", lambda _: None)("records")
    if rows is None:
        raise BadAnswer(f"return a pandas DataFrame, not {type(table).__name__}")
    if missing := {"activation", *_COLUMNS} - set(table.columns):
        raise BadAnswer(f"the table has no column called {sorted(missing)[0]!r}")
    return {
        told_name(row["activation"], "activation"): [number(row[c], c) for c in _COLUMNS]
        for row in rows
    }


_LOOKS = (
    "The bytes that dropping it frees (task 5.1).",
    "The time of all operators that run after its last use in forward and before its first use "
    "in backward.",
    "The time of its path, each operator once (task 5.3).",
)


def _judge_analyse(case: Case, answer: Mapping[str, list[float]]) -> list[Finding]:
    wanted: Mapping[str, list[float]] = case.wanted["rows"]
    findings = [
        Finding(f"a row for {name}", "none", "One row for each candidate (task 5.1).")
        for name in answer
        if name not in wanted
    ]
    for name, right in wanted.items():
        if name not in answer:
            findings.append(Finding(f"no row for {name}", "one", "One row for each candidate."))
            continue
        for column, mine, value, look in zip(_COLUMNS, answer[name], right, _LOOKS, strict=True):
            if not isclose(mine, value, rel_tol=1e-6, abs_tol=1e-12):
                findings.append(
                    Finding(f"{name}: {column} {mine:g}", f"{name}: {column} {value:g}", look)
                )
    return findings


def _ask_recompute(function: Any, given: Mapping[str, Any]) -> Any:
    graph = graph_of(given["graph"])
    function(graph, [node_named(graph, name) for name in given["drop"]])
    return changed_graph(graph)


def _judge_recompute(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    base = graph_of(case.given["graph"])
    if found := unwritable(base, answer):
        return found
    mine = graph_of(answer["dot"])
    early = [n.name for n in base.nodes if n.op == "call_function" and is_early(n)]
    if found := changed_nodes(by_name(base), by_name(mine), early):
        return found
    schedule = program_order(mine)
    look = (
        "Clones right before their first reader, in the order of the originals, and shared; a "
        "tuple's getitem nodes along with it."
    )
    return wrong_values(base, mine, schedule) + over_budget(
        mine, schedule, case.wanted["nbytes"], look
    )


def _ask_file(path: Any, _given: Mapping[str, Any]) -> Any:
    file = Path(path)
    return {"file": file.name, "text": file.read_text(encoding="utf-8") if file.is_file() else ""}


def _first(problems: Problems) -> list[Finding]:
    return list(problems.values())[:1]


def _judge_baseline(_case: Case, answer: Mapping[str, str]) -> list[Finding]:
    return _first(baseline_problems(Results(answer, "models")))


def _judge_recomputed(case: Case, answer: Mapping[str, str]) -> list[Finding]:
    """A hidden case knows how to simulate the plans again."""
    return _first(recomputed_problems(Results(answer, "models"), case.wanted.get("simulate")))


def _judge_latency(_case: Case, answer: Mapping[str, str]) -> list[Finding]:
    return _first(latency_problems(Results(answer, "timed")))


TASKS = (
    Task(
        "6.1",
        "the static analysis",
        1,
        _ask_analyse,
        _judge_analyse,
        analysed,
        takes="graph, seconds",
        returns=f"a DataFrame with the columns activation, {', '.join(_COLUMNS)}",
    ),
    Task("6.2", "peaks without recomputation", 0.75, _ask_file, _judge_baseline, baseline),
    Task(
        "6.3",
        "a rewriter for real models",
        1,
        _ask_recompute,
        _judge_recompute,
        rewritten,
        takes="graph, drop",
        returns="nothing: it changes the graph",
    ),
    Task("6.4", "peaks with recomputation", 0.75, _ask_file, _judge_recomputed, recomputed),
    Task("6.5", "the latency", 0.5, _ask_file, _judge_latency, latency),
)
