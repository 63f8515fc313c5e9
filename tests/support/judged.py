"""A task asked and judged in this process, on its public and its hidden cases."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

from autograder.grading.hidden import hidden_of
from lab_utils.kit.ask import attempt
from lab_utils.kit.judge import Verdict, judge_all
from lab_utils.kit.lab import lab_called
from lab_utils.kit.task import Case


def verdict_of(
    lab_id: str, task_id: str, answer: Any, cases: Sequence[Case] | None = None, lend: bool = False
) -> Verdict:
    """The verdict on ``answer``; with ``lend`` it calls right versions of earlier functions."""
    lab, task = lab_called(lab_id), lab_called(lab_id).task_called(task_id)
    cases = hidden_of(lab_id).graded_cases(task_id) if cases is None else cases
    judge = import_module(f"{lab.home}.judge").JUDGE[task_id]
    replies, public = [], lab.public_cases(task_id)
    for case in cases:
        with lent(lab_id, task_id, answer, case, lend):
            names = hidden_of(lab_id).aid.get(task_id, ()) if case not in public else ()
            given = {**case.given, **{n: partial(_lend, lab_id, n, case) for n in names}}
            replies.append(attempt(task, lab.ask(task_id), answer, given))
    return judge_all(task, judge, cases, replies, lab.noun)


def points_of(lab_id: str, task_id: str, answer: Any) -> float:
    """The points as the grader gives them: a mistake is paid for in its own task.

    Hidden cases decide: a public one counts no more than they do.
    """
    own = verdict_of(lab_id, task_id, answer)
    if not own.passed and task_id in hidden_of(lab_id).lent:
        lent_to = verdict_of(lab_id, task_id, answer, lend=True)
        own = max(own, lent_to, key=lambda verdict: verdict.points)
    right = [not findings for _, findings in own.found]
    first = len(lab_called(lab_id).public_cases(task_id))
    worth = lab_called(lab_id).task_called(task_id).points
    return round(worth * hidden_decide(right, first), 4)


def hidden_decide(right: Sequence[bool], first: int) -> float:
    """The share of the points for cases of which the ``first`` are public."""
    public, hidden = right[:first], right[first:]
    if not hidden:
        return sum(public) / len(public)
    most = sum(hidden) / len(hidden) * len(public)
    return (min(sum(public), most) + sum(hidden)) / len(right)


@contextmanager
def lent(
    lab_id: str, task_id: str, function: Any, case: Case, lend: bool = True
) -> Iterator[list[str]]:
    """While this is open, ``function`` calls right versions, as plain data crosses a wire."""
    space = _globals(function)
    names = [name for name in hidden_of(lab_id).lent.get(task_id, ()) if lend and name in space]
    own = {name: space[name] for name in names}
    space.update(
        {n: lab_called(lab_id).borrowed(n)(partial(_lend, lab_id, n, case)) for n in names}
    )
    try:
        yield names
    finally:
        space.update(own)


def _globals(function: Any) -> dict[str, Any]:
    """Where a function, or the methods of a class, look names up."""
    parts = [function, *(vars(function).values() if isinstance(function, type) else ())]
    return next((part.__globals__ for part in parts if hasattr(part, "__globals__")), {})


def _lend(lab_id: str, name: str, case: Case, arguments: Any) -> Any:
    return _crossed(hidden_of(lab_id).lend(name, case, _crossed(arguments)))


def _crossed(value: Any) -> Any:
    return json.loads(json.dumps(value))
