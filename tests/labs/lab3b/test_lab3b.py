"""Lab 3B: the solution, wrong and right cells, and the lab as a whole."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.grading.hidden import hidden_of
from autograder.labs.lab3b.build import derived_files
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab3b import LAB
from lab_utils.labs.lab3b.show import SHOW
from tests.labs.lab3b.catalogue import RIGHT, WRONG
from tests.labs.lab3b.catalogue.cell import Cell
from tests.labs.lab3b.solved import solution, space_of, verdict
from tests.support.catalogue import assert_hidden_cases_are_other
from tests.support.losing import losing

FUNCTIONS = [task for task in LAB.tasks if not task.is_of_file]


@pytest.mark.parametrize("task", FUNCTIONS, ids=lambda task: task.id)
def test_the_solution_has_full_marks(task: Any) -> None:
    found = verdict(task.id, solution())
    assert found.passed, found


@pytest.mark.parametrize("cell", WRONG, ids=lambda cell: f"{cell.task} {cell.name}")
def test_a_wrong_cell_loses_points_and_is_told_why(cell: Cell) -> None:
    """Of hidden cases only whole sentences of ours are told: each look is one."""
    asked = space_of(cell.code)[LAB.task_called(cell.task).asks]
    found = losing("lab3b", cell.task, asked, cell.most, cell.says)
    for words in cell.says:
        assert words in found.said, found
    assert found.share <= cell.most
    if cell.task in hidden_of("lab3b").lent:
        assert losing("lab3b", cell.task, asked, cell.most, lend=True).share <= cell.most
    assert not found.forged
    assert found.told
    assert "It is right for some, and not for all: what is special here?" not in found.told


@pytest.mark.parametrize("cell", RIGHT, ids=lambda cell: f"{cell.task} {cell.name}")
def test_a_right_cell_has_full_marks(cell: Cell) -> None:
    found = verdict(cell.task, space_of(cell.code))
    assert found.passed, found


def test_there_are_enough_of_them() -> None:
    for task in FUNCTIONS:
        assert sum(cell.task == task.id for cell in WRONG) >= 3, task.id
        assert any(cell.task == task.id for cell in RIGHT), task.id


def test_hidden_cases_are_other_cases() -> None:
    assert_hidden_cases_are_other("lab3b", 4)


def test_what_is_derived_is_up_to_date() -> None:
    for path, text in derived_files().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run make notebooks"


@pytest.mark.parametrize("task", [task for task in SHOW if task[0] in "12"])
def test_a_picture_shows_yours(task: str) -> None:
    case, asked = LAB.public_cases(task)[0], LAB.task_called(task).asks
    shown = SHOW[task](case, LAB.ask(task)(solution()[asked], case.given))
    picture: Any = getattr(shown, "static", shown)
    assert "aria-label" in picture.svg
    assert "ranks, done after" in picture.words
