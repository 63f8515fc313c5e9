"""A lab's catalogue: cells as students might write them, and what must come of each.

A lab's tests say ``class TestCatalogue(NamedOnHidden): catalogue = Catalogue(…)``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import pytest

from autograder.grading.hidden import hidden_of
from autograder.grading.judge.process import Judge
from lab_utils.kit.ask import attempt
from lab_utils.kit.judge import Verdict
from lab_utils.kit.lab import Lab, lab_called
from lab_utils.kit.task import Task
from tests.support.judged import points_of, verdict_of
from tests.support.losing import losing
from tests.support.solved_cells import functions_of, run_cell, solved_space

_GENERAL = "It is right for some, and not for all: what is special here?"


class Cell(NamedTuple):
    """What stands in the cell of a task; ``says`` are words that its message must hold.

    ``most`` is the largest share of the task's points that it may get.
    """

    name: str
    task: str
    code: str
    says: tuple[str, ...] = ()
    most: float = 0.5


def cell(
    lab: Lab, task: str, name: str, body: str, *says: str, most: float = 0.5, before: str = ""
) -> Cell:
    """The function that a task asks for, with another body; ``before`` stands in earlier cells."""
    asked = lab.task_called(task)
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    code = f"{before}\ndef {asked.asks}({asked.takes}):\n{lines}\n".lstrip("\n")
    return Cell(name, task, code, says, most)


class Written:
    """A right version of a task's function, and cells that differ from it in one place."""

    def __init__(self, lab: str, task: str, body: str) -> None:
        self._lab, self._task, self._body = lab_called(lab), task, body

    def body(self, name: str, body: str, *says: str, most: float = 0.5) -> Cell:
        """The same function with another body."""
        return cell(self._lab, self._task, name, body, *says, most=most)

    def with_(self, name: str, *changes: tuple[str, str], says: str, most: float = 0.5) -> Cell:
        """The same function with some pieces replaced."""
        body = self._body
        for old, new in changes:
            assert old in body, old
            body = body.replace(old, new)
        return self.body(name, body, says, most=most)


@dataclass(frozen=True)
class Catalogue:
    """Wrong and right cells of a lab; ``names`` is what its notebooks import, if not all of it.

    ``part`` are its tasks, where they are not all of the lab's.
    """

    lab: str
    wrong: Sequence[Cell]
    right: Sequence[Cell]
    names: Mapping[str, Any] = field(default_factory=dict)
    part: Sequence[Task] = ()

    @cached_property
    def solution(self) -> dict[str, Any]:
        """All that our solution defines."""
        return functions_of(self.lab, **self.names) if self.names else solved_space(self.lab)

    @property
    def tasks(self) -> list[Task]:
        """Those that ask for a function."""
        return [t for t in self.part or lab_called(self.lab).tasks if not t.is_of_file]

    @cached_property
    def pictures(self) -> dict[str, Any]:
        """By task, what draws an answer."""
        shows = import_module(f"{lab_called(self.lab).home}.show").SHOW
        return {task.id: shows[task.id] for task in self.tasks if task.id in shows}

    def space_of(self, code: str) -> dict[str, Any]:
        """What is defined once a cell has run behind those of our solution."""
        space = dict(self.solution)
        run_cell(code, space)
        return space

    def written(self, one: Cell) -> Any:
        """What the cell has for its task."""
        return self.space_of(one.code)[lab_called(self.lab).task_called(one.task).asks]

    def verdict(self, task: str, space: Mapping[str, Any]) -> Verdict:
        """The verdict on what ``space`` has for a task, on public and hidden cases."""
        return verdict_of(self.lab, task, space[lab_called(self.lab).task_called(task).asks])

    def points(self, one: Cell) -> float:
        """The points of a cell, as the grader gives them."""
        return points_of(self.lab, one.task, self.written(one))

    def told_of_hidden(self, judge: Judge, one: Cell) -> set[str]:
        """What a student hears of the hidden cases that a cell fails."""
        lab = lab_called(self.lab)
        task, asked, told = lab.task_called(one.task), self.written(one), set()
        public = len(lab.public_cases(one.task))
        for place, case in enumerate(hidden_of(self.lab).graded_cases(one.task)):
            if place < public:
                continue
            reply = attempt(task, lab.ask(one.task), asked, case.given)
            found = judge.judge(one.task, place, reply)
            assert not found["forged"], one
            told |= {finding["look"] for finding in found["findings"]}
        return told


class CatalogueTests:
    """What must hold of every catalogue."""

    catalogue: Catalogue

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """A test for each task, and for each cell."""
        own: Catalogue = metafunc.cls.catalogue
        if "task" in metafunc.fixturenames:
            metafunc.parametrize("task", own.tasks, ids=lambda task: task.id)
        if "drawn" in metafunc.fixturenames:
            metafunc.parametrize("drawn", own.pictures)
        for name, cells in (("wrong", own.wrong), ("right", own.right)):
            if name in metafunc.fixturenames:
                metafunc.parametrize(name, cells, ids=lambda one: f"{one.task} {one.name}")

    def said(self, verdict: Verdict) -> str:
        """Where the words of a wrong cell are looked for: in what the student reads."""
        return str(verdict)

    def test_the_solution_has_full_marks(self, task: Task) -> None:
        """Without anything lent."""
        found = self.catalogue.verdict(task.id, self.catalogue.solution)
        assert found.passed, found
        assert found.points == task.points

    def test_a_wrong_cell_loses_points_and_is_told_why(self, wrong: Cell) -> None:
        """It loses at least half, and hears the words that name its mistake."""
        found = self.catalogue.verdict(wrong.task, self._asked(wrong))
        assert not found.passed
        for words in wrong.says:
            assert words in self.said(found), found
        worth = lab_called(self.catalogue.lab).task_called(wrong.task).points
        assert self.catalogue.points(wrong) <= wrong.most * worth, found

    def test_a_right_cell_has_full_marks(self, right: Cell) -> None:
        """Another way is as good as ours."""
        worth = lab_called(self.catalogue.lab).task_called(right.task).points
        assert self.catalogue.points(right) == worth, self.catalogue.verdict(
            right.task, self._asked(right)
        )

    def test_a_picture_of_a_right_answer_marks_nothing(self, drawn: str) -> None:
        """What students see of theirs, in a picture that a screen reader can tell."""
        lab = lab_called(self.catalogue.lab)
        case, asked = lab.public_cases(drawn)[0], lab.task_called(drawn).asks
        answer = lab.ask(drawn)(self.catalogue.solution[asked], case.given)
        shown = self.catalogue.pictures[drawn](case, answer)
        picture = getattr(shown, "static", shown)
        assert "aria-label" in picture.svg
        assert "✗" not in picture.words

    def test_there_are_enough_of_them(self) -> None:
        """Three mistakes a task, and another way."""
        for task in self.catalogue.tasks:
            assert sum(one.task == task.id for one in self.catalogue.wrong) >= 3, task.id
            assert any(one.task == task.id for one in self.catalogue.right), task.id

    def _asked(self, one: Cell) -> dict[str, Any]:
        task = lab_called(self.catalogue.lab).task_called(one.task)
        return {task.asks: self.catalogue.written(one)}


class NamedOnHidden(CatalogueTests):
    """The same, and a mistake is named by its hidden cases alone."""

    def test_mistakes_are_named_on_hidden_cases_too(self) -> None:
        """Of a hidden case only whole sentences of ours are told: each look is one."""
        judge = Judge(self.catalogue.lab)
        for one in self.catalogue.wrong:
            told = self.catalogue.told_of_hidden(judge, one)
            assert told, one
            assert _GENERAL not in told, one


class LosingEarly(CatalogueTests):
    """The same where a function starts processes: it is asked until its mistake is told and paid.

    Hidden cases must name it as well.
    """

    def test_a_wrong_cell_loses_points_and_is_told_why(self, wrong: Cell) -> None:
        """Of hidden cases only whole sentences of ours are told: each look is one."""
        lab, asked = self.catalogue.lab, self.catalogue.written(wrong)
        found = losing(lab, wrong.task, asked, wrong.most, wrong.says)
        for words in wrong.says:
            assert words in found.said, found
        assert found.share <= wrong.most, found
        if wrong.task in hidden_of(lab).lent:
            assert losing(lab, wrong.task, asked, wrong.most, lend=True).share <= wrong.most
        assert not found.forged
        assert found.told
        assert _GENERAL not in found.told


def assert_hidden_cases_are_other(
    lab: str, least: int = 6, fewer: Mapping[str, int] | None = None
) -> None:
    """A task has at least so many hidden cases (``fewer`` by task), and none of them is public."""
    for task in lab_called(lab).tasks:
        if task.is_of_file:
            continue
        public = [case.given for case in lab_called(lab).public_cases(task.id)]
        hidden = [case.given for case in hidden_of(lab).graded_cases(task.id)[len(public) :]]
        assert len(hidden) >= (fewer or {}).get(task.id, least), task.id
        assert not [given for given in hidden if given in public], task.id
