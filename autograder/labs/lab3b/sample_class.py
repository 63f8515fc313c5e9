"""A small class that hands in Lab 3B: right, with typical mistakes, unfilled."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster

CLASS = (
    Example(student("Leslie", "Lamport")),
    Example(
        student("Tony", "Hoare"),  # everybody sends first; the bias on every rank
        (
            Change("t11", "request = dist.isend(", "dist.send("),
            Change("t11", "        request.wait()\n", ""),
            Change("t14", "F.linear(x, weight)) + bias", "F.linear(x, weight, bias))"),
        ),
    ),
    Example(
        student("Nancy", "Lynch"),  # thirds, not heads; sums, not means
        (
            Change(
                "t15",
                "return by_head[:, rank * own : (rank + 1) * own].flatten(0, 2)",
                "return weight.chunk(ranks)[rank]",
            ),
            Change("t27", "        flat /= dist.get_world_size()\n", ""),
        ),
    ),
    Example(
        student("Barbara", "Simons"),  # a warm-up too long; the mean of two copies
        (
            Change("t22", "min(stages - 1 - rank, micros)", "min(stages - rank, micros)"),
            Change(
                "t25",
                "dist.all_reduce(gradient, group=group)",
                "dist.all_reduce(gradient, group=group); gradient /= 2",
            ),
        ),
    ),
    Example(student("Edsger", "Dijkstra"), is_filled=False),
)
ABSENT = (student("Ada", "Lovelace"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "lab3b", CLASS, ABSENT)
