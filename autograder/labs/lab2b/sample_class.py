"""A small class that hands in Lab 2B: right, with typical mistakes, unfilled."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster

CLASS = (
    Example(student("Alan", "Turing")),
    Example(
        student("Grace", "Hopper"),
        (
            Change("t12", "len(misses(asked, l2", "len(misses(lines, l2"),
            Change("t23", "    strips = math.ceil(rows /", "    strips = math.ceil(conv.height /"),
        ),
    ),
    Example(
        student("Barbara", "Liskov"),
        (
            Change("t14", "max(near * a, far * b)", "near * a + far * b"),
            Change("t22", 'load = 0 if dataflow == "os" else height', "load = 0"),
        ),
    ),
    Example(
        student("Donald", "Knuth"),
        (
            Change("t15", "1015.7 * 3 *", "1015.7 *"),
            Change("t21", "conv.stride + 1\n    across", "1 + 1\n    across"),
        ),
    ),
    Example(student("Edsger", "Dijkstra"), is_filled=False),
)
ABSENT = (student("Ada", "Lovelace"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "lab2b", CLASS, ABSENT)
