"""Homework 5, part A: the solution, wrong and right cells, and what lies beside them."""

from __future__ import annotations

import pytest

from lab_utils.labs.hw5 import LAB
from lab_utils.labs.hw5.show import SHOW
from tests.labs.hw5.catalogue import batches, ring, times
from tests.support.catalogue import Catalogue, LosingEarly

PART_A = [task for task in LAB.tasks if task.id[0] in "123"]
WRONG = [*times.WRONG, *ring.WRONG, *batches.WRONG]
RIGHT = [*times.RIGHT, *ring.RIGHT, *batches.RIGHT]


class TestCatalogue(LosingEarly):
    catalogue = Catalogue("hw5", WRONG, RIGHT, part=PART_A)


@pytest.mark.parametrize("task", [task for task in SHOW if task[0] in "123"])
def test_a_picture_shows_yours(task: str) -> None:
    case, asks = LAB.public_cases(task)[0], LAB.task_called(task).asks
    answer = LAB.ask(task)(TestCatalogue.catalogue.solution[asks], case.given)
    shown = SHOW[task](case, answer)
    assert "aria-label" in shown.svg
    assert "✗" not in shown.words
