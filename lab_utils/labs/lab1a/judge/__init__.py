"""What is right in the tasks of Lab 1A, and what a wrong answer was probably thinking.

No formula stands here. A case brings what is right, and what each usual slip would answer; the
sentence that belongs to a slip is in ``looks``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab1a.judge.looks import LOOK
from lab_utils.labs.lab1a.records import Times


def _slip(case: Case, answer: Any, part: Any = None) -> str:
    """The slip that gives ``answer``; empty if none is known."""
    for name, value in case.wanted.get("slips", []):
        told = value if part is None else value.get(part) if isinstance(value, dict) else None
        if told is not None and _same(told, answer):
            return str(name)
    return ""


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        whole = isinstance(one, int) and isinstance(other, int)
        return one == other if whole else isclose(one, other, rel_tol=1e-9, abs_tol=1e-30)
    return bool(one == other)


def _look(case: Case, task: str, answer: Any, part: Any = None) -> str:
    return LOOK[task][_slip(case, answer, part)]


def judge_elements(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 1.1: three numbers of elements."""
    wanted = case.wanted["elements"]
    if _same(wanted, answer):
        return []
    look = _look(case, "1.1", answer)
    if look == LOOK["1.1"][""]:  # one of the three may be a slip by itself
        names = ("input", "weight", "output")
        wrong = [n for n, a, b in zip(names, answer, wanted, strict=True) if not _same(a, b)]
        parts = [_look(case, "1.1", answer[names.index(name)], name) for name in wrong]
        look = next((one for one in parts if one != look), look)
    return [Finding(_three(answer), _three(wanted), look)]


def _three(values: Sequence[float]) -> str:
    names = ("input", "weight", "output")
    return ", ".join(f"{n} {v:,}" for n, v in zip(names, values, strict=True))


def _operations(task: str) -> Any:
    def judge(case: Case, answer: float) -> list[Finding]:
        wanted = case.wanted["operations"]
        if _same(wanted, answer):
            return []
        look = _look(case, task, answer)
        return [Finding(f"{answer:,} operations", f"{wanted:,} operations", look)]

    return judge


def judge_times(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.1: four numbers and a word; what only follows from another slip is not told twice."""
    wanted, found = case.wanted["times"], []
    for name in Times._fields:
        mine, right = answer[name], wanted[name]
        if _same(mine, right):
            continue
        if name == "bound":
            words = (f"bound: {str(mine)[:40]!r}", f"bound: {right!r}", LOOK["2.1"]["bound"])
        else:
            unit = "operations for each byte" if name == "intensity" else "s"
            words = (f"{name} {mine:.6g} {unit}", f"{name} {right:.6g} {unit}", "")
            words = (*words[:2], _look(case, "2.1", mine, name))
        found.append(Finding(*words))
    compute, memory = answer["compute"], answer["memory"]
    follows = {
        "execution": _same(answer["execution"], max(compute, memory)),
        "bound": answer["bound"] == ("compute" if compute > memory else "memory"),
    }
    causes = [one for one in found if not follows.get(one.yours.partition(" ")[0].strip(":"))]
    return causes or found


def judge_network(case: Case, answer: Sequence[Any]) -> list[Finding]:
    """Task 2.2: the operators, in their order."""
    wanted = case.wanted["network"]
    if len(answer) != len(wanted):
        yours, right = (f"{len(one)} operators" for one in (answer, wanted))
        return [Finding(yours, right, LOOK["2.2"]["count"])]
    found = []
    for place, (mine, right) in enumerate(zip(answer, wanted, strict=True)):
        if not _same(mine, right):
            yours, theirs = (f"operator {place + 1}: {_operator(one)}" for one in (mine, right))
            found.append(Finding(yours, theirs, _look(case, "2.2", mine, str(place))))
    return found


def judge_row(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.3: column by column; columns with the same slip are told together."""
    wanted, by_look = case.wanted["row"], dict[str, list[str]]()
    for name, right in wanted.items():
        if not _same(answer[name], right):
            letter = isinstance(right, str)
            look = LOOK["2.3"]["letter"] if letter else _look(case, "2.3", answer[name], name)
            by_look.setdefault(look, []).append(name)
    found = []
    for look, names in by_look.items():
        first, *more = names
        also = f" (and {', '.join(more)})" if more else ""
        found.append(Finding(f"{first}: {_short(answer[first])}{also}", _wish(first, wanted), look))
    return found


def _wish(column: str, row: Mapping[str, Any]) -> str:
    return f"{column}: {_short(row[column])}"


def _short(value: Any) -> str:
    return repr(value[:40]) if isinstance(value, str) else f"{value:.6g}"


def _operator(pair: Sequence[Any]) -> str:
    return f"{str(pair[0])[:40]} {pair[1]}"


def _layer(task: str, unit: str) -> Any:
    def judge(case: Case, answer: Mapping[str, float]) -> list[Finding]:
        wanted = case.wanted["layer"]
        by_look: dict[str, list[str]] = {}
        for name, right in wanted.items():
            if not _same(answer[name], right):
                by_look.setdefault(_look(case, task, answer[name], name), []).append(name)
        found = []
        for look, names in by_look.items():
            first, *more = names
            also = f" (and {', '.join(more)})" if more else ""
            yours = f"{first}: {answer[first]:,} {unit}{also}"
            found.append(Finding(yours, f"{first}: {wanted[first]:,} {unit}", look))
        return found

    return judge


def judge_memory(case: Case, answer: Sequence[float]) -> list[Finding]:
    """Task 2.6: bytes of weights and of the cache."""
    found = []
    for name, mine, right in zip(("weights", "cache"), answer, case.wanted["memory"], strict=True):
        if not _same(mine, right):
            words = (f"{name}: {mine:,} bytes", f"{name}: {right:,} bytes")
            found.append(Finding(*words, _look(case, "2.6", mine, name)))
    return found


def judge_ridge(case: Case, answer: float | None) -> list[Finding]:
    """Task 2.7: the first batch that crosses, or none."""
    wanted = case.wanted["batch"]
    if _same(wanted, answer):
        return []
    yours, right = ("never" if n is None else f"batch {n:,}" for n in (answer, wanted))
    if answer is None:
        return [Finding(yours, right, LOOK["2.7"]["never"])]
    if wanted is None:
        return [Finding(yours, right, LOOK["2.7"]["always"])]
    return [Finding(yours, right, _look(case, "2.7", answer))]


JUDGE = {
    "1.1": judge_elements,
    "1.2": _operations("1.2"),
    "1.3": _operations("1.3"),
    "1.4": _operations("1.4"),
    "1.5": _operations("1.5"),
    "2.1": judge_times,
    "2.2": judge_network,
    "2.3": judge_row,
    "2.4": _layer("2.4", "FLOPs"),
    "2.5": _layer("2.5", "elements"),
    "2.6": judge_memory,
    "2.7": judge_ridge,
}
