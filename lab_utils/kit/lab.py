"""A lab, as all of the kit knows it: plain data, and four modules that are loaded when needed.

``lab_utils/labs/<lab>/__init__.py`` holds ``LAB = Lab(…)``. Beside it lie

``ask``     ``ASK``: by task, how to call what the student wrote; ``BORROWED``: by name, stand-ins
            for functions of earlier tasks whose work is done elsewhere
``judge``   ``JUDGE``: by task, what is wrong with an answer
``show``    ``SHOW``: by task, a picture of the answer beside what is wanted
``cases/``  ``given.json`` and ``wanted.json``: the public cases, by task

What judges, shows or knows what is wanted is not there when a hand-in is graded.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lab_utils.kit.ask import attempt
from lab_utils.kit.errors import CheckFailed, LabError
from lab_utils.kit.files import HandedIn
from lab_utils.kit.task import Ask, Borrow, Case, Finding, Reply, Task

LABS = "lab_utils.labs"

Elsewhere = Callable[[str, str, Reply], list[dict[str, Any]]]
"""Judges a reply to a task of a lab (both by id) on its first public case, in another process."""
_elsewhere: list[Elsewhere] = []


def judged_elsewhere(judge: Elsewhere) -> None:
    """From here on ``judge`` stands in for judge halves, which are not there."""
    _elsewhere[:] = [judge]


@dataclass(frozen=True)
class Small:
    """How a lab is tried in seconds: an environment variable, its value, and that of grading."""

    variable: str
    value: str
    graded: str


@dataclass(frozen=True)
class Lab:
    """A lab on the students' side."""

    home: str
    """Its package: ``__name__``."""
    tasks: tuple[Task, ...]
    noun: str = "case"
    """What a case is called: graph, machine, mesh."""
    files: tuple[HandedIn, ...] = ()
    """What is handed in beside the notebooks."""
    packages: tuple[str, ...] = ()
    """Optional dependencies in ``pyproject.toml`` that its notebooks need."""
    optional: tuple[str, ...] = ()
    """Optional dependencies that its notebooks use where they are there, and do without."""
    small: Small | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    """What notebooks import from its package besides ``check``, by the module that has it."""

    @property
    def id(self) -> str:
        """The name of its folders, and of its entry in ``setup/course.toml``."""
        return self.home.rpartition(".")[2]

    def task_called(self, task_id: str) -> Task:
        """The task ``task_id``, such as ``"2.1"``.

        Raises:
            LabError: there is none; the message lists those that there are.
        """
        for task in self.tasks:
            if task.id == task_id:
                return task
        known = ", ".join(task.id for task in self.tasks)
        raise LabError(f"there is no task {task_id!r}: the tasks are {known}")

    def noun_for(self, task: Task) -> str:
        """What a task is tried on: a case, by the lab's word for it, or a file."""
        return "file" if task.is_of_file else self.noun

    def public_cases(self, task_id: str) -> list[Case]:
        """The cases on which students check their work."""
        given, wanted = self._given.get(task_id, []), self._wanted.get(task_id)
        if wanted is None:
            wanted = [{} for _ in given]
        pairs = self._with_texts([[*pair] for pair in zip(given, wanted, strict=True)])
        return [Case(case["name"], case["given"], right) for case, right in pairs]

    def check(self, task_id: str, answer: Any) -> None:
        """Try a task on the public cases; ``answer`` is the function (or file) that it asks for.

        Raises:
            CheckFailed: something is wrong; the text tells what, and where to look.
        """
        task, cases = self.task_called(task_id), self.public_cases(task_id)
        if not self._has_judge:
            print(f"Task {task.id}  {task.title}: judged when the notebook has run.")
            return
        from lab_utils.kit.judge import judge_all
        from lab_utils.kit.show import show

        ask = self.ask(task_id)
        replies = [attempt(task, ask, answer, case.given) for case in cases]
        noun = self.noun_for(task)
        verdict = judge_all(task, self._half("judge", "JUDGE")[task_id], cases, replies, noun)
        if draw := self._half("show", "SHOW").get(task_id):
            show(draw, cases, replies, verdict)
        if not verdict.passed:
            raise CheckFailed(str(verdict))
        print(verdict)

    def findings(self, task_id: str, answer: Any) -> tuple[Finding, ...]:
        """What is wrong with an answer on the first public case; nothing if it is right."""
        task, case = self.task_called(task_id), self.public_cases(task_id)[0]
        reply = attempt(task, self.ask(task_id), answer, case.given)
        if not self._has_judge:
            (judge,) = _elsewhere
            return tuple(Finding(**finding) for finding in judge(self.id, task_id, reply))
        from lab_utils.kit.judge import outcome

        return outcome(task, self._half("judge", "JUDGE")[task_id], case, reply)

    def ask(self, task_id: str) -> Ask:
        """The student's half of a task."""
        return self._half("ask", "ASK")[task_id]

    def borrowed(self, name: str) -> Borrow:
        """What stands in for an earlier task's function ``name``, its work done elsewhere."""
        return self._half("ask", "BORROWED")[name]

    def named(self, name: str) -> Any:
        """What a notebook imports from the lab's package; for its ``__getattr__``.

        Raises:
            AttributeError: notebooks import nothing of that name.
        """
        if name not in self.names:
            raise AttributeError(f"module {self.home!r} has no attribute {name!r}")
        return getattr(import_module(self.names[name], self.home), name)

    @property
    def _has_judge(self) -> bool:
        """Whether right can be told from wrong here; not where a hand-in is graded."""
        return find_spec(f"{self.home}.judge") is not None

    def _half(self, module: str, table: str) -> dict[str, Any]:
        found: dict[str, Any] = getattr(import_module(f"{self.home}.{module}"), table, {})
        return found

    @property
    def folder(self) -> Path:
        """Where its public cases lie."""
        return Path(str(sys.modules[self.home].__file__)).parent / "cases"

    @cached_property
    def _given(self) -> dict[str, list[dict[str, Any]]]:
        return self._table("given.json") or {}

    @cached_property
    def _wanted(self) -> dict[str, list[dict[str, Any]]]:
        return self._table("wanted.json") or {}

    def _table(self, name: str) -> Any:
        path = self.folder / name
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None

    def _with_texts(self, value: Any) -> Any:
        """``value`` with each ``{"file": NAME}`` replaced by the text of that file."""
        if isinstance(value, list):
            return [self._with_texts(item) for item in value]
        if not isinstance(value, dict):
            return value
        if set(value) == {"file"}:
            return (self.folder / value["file"]).read_text(encoding="utf-8")
        return {key: self._with_texts(item) for key, item in value.items()}


def lab_called(lab_id: str) -> Lab:
    """The lab whose folder has this name.

    Raises:
        LabError: there is none.
    """
    if (lab := lab_of(lab_id)) is None:
        raise LabError(f"there is no lab {lab_id!r} in lab_utils/labs")
    return lab


def lab_of(assignment: str) -> Lab | None:
    """The lab of an assignment; None for one that only borrows."""
    if not find_spec(f"{LABS}.{assignment}"):
        return None
    found: Lab = import_module(f"{LABS}.{assignment}").LAB
    return found


def handed_in(assignment: str) -> tuple[HandedIn, ...]:
    """What is handed in beside the notebooks of an assignment."""
    lab = lab_of(assignment)
    return lab.files if lab else ()


def as_graded(assignment: str) -> dict[str, str]:
    """The environment variables of an assignment as they are when it is graded."""
    lab = lab_of(assignment)
    return {lab.small.variable: lab.small.graded} if lab and lab.small else {}


def noun_of(assignment: str) -> str:
    """What an assignment calls a case."""
    lab = lab_of(assignment)
    return lab.noun if lab else "case"
