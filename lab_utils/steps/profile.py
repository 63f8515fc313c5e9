"""A student's profile of a training step, as a value that draws itself."""

from __future__ import annotations

from typing import Any, NamedTuple

from lab_utils.kit.charts.drawn import DrawsItself
from lab_utils.kit.errors import LabError
from lab_utils.kit.words import size

_COLUMNS = ("node", "phase", "seconds", "bytes")


class Measured(NamedTuple):
    """One operator: when it runs, how long it takes, and the bytes that it allocates."""

    node: str
    phase: str
    seconds: float
    nbytes: int


class Profile(DrawsItself):
    """The table of task 1.3 to look at: a bare ``Profile(table)`` in a cell is a picture.

    Raises:
        LabError: ``table`` has other columns than the task asks for.
    """

    def __init__(self, table: Any) -> None:
        missing = [name for name in _COLUMNS if name not in getattr(table, "columns", ())]
        if missing:
            raise LabError(f"a profile is a DataFrame with the column {missing[0]!r} (task 1.3)")
        self.rows = [
            Measured(str(row["node"]), str(row["phase"]), float(row["seconds"]), int(row["bytes"]))
            for row in table.to_dict("records")
        ]

    def __repr__(self) -> str:
        time, held = sum(r.seconds for r in self.rows), sum(r.nbytes for r in self.rows)
        words = f"profile: {len(self.rows)} operators, {1e3 * time:.2f} ms, {size(held)} allocated"
        if self.rows:
            slowest = max(self.rows, key=lambda row: row.seconds)
            largest = max(self.rows, key=lambda row: row.nbytes)
            words += f"\n  slowest: {slowest.node}, {1e3 * slowest.seconds:.3f} ms"
            words += f"\n  largest: {largest.node}, {size(largest.nbytes)}"
        return words
