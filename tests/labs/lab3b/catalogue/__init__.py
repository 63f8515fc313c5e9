"""Cells that students might write in Lab 3B, a module for each notebook."""

from __future__ import annotations

from tests.labs.lab3b.catalogue import models, pipeline, ranks
from tests.labs.lab3b.catalogue.cell import Cell
from tests.support.catalogue import Catalogue

WRONG: list[Cell] = [*ranks.WRONG, *pipeline.WRONG, *models.WRONG]
RIGHT: list[Cell] = [*ranks.RIGHT, *pipeline.RIGHT, *models.RIGHT]
CATALOGUE = Catalogue("lab3b", WRONG, RIGHT)
EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    *ranks.EQUIVALENT,
    *pipeline.EQUIVALENT,
    *models.EQUIVALENT,
)
