"""A small class that hands in the lab: right, wrong, unfilled, and a zip that arrived in half."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster

CLASS = (
    Example(student("Alan", "Turing")),
    Example(student("Grace", "Hopper"), (Change("t11", "(2 * k - 1)", "2 * k"),)),
    Example(student("Edsger", "Dijkstra"), is_filled=False),
    Example(student("Ken", "Thompson"), keep=0.5),
)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "newlab", CLASS)
