"""A small class that hands in Lab 4B: right, with typical mistakes, unfilled."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster

JOB_CLASS = (
    Example(
        student("Larry", "Roberts"),  # adds complete chunks; half an all-reduce
        (
            Change("t21", "(a,), False)", "(a,), True)"),
            Change("t24", "2 * seconds if", "seconds if"),
        ),
    ),
    Example(
        student("Danny", "Cohen"),  # keys and values whole on every rank; the fastest of all
        (
            Change("t25", "* model.head * item // strategy.tp", "* model.head * item"),
            Change("t28", "room is None or row.nbytes <= room * 1e9", "True"),
        ),
    ),
)
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
    *JOB_CLASS,
    Example(student("Edsger", "Dijkstra"), is_filled=False),
)
ABSENT = (student("Ada", "Lovelace"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "lab4b", CLASS, ABSENT)
