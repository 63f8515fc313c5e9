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
    Example(student("Charles", "Clos")),
    *JOB_CLASS,
    Example(student("Donald", "Davies"), is_filled=False),
)
ABSENT = (student("Ada", "Lovelace"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "lab4b", CLASS, ABSENT)
