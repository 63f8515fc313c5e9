"""A small class that hands in Lab 4B: right, with typical mistakes, unfilled."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster

CLASS = (
    Example(student("Radia", "Perlman")),
    Example(
        student("Paul", "Baran"),  # a torus; a link that stays busy until the message is there
        (
            Change("t11", "if x + 1 < width:", "if width > 1:"),
            Change("t11", "node + 1", "y * width + (x + 1) % width"),
            Change("t14", "free[way] = began + link.busy(", "free[way] = began + link.hop("),
        ),
    ),
    Example(
        student("Leonard", "Kleinrock"),  # width and height swapped; every system's numbers
        (
            Change("t12", "% width", "% height"),
            Change("t12", "// width", "// height"),
            Change("t16", '"sys[0]" not in line', '"sys[" not in line'),
        ),
    ),
    Example(student("Edsger", "Dijkstra"), is_filled=False),
)
ABSENT = (student("Ada", "Lovelace"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "lab4b", CLASS, ABSENT)
