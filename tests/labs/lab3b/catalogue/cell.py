"""A cell as a student might write it."""

from __future__ import annotations

from typing import NamedTuple

from lab_utils.labs.lab3b import LAB


class Cell(NamedTuple):
    """What stands in the cell of a task; ``says`` are words that its message must hold.

    ``most`` is the largest share of the task's points that it may get.
    """

    name: str
    task: str
    code: str
    says: tuple[str, ...] = ()
    most: float = 0.5


def cell(task: str, name: str, body: str, *says: str, most: float = 0.5) -> Cell:
    """The function that a task asks for, with another body."""
    asked = LAB.task_called(task)
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return Cell(name, task, f"def {asked.asks}({asked.takes}):\n{lines}\n", says, most)
