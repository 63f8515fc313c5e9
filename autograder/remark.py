"""One sentence that an instructor should know about a submission."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Remark:
    """A sentence, the same on every run.

    ``kind`` is a word for tables, such as ``memory``, ``tampered`` or ``truncated``; ``place``
    is the cell (its ``grade_id``) or the task. Both places may be empty.
    """

    kind: str
    text: str
    notebook: str = ""
    place: str = ""

    def __str__(self) -> str:
        where = ", ".join(part for part in (self.notebook, self.place) if part)
        return f"{where}: {self.text}" if where else self.text
