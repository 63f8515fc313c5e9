"""A class of 60 honest students among broken and hostile ones: how many get the right grade.

Honest hand-ins are right ones and mistakes of the catalogue: a mistake loses points in its own
task and in no other. ``BENCH_HONEST`` sets another number of them.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat

from autograder.labs.lab4a.sample_class import LAB, write_sample_class
from lab_utils.labs.lab4a import task_called
from tests.benchmarks import Row, progress
from tests.labs.lab4a.catalogue import RIGHT, WRONG, Change
from tests.labs.lab4a.class_of_four import ROOT, with_change

HONEST = int(os.environ.get("BENCH_HONEST", "60"))


def _change(number: int) -> Change:
    changes = (*RIGHT, *WRONG)
    return changes[number * 7 % len(changes)]


def _name(number: int) -> str:
    """Of letters: the number at the end of a file's name is that of an upload."""
    return f"honest {'abcdefghij'[number // 10 % 10]}{'klmnopqrst'[number % 10]}on"


def _hand_in(folder: Path, number: int) -> None:
    with zipfile.ZipFile(folder / f"{_name(number)}.zip", "w") as file:
        for name, book in with_change(_change(number)).items():
            file.writestr(f"{name}.ipynb", nbformat.writes(book))


def _is_right(row: Mapping[str, str], number: int) -> bool:
    loses = _change(number).loses
    tasks = [name for name in row if name[:1].isdigit()]
    return all((float(row[t]) < task_called(t).points) == (t == loses) for t in tasks)


def benchmarks() -> Iterator[Row]:
    """One row: those with the right grade, of all who are honest."""
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        source, home = Path(temporary, "in"), Path(temporary, "home")
        write_sample_class(source)
        (source / "students.csv").unlink()
        for number in range(HONEST):
            _hand_in(source, number)
        progress(f"grading {HONEST} honest students among broken and hostile ones")
        command = [sys.executable, "-m", "autograder", "grade", LAB, "--from", str(source)]
        subprocess.run(
            [*command, "--into", str(home)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
        )
        with (home / "grades" / LAB / "grades.csv").open(encoding="utf-8", newline="") as file:
            rows = {row["student"]: row for row in csv.DictReader(file)}
        right = sum(_is_right(rows[_name(n).replace(" ", "-")], n) for n in range(HONEST))
    name = f"grade, honest ones of a class with {len(rows) - HONEST} others"
    yield Row(name, right, "all of them", HONEST, "students", goal=1, higher_is_better=True)
