"""A small class that hands in Lab 2A: right, with typical mistakes, unfilled."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster

CLASS = (
    Example(student("Alan", "Turing")),
    Example(
        student("Grace", "Hopper"),
        (
            Change("t13", 'load = 0 if dataflow == "os" else height', "load = 0"),
            Change("t25", " + design.ofmap_kb", ""),
        ),
    ),
    Example(
        student("Barbara", "Liskov"),
        (
            Change(
                "t14",
                "math.ceil(rows / height) * math.ceil(columns / width)",
                "(rows // height) * (columns // width)",
            ),
            Change("t24", "int(max(0, late.max(initial=0)))", "int(np.maximum(late, 0).sum())"),
        ),
    ),
    Example(
        student("Donald", "Knuth"),
        (
            Change("t12", '"is": (k, m, n)', '"is": (k, n, m)'),
            Change("t33", "ratio * stall_free_cycles(design)", "stall_free_cycles(design)"),
        ),
    ),
    Example(student("Edsger", "Dijkstra"), is_filled=False),
)
ABSENT = (student("Ada", "Lovelace"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "lab2a", CLASS, ABSENT)
