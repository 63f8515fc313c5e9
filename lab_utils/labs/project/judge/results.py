"""The CSV files of notebook 06: what is in them, and which rows are missing or out of line."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from lab_utils.kit.task import Finding
from lab_utils.labs.project.tables import SIZES, settings, size_name

_BATCHES = {"models": "batches", "timed": "timed_batches"}
ONE_ROW = "one row for each model, method and batch size"
_RAN = "Run the cell that collects the rows; it goes on where it stopped."
#: How far the growth with the batch may be from its growth at first.
STEADY = 0.1


class Key(NamedTuple):
    """Which row of a file."""

    model: str
    method: str
    batch: int

    def __str__(self) -> str:
        return f"{self.model}, {self.method}, batch {self.batch}"


class Missing(Finding):
    """A row, or the whole file, is not there."""


#: What is wrong, by row. Only problems of one sort at a time: the first sort that there is.
Problems = dict[Key, Finding]


class Results:
    """A file as text, and which rows it should have: those of the experiments' size.

    Args:
        answer: ``{"file": name, "text": all of it}``.
        part: which experiment of ``SIZES``, "models" or "timed".
    """

    def __init__(self, answer: Mapping[str, str], part: str) -> None:
        text = (answer["text"] or "").removeprefix("\ufeff")  # which spreadsheets write
        header = text.partition("\n")[0]
        separator = ";" if header.count(";") > header.count(",") else ","
        rows = list(csv.DictReader(io.StringIO(text), delimiter=separator))
        self.file = answer["file"]
        self._rows = {(r.get("model"), r.get("method"), r.get("batch")): r for r in rows}
        there = {r.get("model") for r in rows}
        self._size = next(
            (name for name, size in SIZES.items() if there and there <= size[part].keys()), ""
        )
        self.models, self.batches = list(settings()[part]), list(settings()[_BATCHES[part]])

    def keys(self, method: str) -> list[Key]:
        """The rows that there should be."""
        return [Key(model, method, batch) for model in self.models for batch in self.batches]

    def text(self, key: Key, column: str) -> str:
        """What a column of a row holds; nothing where there is no such row."""
        return self._rows.get((key.model, key.method, str(key.batch)), {}).get(column) or ""

    def value(self, key: Key, column: str) -> float | None:
        """The number in a column of a row; None where there is none."""
        try:
            return float(self.text(key, column))
        except ValueError:
            return None

    def missing(self, method: str, column: str) -> Problems:
        """Rows without a number in ``column``; all of them where the file is another one."""
        if found := self._no_file() or self._other_size():
            return dict.fromkeys(self.keys(method), found)
        return {
            key: Missing(f"{self.file} has no {column} for {key}", ONE_ROW, _RAN)
            for key in self.keys(method)
            if self.value(key, column) is None
        }

    def _no_file(self) -> Finding | None:
        if self._rows:
            return None
        look = (
            f"Run the cell that writes {self.file}, and hand in {self.file} beside the "
            "notebooks (the packer takes it along): it is not measured again."
        )
        return Missing(f"no {self.file}", f"{self.file} with its rows", look)

    def _other_size(self) -> Finding | None:
        if self._size in ("", size_name()):
            return None
        look = "PROJECT_SIZE=small is there to try the notebook: hand in what it measures without"
        if size_name() != "full":
            look = f"This was started with PROJECT_SIZE={size_name()}: is the file an older one"
        return Missing(
            f"{self.file} has the rows of PROJECT_SIZE={self._size}",
            f"rows of {', '.join(self.models)}",
            f"{look}.",
        )

    def falling(self, method: str) -> Problems:
        """Peaks that are smaller than that of a smaller batch."""
        found = {}
        for model in self.models:
            keys = [key for key in self.keys(method) if key.model == model]
            line = [self.value(key, "peak_bytes") or 0.0 for key in keys]
            for key, before, now in zip(keys[1:], line, line[1:], strict=False):
                if now < before:
                    look = "A larger batch holds more activations: is the row of another model?"
                    text = f"{model}, {method}: {now:,.0f} bytes at batch {key.batch}"
                    found[key] = Finding(text, f"at least {before:,.0f}", look)
        return found

    def unsteady(self, method: str) -> Problems:
        """Peaks that leave the line on which activations grow, sample by sample."""
        found = {}
        for model in self.models:
            keys = [key for key in self.keys(method) if key.model == model]
            peaks = [self.value(key, "peak_bytes") or 0.0 for key in keys]
            growth = [
                (later - former) / (b.batch - a.batch)
                for (a, b), (former, later) in zip(pairwise(keys), pairwise(peaks), strict=True)
            ]
            for key, slope in zip(keys[2:], growth[1:], strict=True):
                if abs(slope - growth[0]) > STEADY * growth[0]:
                    text = f"{key}: {slope:,.0f} bytes more for each sample"
                    look = "Each sample adds the same: is the row of another run, or made up?"
                    found[key] = Finding(text, f"about {growth[0]:,.0f}", look)
        return found
