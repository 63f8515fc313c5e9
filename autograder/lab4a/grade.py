"""The instructors' check: the public graphs and the hidden ones, and points for them.

Graded notebooks import this ``check`` in place of the students'. What it returns,
nbgrader stores as the score of the cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from torch import fx

from autograder.engine.rewrite import recompute_set
from lab_utils.checks import Case, run_check
from lab_utils.lab4a import public_cases, task_called


def check(task_id: str, answer: Any) -> float:
    """Points for a task, by the share of public and hidden graphs on which it is right."""
    task, cases = task_called(task_id), graded_cases(task_id)
    verdict = run_check(task, answer, cases)
    if not verdict.passed:
        with _lent(task_id, answer) as lent:
            if lent:  # the better of the two: a mistake is paid for in its own task
                verdict = max(verdict, run_check(task, answer, cases), key=lambda v: v.points)
    print(verdict)
    return verdict.points


@contextmanager
def _lent(task_id: str, function: Any) -> Iterator[bool]:
    """While this is open, ``function`` calls right versions of what earlier tasks ask for."""
    space = getattr(function, "__globals__", {})
    helpers = {k: v for k, v in _LENT.get(task_id, {}).items() if k in space}
    own = {name: space[name] for name in helpers}
    space.update(helpers)
    try:
        yield bool(helpers)
    finally:
        space.update(own)


def _recompute_set(target: fx.Node, kept: set[fx.Node]) -> list[fx.Node]:
    calls = {n for n in target.graph.nodes if n.op == "call_function"}
    return recompute_set([target], calls - set(kept)) if target in calls - set(kept) else []


_LENT = {"2.2": {"recompute_set": _recompute_set}}


def graded_cases(task_id: str) -> list[Case]:
    """The public cases of a task, then its hidden ones."""
    return public_cases(task_id) + [Case(**data) for data in _hidden().get(task_id, [])]


@cache
def _hidden() -> dict[str, list[dict[str, Any]]]:
    return json.loads(Path(__file__).with_name("hidden_cases.json").read_text(encoding="utf-8"))
