"""The judge's half of a check: what is wrong with a reply, and what that is worth."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lab_utils.kit.errors import LabError
from lab_utils.kit.task import OR, Case, Finding, Judge, Task, counted

_SHOWN = 3
#: What differs between two findings of one sort: names, numbers, and what stands in quotes.
_PARTICULAR = re.compile(r"\"[^\"]*\"|'[^']*'|\[[^\]]*\]|\w*[\d_]\w*(?:[.,]\d+)*")


_QUOTED, _WORD = re.compile(r"'(\w+)'"), re.compile(r"\w+")


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
        # A case that shows nothing new is only counted.
        mistakes: list[tuple[set[str], str, tuple[Finding, ...], list[str]]] = []
        for name, findings in _likeliest(self.found):
            sorts = set(by_sort(findings))
            told = next((others for known, *_, others in mistakes if sorts <= known), None)
            if findings and told is None:
                mistakes.append((sorts, name, findings, []))
            elif findings and told is not None:
                told.append(name)
        lines: list[str] = []
        for _, name, findings, others in mistakes:
            more = counted(len(others), f"more {self.noun}")
            also = f" (and on {more})" if others else ""
            lines.append(f"Task {self.task.id}  {name}{also}")
            lines += _in_words(findings)
        return "\n".join(lines)


def _likeliest(
    found: Iterable[tuple[str, tuple[Finding, ...]]],
) -> list[tuple[str, tuple[Finding, ...]]]:
    """The same findings; of several explanations those that hold on most cases."""
    found = list(found)
    holds = Counter(
        why for _, findings in found for why in {w for f in findings for w in f.look.split(OR)}
    )

    def narrowed(finding: Finding) -> Finding:
        whys = finding.look.split(OR)
        most = max(holds[why] for why in whys)
        return replace(finding, look=OR.join(why for why in whys if holds[why] == most))

    return [(name, tuple(map(narrowed, findings))) for name, findings in found]


def by_sort(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Findings of one sort together: what they say but for names and numbers is the same."""
    sorts: dict[str, list[Finding]] = {}
    for finding in findings:
        sorts.setdefault(_sort(finding), []).append(finding)
    return sorts


def _sort(finding: Finding) -> str:
    named = set(_QUOTED.findall(f"{finding.yours} {finding.wanted}"))
    plain = _WORD.sub(lambda word: "…" if word[0] in named else word[0], finding.look)
    return _PARTICULAR.sub("…", plain)


def _in_words(findings: Sequence[Finding]) -> Iterator[str]:
    """The first finding of each sort in full, the others counted: one mistake, one message."""
    sorts = list(by_sort(findings).values())
    for first, *others in sorts[:_SHOWN]:
        yield str(first)
        if others:
            yield f"  … and {len(others)} more like this"
    if left := sum(map(len, sorts[_SHOWN:])):
        yield f"  … and {left} more of another sort"


def outcome(task: Task, judge: Judge, case: Case, reply: Mapping[str, Any]) -> tuple[Finding, ...]:
    """What is wrong with ``reply``; nothing if it is right."""
    if "error" in reply:
        words = (reply["error"], reply.get("wanted", task.returns), reply.get("look", ""))
        yours, wanted, look = map(str, words)
        return (Finding(yours, wanted, look),)
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
