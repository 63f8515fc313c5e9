"""The tables that are handed in: measured on the student's own computer, and checked for form."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from lab_utils.kit.errors import LabError
from lab_utils.kit.files import HandedIn

SIZES: dict[str, dict[str, Any]] = {
    "full": {"images": 3000, "ranks": (1, 2, 4), "batches": (32, 128, 512), "large": 512},
    "small": {"images": 240, "ranks": (1, 2), "batches": (32, 120), "large": 120},
}
EPOCHS = 5
EPOCH_COLUMNS = ("ranks", "batch", "images", "step_seconds", "epoch_seconds", "device")
BATCH_COLUMNS = (
    "batch",
    "rule",
    "images",
    *(f"loss_{epoch}" for epoch in range(1, EPOCHS + 1)),
    "accuracy",
)


def settings() -> dict[str, Any]:
    """How large the runs are: ``HW5_SIZE=small`` makes them tiny, to try a notebook in seconds."""
    name = os.environ.get("HW5_SIZE", "full")
    if name not in SIZES:
        raise LabError(f"HW5_SIZE is {name!r}: it may be {' or '.join(SIZES)}")
    return SIZES[name]


@dataclass(frozen=True)
class Measured(HandedIn):
    """A table with known columns; all but ``words`` of them are numbers, none below 0."""

    measured: bool = True
    columns: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    def problem(self, content: bytes) -> str:
        """Whether it is such a table, and not one that was made to try the notebook."""
        return form_problem(self, content.decode("utf-8", "replace"))

    def rows(self, text: str) -> list[dict[str, str]]:
        """Its rows, all values as text."""
        return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"))))


def form_problem(table: Measured, text: str) -> str:
    """What is wrong with the form of a table, and the cure; empty if nothing is."""
    rows = table.rows(text)
    if not rows:
        return "is empty: run the cell that measures it"
    if lacking := [name for name in table.columns if name not in rows[0]]:
        return f"has no column {lacking[0]}: delete it, and run the cell that measures it"
    numbers = [name for name in table.columns if name not in table.words]
    for place, row in enumerate(rows):
        if odd := _odd(row, numbers):
            return f"has no number in column {odd} of row {place + 1}: delete it, and measure again"
    return ""


def _odd(row: dict[str, str], numbers: Sequence[str]) -> str:
    for name in numbers:
        try:
            value = float(row[name])
        except (TypeError, ValueError):
            return name
        if not isfinite(value) or value < 0:
            return name
    return ""


EPOCHS_CSV = Measured("epochs.csv", columns=EPOCH_COLUMNS, words=("device",))
BATCHES_CSV = Measured("batches.csv", columns=BATCH_COLUMNS, words=("rule",))
FILES = (EPOCHS_CSV, BATCHES_CSV)
