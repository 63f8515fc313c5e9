"""A small class that hands in Lab 1B: right, with typical mistakes, unfilled."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster
from autograder.labs.lab1b.tables import tables
from lab_utils.labs.lab1b.tables import FILES

CLASS = (
    Example(student("Alan", "Turing")),
    Example(
        student("Grace", "Hopper"),
        (
            Change(
                "t11", "0 if readers[op.makes] == {own} else nbytes[op.makes]", "nbytes[op.makes]"
            ),
        ),
    ),
    Example(
        student("Barbara", "Liskov"),
        (
            Change("t13", "return list(min(sets, key=time))", "return list(arrows)"),
            Change("t22", "        columns.reverse()\n", ""),
        ),
    ),
    Example(
        student("Donald", "Knuth"),
        (
            Change("t21", "return tn * a, b, (tk - 1) * c, tk * c", "return tm * a, b, 0, tk * c"),
            Change(
                "t26", "np.abs(weight).max(axis=1)", "np.full(len(weight), np.abs(weight).max())"
            ),
        ),
    ),
    Example(
        student("Edsger", "Dijkstra"),
        is_filled=False,
        leave_out=tuple(file.name for file in FILES),
    ),
)
ABSENT = (student("Ada", "Lovelace"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "lab1b", CLASS, ABSENT, tables())
