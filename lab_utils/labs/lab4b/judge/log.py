"""Task 1.6: eight numbers from a simulator's log."""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab4b.metrics import METRICS


def judge_log(case: Case, answer: Mapping[str, float]) -> list[Finding]:
    """All eight metrics of sys[0]."""
    for name in METRICS:
        if name not in answer:
            look = "The dict has all names of METRICS as its keys."
            return [Finding(f"no {name}", "all eight metrics", look)]
    for name in METRICS:
        got, right = answer[name], case.wanted["metrics"][name]
        if not _same(got, right):
            return [Finding(f"{name} is {got:g}", f"{right:g}", _why(case, name, got, right))]
    if set(answer) != set(METRICS):
        more = sorted(set(answer) - set(METRICS))
        look = "Only the names of METRICS are wanted."
        return [Finding(f"also {more[0]}", "these eight metrics alone", look)]
    return []


def _why(case: Case, name: str, got: float, right: float) -> str:
    others = case.wanted["others"]
    if any(_same(got, other[name]) for other in others):
        return "This is the number of another system: only lines of sys[0] count, not of sys[10]."
    if name == "peak_memory_usage":
        if _same(got, case.wanted["peak"]):
            return (
                "This has the unit of the log. Bytes are wanted: the unit stands behind the number."
            )
        if any(_same(got, case.wanted["peak"] * 1000**power) for power in range(5)):
            return "A KB of this log has 1024 bytes, a GB has 2**30: not 10**9."
        return "Bytes are wanted: the number times its unit, where a KB has 1024 bytes."
    if _same(got * 100, right):
        return "The log says percent, and percent is wanted: do not divide by 100."
    if any(_same(got, value) for value in case.wanted["metrics"].values()):
        return "This is another metric of sys[0]: look at the words before the number."
    if _same(got, case.wanted["exposed"]) or _same(got, case.wanted["overlap"]):
        return "This is another number of sys[0]: look at the words before the number."
    return "Look for the line of sys[0] with the words of this metric, and take its number."


def _same(one: float, other: float) -> bool:
    return isclose(one, other, rel_tol=1e-9)
