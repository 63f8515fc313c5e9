"""Homework 5, part A: the solution, wrong and right cells, and what lies beside them."""

from __future__ import annotations

from lab_utils.labs.hw5 import LAB
from tests.labs.hw5.catalogue import batches, ring, times
from tests.support.catalogue import Catalogue, LosingEarly

PART_A = [task for task in LAB.tasks if task.id[0] in "123"]
WRONG = [*times.WRONG, *ring.WRONG, *batches.WRONG]
RIGHT = [*times.RIGHT, *ring.RIGHT, *batches.RIGHT]


class TestCatalogue(LosingEarly):
    catalogue = Catalogue("hw5", WRONG, RIGHT, part=PART_A)
