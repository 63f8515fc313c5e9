"""Cells that students might write in Homework 5, a module for each notebook."""

from __future__ import annotations

_ORDER = "a table has the same cells in any order"
EQUIVALENT: tuple[tuple[str, str, str], ...] = (
    ("1.1", "(('warm-up', 'timed'))", "these are only names: there are two epochs"),
    ("1.1", "seconds = 1.0", "it starts again from 0 in each epoch"),
    ("1.1", "in reversed(list(batches()))", "the steps of an epoch take as long in any order"),
    ("1.7", "the other way round", _ORDER),
    ("1.8", "the other way round", _ORDER),
)
"""Mutants of our solutions that are right as well: task, part of the changed line, the reason."""
