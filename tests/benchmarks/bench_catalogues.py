"""The catalogues through the whole pipeline.

Every right and every wrong version of a catalogue is handed in by one honest student: sandbox,
judge, grades.csv. A mistake loses at least half of its own task, and of no other one; what is
right loses nothing. ``BENCH_LAB`` chooses one of the labs, ``BENCH_HONEST`` a number of students.
Whoever got another grade is told on the way.
"""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import nbformat

from lab_utils.kit.lab import lab_called
from lab_utils.kit.task import Task
from tests.benchmarks import Row, progress
from tests.labs.lab4a.catalogue import Change
from tests.labs.lab4a.class_of_four import ROOT, with_change

#: The labs whose catalogues are changes of a solution, and the notebooks that are handed in.
LABS: dict[str, tuple[str, ...]] = {"lab4a": (), "project": ("05_selection",)}


def _changes(lab: str) -> Sequence[Change]:
    catalogue = import_module(f"tests.labs.{lab}.catalogue")
    functions = {task.asks for task in _tasks(lab)}
    found = [c for c in (*catalogue.RIGHT, *catalogue.WRONG) if c.function in functions]
    honest = int(os.environ.get("BENCH_HONEST", len(found)))
    return [found[number * 7 % len(found)] for number in range(honest)]


def _tasks(lab: str) -> list[Task]:
    kept = tuple(name[1] for name in LABS[lab])  # 05_selection has the tasks 5.1, 5.2, …
    return [task for task in lab_called(lab).tasks if not kept or task.id.startswith(kept)]


def _name(number: int) -> str:
    """Of letters: the number at the end of a file's name is that of an upload."""
    first, second, third = ("abcdefghij"[number // ten % 10] for ten in (100, 10, 1))
    return f"honest {first}{second}{third}on"


def _hand_in(folder: Path, lab: str, change: Change, number: int) -> None:
    with zipfile.ZipFile(folder / f"{_name(number)}.zip", "w") as file:
        for name, book in with_change(change, lab).items():
            if not LABS[lab] or name in LABS[lab]:
                file.writestr(f"{name}.ipynb", nbformat.writes(book))


def _wrong(row: Mapping[str, str], lab: str, change: Change) -> list[str]:
    """The tasks whose points are not what they should be."""
    found = []
    for task in _tasks(lab):
        points = float(row[task.id])
        right = points <= task.points / 2 if task.id == change.loses else points == task.points
        if not right:
            found.append(f"{task.id} {points:g} of {task.points:g}")
    return found


def _graded(lab: str, changes: Sequence[Change], temporary: Path) -> dict[str, dict[str, str]]:
    source, home = temporary / "in", temporary / "home"
    source.mkdir()
    for number, change in enumerate(changes):
        _hand_in(source, lab, change, number)
    progress(f"{lab}: grading {len(changes)} honest students")
    command = [sys.executable, "-m", "autograder", "grade", lab, "--from", str(source)]
    subprocess.run([*command, "--into", str(home)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    with (home / "grades" / lab / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def benchmarks() -> Iterator[Row]:
    """A row for each lab: those with the right grade, of all who are honest."""
    chosen = os.environ.get("BENCH_LAB", "")
    for lab in LABS:
        if chosen and lab != chosen:
            continue
        changes = _changes(lab)
        with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
            rows = _graded(lab, changes, Path(temporary))
        right = 0
        for number, change in enumerate(changes):
            wrong = _wrong(rows[_name(number).replace(" ", "-")], lab, change)
            right += not wrong
            if wrong:
                progress(f"{change.name} (loses {change.loses or 'nothing'}): {', '.join(wrong)}")
        name = f"grade, {lab}: versions of the catalogue with the points that they deserve"
        total = len(changes)
        yield Row(name, right, "all of them", total, "versions", goal=1, higher_is_better=True)
