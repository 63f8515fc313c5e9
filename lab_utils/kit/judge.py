"""The judge's half of a check: what is wrong with a reply, and what that is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Case, Finding, Judge, Task, counted

_SHOWN = 3


@dataclass(frozen=True)
class Verdict:
    """What a check found on all cases of one task; ``noun`` is what a case is called."""

    task: Task
    found: tuple[tuple[str, tuple[Finding, ...]], ...]
    noun: str = "case"

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong on any case."""
        return not any(findings for _, findings in self.found)

    @property
    def points(self) -> float:
        """Points of the task, by the share of cases without a finding."""
        right = sum(not findings for _, findings in self.found)
        return round(self.task.points * right / len(self.found), 2) if self.found else 0.0

    def __str__(self) -> str:
        if self.passed:
            on = counted(len(self.found), self.noun)
            return f"Task {self.task.id}  {self.task.title}: passed on {on}."
        by_findings: dict[tuple[Finding, ...], list[str]] = {}
        for name, findings in self.found:
            if findings:
                by_findings.setdefault(findings, []).append(name)
        lines: list[str] = []
        for findings, names in by_findings.items():
            more = len(names) - 1
            others = f" (and on {counted(more, f'more {self.noun}')})" if more else ""
            lines.append(f"Task {self.task.id}  {names[0]}{others}")
            lines += map(str, findings[:_SHOWN])
            if len(findings) > _SHOWN:
                lines.append(f"  … and {len(findings) - _SHOWN} more like this")
        return "\n".join(lines)


def outcome(task: Task, judge: Judge, case: Case, reply: Mapping[str, Any]) -> tuple[Finding, ...]:
    """What is wrong with ``reply``; nothing if it is right."""
    if "error" in reply:
        words = (reply["error"], reply.get("wanted", task.returns), reply.get("look", ""))
        return (Finding(*map(str, words)),)
    try:
        return tuple(judge(case, reply.get("answer")))
    except LabError as error:
        return (Finding(str(error), error.wanted, error.look),)


def judge_all(
    task: Task,
    judge: Judge,
    cases: Iterable[Case],
    replies: Sequence[Mapping[str, Any]],
    noun: str = "case",
) -> Verdict:
    """The verdict on the replies to all cases."""
    found = zip(cases, replies, strict=True)
    told = ((case.name, outcome(task, judge, case, reply)) for case, reply in found)
    return Verdict(task, tuple(told), noun)
