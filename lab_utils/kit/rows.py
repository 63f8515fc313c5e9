"""Tables of measurements: CSV files that grow row by row, and go on where they stopped."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lab_utils.kit.files import is_looked_at
from lab_utils.kit.progress import Bar

Row = dict[str, Any]


def collect(file: str | Path, keys: Iterable[Row], measure: Callable[..., Row]) -> list[Row]:
    """One row for each of ``keys``, in a CSV file that is written after every row.

    Rows that the file has already are not measured again, so that an experiment goes on
    where it stopped. Delete the file to begin anew. Where a hand-in is looked at, nothing
    is measured.
    """
    path, wanted = Path(file), list(keys)
    rows = read_rows(path)
    if is_looked_at(path.parent):
        print(f"{path.name} counts as it was handed in: nothing is measured here.")
        return rows
    missing = [key for key in wanted if not any(_is_row_of(key, row) for row in rows)]
    bar = Bar(path.name, len(wanted), done=len(wanted) - len(missing))
    for key in missing:
        bar.tell(", ".join(map(str, key.values())))
        rows.append({k: str(v) for k, v in {**key, **measure(**key)}.items()})
        names = list(dict.fromkeys(name for row in rows for name in row))
        with path.open("w", newline="", encoding="utf-8") as out:
            writer = csv.DictWriter(out, names, restval="")
            writer.writeheader()
            writer.writerows(rows)
        bar.advance()
    return rows


def _is_row_of(key: Row, row: Row) -> bool:
    return all(row.get(name) == str(value) for name, value in key.items())


def read_rows(file: str | Path) -> list[Row]:
    """The rows of a CSV file, all values as text; none if there is no such file."""
    path = Path(file)
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))
