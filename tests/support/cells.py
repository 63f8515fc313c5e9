"""Cells as students might write them, for the catalogues of labs."""

from __future__ import annotations

from typing import NamedTuple

from lab_utils.kit.lab import lab_called


class Cell(NamedTuple):
    """What stands in the cell of a task; ``says`` are words that its message must hold.

    ``most`` is the largest share of the task's points that it may get.
    """

    task: str
    name: str
    code: str
    says: tuple[str, ...] = ()
    most: float = 0.5


class Written:
    """A right version of a task's function, and cells that differ from it in one place."""

    def __init__(self, lab: str, task: str, body: str) -> None:
        self._task, self._body = lab_called(lab).task_called(task), body

    def body(self, name: str, body: str, *says: str, most: float = 0.5) -> Cell:
        """The same function with another body."""
        lines = "\n".join(f"    {line}" for line in body.splitlines())
        code = f"def {self._task.asks}({self._task.takes}):\n{lines}\n"
        return Cell(self._task.id, name, code, says, most)

    def with_(self, name: str, *changes: tuple[str, str], says: str, most: float = 0.5) -> Cell:
        """The same function with some pieces replaced."""
        body = self._body
        for old, new in changes:
            assert old in body, old
            body = body.replace(old, new)
        return self.body(name, body, says, most=most)
