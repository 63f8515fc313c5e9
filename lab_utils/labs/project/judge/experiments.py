"""What is right in notebook 06: the analysis, a rewriter for real models, the data."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from typing import Any

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.graphs.judge import changed_nodes, over_budget, unwritable, wrong_values
from lab_utils.labs.graphs.nodes import by_name
from lab_utils.labs.graphs.replies import shared_graph
from lab_utils.labs.project.judge.result_problems import (
    baseline_problems,
    latency_problems,
    recomputed_problems,
)
from lab_utils.labs.project.judge.results import Problems, Results
from lab_utils.steps.kept import is_early
from lab_utils.steps.schedule import program_order

_COLUMNS = ("bytes", "idle_seconds", "recompute_seconds")


_LOOKS = (
    "The bytes that dropping it frees (task 5.1).",
    "The time of all operators that run after its last use in forward and before its first use "
    "in backward.",
    "The time of its path, each operator once (task 5.3).",
)


def judge_analyse(case: Case, answer: Mapping[str, list[float]]) -> list[Finding]:
    """Task 6.1: the static analysis."""
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


def judge_recompute(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 6.3: a rewriter for real models."""
    base = shared_graph(case.given["graph"])
    if found := unwritable(base, answer):
        return found
    mine = shared_graph(answer["dot"])
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


def _first(problems: Problems) -> list[Finding]:
    return list(problems.values())[:1]


def judge_baseline(_case: Case, answer: Mapping[str, str]) -> list[Finding]:
    """Task 6.2: peaks without recomputation."""
    return _first(baseline_problems(Results(answer, "models")))


def judge_recomputed(case: Case, answer: Mapping[str, str]) -> list[Finding]:
    """A hidden case knows how to simulate the plans again."""
    return _first(recomputed_problems(Results(answer, "models"), case.wanted.get("simulate")))


def judge_latency(_case: Case, answer: Mapping[str, str]) -> list[Finding]:
    """Task 6.5: the latency."""
    return _first(latency_problems(Results(answer, "timed")))
