"""A small class that hands in Homework 5: right, with typical mistakes, unfilled."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster

#: Mistakes of part A, one student each.
DISTRIBUTED = (
    Example(
        student("Gene", "Amdahl"),  # nothing waits for the device; one GPU's work is not shared
        (
            Change(
                "t11", "            step(batch)\n            sync()\n", "            step(batch)\n"
            ),
            Change("t17", "alone[batch] / gpus", "alone[batch]"),
        ),
    ),
    Example(
        student("Robin", "Milner"),  # everybody sends first; means of unequal shares
        (
            Change("t21", "request = dist.isend(", "dist.send("),
            Change("t21", "        request.wait()\n", ""),
            Change("t23", "images / total", "1 / dist.get_world_size()"),
        ),
    ),
    Example(
        student("Grace", "Hopper"),  # the epoch is forgotten; statistics of one rank
        (
            Change("t34", "seed + epoch", "seed"),
            Change("t38", "    dist.all_reduce(sums)\n", ""),
        ),
    ),
)
CLASS = (
    Example(student("Leslie", "Lamport")),
    *DISTRIBUTED,
    Example(student("Edsger", "Dijkstra"), is_filled=False),
)
ABSENT = (student("Ada", "Lovelace"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "hw5", CLASS, ABSENT)
