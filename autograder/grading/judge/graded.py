"""The instructors' check: the public cases of a lab and the hidden ones, and points for them.

Graded notebooks import the ``check`` of their lab's ``grade`` module in place of the
students'. What it returns, nbgrader stores as the score of the cell.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from lab_utils.kit.checks import Case, run_check


class Graded:
    """A lab's tasks with their hidden cases.

    Args:
        lab: the students' side, such as ``lab_utils.labs.lab4a``.
        hidden: the file with the hidden cases.
        lent: for a task, right versions of the functions of earlier tasks that it calls.
        more: for a task, hidden cases that are no plain data: they want functions of ours.
    """

    def __init__(
        self,
        lab: ModuleType,
        hidden: Path,
        lent: Mapping[str, Mapping[str, Callable[..., Any]]],
        more: Mapping[str, Sequence[Case]] | None = None,
    ) -> None:
        self._lab = lab
        self._file = hidden
        self._lent = lent
        self._more = more or {}

    def check(self, task_id: str, answer: Any) -> float:
        """Points for a task, by the share of public and hidden cases on which it is right."""
        task, cases = self._lab.task_called(task_id), self.cases(task_id)
        public = len(self._lab.public_cases(task_id))
        verdict = run_check(task, answer, cases, drawn=public)
        if not verdict.passed:
            with self.lent(task_id, answer) as lent:
                if lent:  # the better of the two: a mistake is paid for in its own task
                    again = run_check(task, answer, cases, drawn=0)
                    verdict = max(verdict, again, key=lambda v: v.points)
        print(verdict)
        return verdict.points

    def cases(self, task_id: str) -> list[Case]:
        """The public cases of a task, then its hidden ones."""
        hidden = [Case(**data) for data in self._hidden.get(task_id, [])]
        return [*self._lab.public_cases(task_id), *hidden, *self._more.get(task_id, ())]

    @contextmanager
    def lent(self, task_id: str, function: Any) -> Iterator[bool]:
        """While this is open, ``function`` calls right versions of what earlier tasks ask for."""
        space = getattr(function, "__globals__", {})
        helpers = {k: v for k, v in self._lent.get(task_id, {}).items() if k in space}
        own = {name: space[name] for name in helpers}
        space.update(helpers)
        try:
            yield bool(helpers)
        finally:
            space.update(own)

    @cached_property
    def _hidden(self) -> dict[str, list[dict[str, Any]]]:
        return json.loads(self._file.read_text(encoding="utf-8"))
