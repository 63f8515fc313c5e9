"""A cell as a student might write it."""

from __future__ import annotations

from functools import partial

from lab_utils.labs.lab3b import LAB
from tests.support import catalogue
from tests.support.catalogue import Cell

__all__ = ["Cell", "cell"]

cell = partial(catalogue.cell, LAB)
