"""What a wrong answer to a task loses at least, on as few cases as show it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import Any

from autograder.grading.hidden import hidden_of
from autograder.grading.judge.process import Judge
from lab_utils.kit.ask import attempt
from lab_utils.kit.judge import outcome
from lab_utils.kit.lab import lab_called
from lab_utils.kit.task import Case
from tests.support.judged import lent


@dataclass
class Loss:
    """What came of the cases that were asked."""

    share: float = 1.0
    """Of the task's points, at most: every case that was not asked counts as right."""
    said: str = ""
    told: set[str] = field(default_factory=set)
    """What a student hears of hidden cases."""
    forged: bool = False


def losing(
    lab_id: str,
    task_id: str,
    function: Any,
    most: float,
    says: Sequence[str] = (),
    lend: bool = False,
) -> Loss:
    """Ask case after case, those with few ranks first, until ``says`` is said and enough lost.

    With ``lend`` the function calls right versions of earlier functions.
    """
    lab = lab_called(lab_id)
    task, cases = lab.task_called(task_id), hidden_of(lab_id).graded_cases(task_id)
    judge = import_module(f"{lab.home}.judge").JUDGE[task_id]
    public = len(lab.public_cases(task_id))
    right, loss = [True] * len(cases), Loss()
    for place in sorted(range(len(cases)), key=lambda at: (at >= public, _ranks(cases[at]))):
        case = cases[place]
        with lent(lab_id, task_id, function, case) if lend else nullcontext():
            reply = attempt(task, lab.ask(task_id), function, case.given)
        findings = outcome(task, judge, case, reply)
        right[place] = not findings
        loss.said += "".join(f"{finding}\n" for finding in findings)
        if place >= public:
            judged = _judge(lab_id).judge(task_id, place, reply)
            loss.forged |= judged["forged"]
            loss.told |= {finding["look"] for finding in judged["findings"]}
        loss.share = _share(right, public)
        if loss.share <= most and loss.told and all(words in loss.said for words in says):
            break
    return loss


@cache
def _judge(lab_id: str) -> Judge:
    return Judge(lab_id)


def _ranks(case: Case) -> int:
    return int(case.given.get("ranks", case.given.get("stages", 0)))


def _share(right: Sequence[bool], public: int) -> float:
    """What share of its points an answer gets: hidden cases decide."""
    hidden = sum(right[public:]) / len(right[public:])
    seen = min(sum(right[:public]) / public, hidden)
    return (public * seen + (len(right) - public) * hidden) / len(right)
