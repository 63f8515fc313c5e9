"""A lab on the instructors' side: what only the judge may know, and what grading it takes.

``autograder/labs/<lab>/hidden.py`` holds ``HIDDEN = Hidden(…)``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from autograder.grading.sandbox import Limits
from autograder.grading.sandbox.host.cut import Cut
from autograder.grading.verdict import Chart
from lab_utils.kit.errors import LabError
from lab_utils.kit.lab import lab_called
from lab_utils.kit.task import Case

Lend = Callable[[str, Case, Any], Any]
"""The answer of a right version of a function: its name, the case, its arguments as JSON."""
Compare = Callable[[str, Any], str]
"""How an answer to a task differs from the reference, in words; it costs nothing."""
Draw = Callable[[str, Case, Any], Chart | None]
"""What feedback draws of an answer to a task on a public case."""


@dataclass(frozen=True)
class Later:
    """A function whose module is loaded when it is called, which only the judge's process does.

    So the grader itself need not load PyTorch.
    """

    module: str
    name: str

    def __call__(self, *arguments: Any) -> Any:
        """Call it."""
        return getattr(import_module(self.module), self.name)(*arguments)


def _nothing_lent(name: str, _case: Case, _arguments: Any) -> Any:
    raise LabError(f"{name} is not lent")


def _nothing_drawn(_task: str, _case: Case, _answer: Any) -> None:
    return None


def _nothing_compared(_task: str, _answer: Any) -> str:
    return ""


@dataclass(frozen=True)
class Hidden:
    """What the kit must know of a lab and students must not."""

    lab: str
    cases: Path | None = None
    """JSON: the hidden cases of each task."""
    more: Mapping[str, Sequence[Case]] = field(default_factory=dict)
    """Hidden cases that are no plain data: what is wanted is a function of ours."""
    lent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By task, functions of earlier tasks that it calls: who has them wrong is lent right ones."""
    aid: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By task, functions that its ask half may call and whose work ``lend`` does, as what is
    given in a hidden case: what they tell is not in the process before it is asked for."""
    lend: Lend = _nothing_lent
    chart: Draw = _nothing_drawn
    compared: Compare = _nothing_compared
    cuts: Mapping[str, Cut] = field(default_factory=dict)
    """By task, what of ``lab_utils`` is not there when it is asked: what would answer it."""
    peers: tuple[str, ...] = ()
    """Installed packages that would answer a task, for no sandbox to show."""
    preload: tuple[str, ...] = ()
    """Modules that notebooks import, for the warm process."""
    warm_up: tuple[str, ...] = ()
    """Functions that the warm process calls before any notebook runs: ``module:function``."""
    limits: Limits = field(default_factory=Limits)

    def graded_cases(self, task: str) -> list[Case]:
        """The public cases of a task, then its hidden ones."""
        hidden = [Case(**data) for data in self._hidden.get(task, [])]
        return [*lab_called(self.lab).public_cases(task), *hidden, *self.more.get(task, ())]

    @cached_property
    def _hidden(self) -> dict[str, list[dict[str, Any]]]:
        return json.loads(self.cases.read_text(encoding="utf-8")) if self.cases else {}


def hidden_of(lab: str) -> Hidden:
    """The instructors' side of a lab.

    Raises:
        ModuleNotFoundError: it has none.
    """
    found: Hidden = import_module(f"autograder.labs.{lab}.hidden").HIDDEN
    return found
