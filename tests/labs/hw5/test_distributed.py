"""Homework 5, part A: the solution, wrong and right cells, and what lies beside them."""

from __future__ import annotations

import linecache
from functools import cache
from typing import Any

import pytest

from autograder.grading.hidden import hidden_of
from lab_utils.labs.hw5 import LAB
from lab_utils.labs.hw5.show import SHOW
from tests.labs.hw5.catalogue import batches, ring, times
from tests.support.catalogue import Cell
from tests.support.judged import verdict_of
from tests.support.losing import losing
from tests.support.solved_cells import solution_cells

WRONG: list[Cell] = [*times.WRONG, *ring.WRONG, *batches.WRONG]
RIGHT: list[Cell] = [*times.RIGHT, *ring.RIGHT, *batches.RIGHT]
TASKS = [task for task in LAB.tasks if task.id[0] in "123" and not task.is_of_file]
_IMPORTS = """
import math, torch
import torch.distributed as dist
from lab_utils.labs.hw5 import KINDS, Message, ModelBytes
"""


def names() -> dict[str, Any]:
    """What the cells of the notebooks import."""
    space: dict[str, Any] = {}
    exec(_IMPORTS, space)
    return space


@cache
def solution() -> dict[str, Any]:
    """Every function of the solution of part A."""
    space = names()
    for grade_id, source in solution_cells("hw5").items():
        if grade_id[:2] in ("t1", "t2", "t3"):
            exec(source, space)
    return space


def asked(cell: Cell) -> Any:
    """The function that a cell defines; its lines can be told in errors."""
    space, name = names(), f"<cell {cell.task} {cell.name}>"
    linecache.cache[name] = (len(cell.code), None, cell.code.splitlines(keepends=True), name)
    exec(compile(cell.code, name, "exec"), space)
    return space[LAB.task_called(cell.task).asks]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.id)
def test_the_solution_has_full_marks(task: Any) -> None:
    found = verdict_of("hw5", task.id, solution()[task.asks])
    assert found.passed, found


@pytest.mark.parametrize("cell", WRONG, ids=lambda cell: f"{cell.task} {cell.name}")
def test_a_wrong_cell_loses_points_and_is_told_why(cell: Cell) -> None:
    """Of hidden cases only whole sentences of ours are told: each look is one."""
    found = losing("hw5", cell.task, asked(cell), cell.most, cell.says)
    for words in cell.says:
        assert words in found.said, found
    assert found.share <= cell.most, found
    assert not found.forged
    assert found.told
    assert "It is right for some, and not for all: what is special here?" not in found.told


@pytest.mark.parametrize("cell", RIGHT, ids=lambda cell: f"{cell.task} {cell.name}")
def test_a_right_cell_has_full_marks(cell: Cell) -> None:
    found = verdict_of("hw5", cell.task, asked(cell))
    assert found.passed, found


def test_there_are_enough_of_them() -> None:
    for task in TASKS:
        assert sum(cell.task == task.id for cell in WRONG) >= 3, task.id
        assert any(cell.task == task.id for cell in RIGHT), task.id


def test_hidden_cases_are_other_cases() -> None:
    for task in TASKS:
        public = [case.given for case in LAB.public_cases(task.id)]
        hidden = [case.given for case in hidden_of("hw5").graded_cases(task.id)[len(public) :]]
        assert len(hidden) >= 6, task.id
        assert not [given for given in hidden if given in public], task.id


@pytest.mark.parametrize("task", [task for task in SHOW if task[0] in "123"])
def test_a_picture_shows_yours(task: str) -> None:
    case, asks = LAB.public_cases(task)[0], LAB.task_called(task).asks
    shown = SHOW[task](case, LAB.ask(task)(solution()[asks], case.given))
    assert "aria-label" in shown.svg
    assert "✗" not in shown.words
