"""The catalogues through the whole pipeline.

Every right and every wrong version of a catalogue is handed in by an honest student: sandbox,
judge, grades.csv. A mistake loses what its catalogue says in its own task, and nothing in any
other one; what is right loses nothing. Who is in the class hands in several versions at once, each
of another function, and our solution of about half of the functions: so a whole catalogue takes
few students, and each mistake is seen beside tasks that must not pay for it.

``BENCH_LAB`` names a lab (or several, with commas), ``BENCH_TASK`` tasks, ``BENCH_EACH=1`` gives
every version a student of its own, ``BENCH_HONEST`` is the largest number of students. Who got
another grade is told on the way, and in ``build/catalogues.txt``.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from random import Random
from typing import NamedTuple

import nbformat
from nbformat.notebooknode import NotebookNode

from lab_utils.kit.course import read_course
from lab_utils.kit.lab import Lab, lab_called
from lab_utils.kit.root import ROOT
from lab_utils.kit.task import Task
from tests.benchmarks import Row, progress
from tests.labs.lab4a.catalogue import Change
from tests.labs.lab4a.class_of_four import solved
from tests.support.catalogue import Cell

_ROUNDED = 0.005  # points in grades.csv have two digits
DIFFERENCES = ROOT / "build" / "catalogues.txt"


class Version(NamedTuple):
    """A function of a lab as somebody might write it."""

    name: str
    task: Task
    old: str
    """What of the solution's cell is replaced; where it is empty, ``new`` stands below the cell."""
    new: str
    most: float
    """The largest share of its task's points that it may get, if it is wrong; else 1."""

    def put_into(self, books: Mapping[str, NotebookNode]) -> None:
        """Write it where the solution of its function stands."""
        asks = self.task.asks
        wanted = re.escape(asks) if self.task.is_of_file else rf"^(?:def|class) {asks}\b"
        for book in books.values():
            for cell in book.cells:
                solution = cell.metadata.get("nbgrader", {}).get("solution")
                if solution and re.search(wanted, cell.source, re.MULTILINE):
                    if self.task.is_of_file:
                        cell.source = self.new
                    elif self.old:
                        assert self.old in cell.source, self.name
                        cell.source = cell.source.replace(self.old, self.new)
                    else:
                        cell.source += f"\n\n\n{self.new}"
                    return
        raise AssertionError(f"no cell has {asks}")


def versions_of(lab: Lab) -> list[Version]:
    """What the catalogue of a lab holds, or the modules of its catalogue."""
    catalogue = import_module(f"tests.labs.{lab.id}.catalogue")
    modules = [catalogue]
    if not hasattr(catalogue, "WRONG"):
        names = [module.name for module in iter_modules(catalogue.__path__)]
        modules = [import_module(f"{catalogue.__name__}.{name}") for name in names]
    found: list[Version] = []
    for module in modules:
        found += [_version(lab, one, _most(one)) for one in module.WRONG if _asked(lab, one)]
        found += [_version(lab, one, 1) for one in module.RIGHT if _asked(lab, one)]
    return found


def _asked(lab: Lab, one: Cell | Change) -> list[Task]:
    """The tasks that a version may belong to, of those that are tried."""
    wanted = [name for name in os.environ.get("BENCH_TASK", "").split(",") if name]
    tasks = [task for task in tasks_of(lab) if not wanted or task.id in wanted]
    if isinstance(one, Change):
        return [task for task in tasks if one.function == task.asks]
    return [task for task in tasks if one.task == task.id]


def _most(one: Cell | Change) -> float:
    return getattr(one, "most", 0.5)


def _version(lab: Lab, one: Cell | Change, most: float) -> Version:
    task = _asked(lab, one)[0]
    if isinstance(one, Change):
        return Version(one.name, task, one.old, one.new, most)
    return Version(one.name, task, "", one.code, most)


def tasks_of(lab: Lab) -> list[Task]:
    """Those that code answers; what was measured at home has a catalogue of tables."""
    measured = {file.name for file in lab.files if file.measured}
    return [task for task in lab.tasks if task.asks not in measured]


def students_of(versions: Sequence[Version]) -> list[list[Version]]:
    """Who hands in which versions: of a function at most one, and of about half of them none."""
    if os.environ.get("BENCH_EACH"):
        return [[version] for version in versions]
    left: dict[str, list[Version]] = defaultdict(list)
    for version in versions:
        left[version.task.asks].append(version)
    chance, found = Random(19), []
    while names := [name for name, some in left.items() if some]:
        # The longest lists first: they decide how many students there are.
        names.sort(key=lambda name: -len(left[name]))
        kept = [names[0], *(name for name in names[1:] if chance.random() < 0.5)]
        found.append([left[name].pop(0) for name in kept])
    return found


def _name(number: int) -> str:
    """Of letters: the number at the end of a file's name is that of an upload."""
    first, second, third = ("abcdefghij"[number // ten % 10] for ten in (100, 10, 1))
    return f"honest {first}{second}{third}on"


def _hand_in(folder: Path, lab: Lab, versions: Sequence[Version], number: int) -> None:
    books = solved(lab.id)
    for version in versions:
        version.put_into(books)
    with zipfile.ZipFile(folder / f"{_name(number)}.zip", "w") as file:
        for name, book in books.items():
            # Notebooks that are another lab's have their own catalogue: 05_… has the tasks 5.1, …
            if any(task.id.startswith(f"{int(name[:2])}.") for task in lab.tasks):
                file.writestr(f"{name}.ipynb", nbformat.writes(book))


def different(row: Mapping[str, str], lab: Lab, versions: Sequence[Version]) -> dict[str, str]:
    """The tasks whose points are not what they should be, and the points."""
    by_task = {version.task.id: version for version in versions}
    also = getattr(import_module(f"tests.labs.{lab.id}.catalogue"), "ALSO", {})
    costs_too = {task for version in versions for task in also.get(version.name, ())}
    functions = {version.task.asks for version in versions}
    found = {}
    for task in tasks_of(lab):
        points, own = float(row[task.id] or 0), by_task.get(task.id)
        if own is None and (task.asks in functions or task.id in costs_too):
            continue  # another task about the same function: its catalogue says nothing about it
        share = own.most if own else 1
        right = points == task.points if share == 1 else points <= share * task.points + _ROUNDED
        if not right:
            found[task.id] = f"{task.id} {points:g} of {task.points:g}"
    return found


def _graded(
    lab: Lab, students: Sequence[Sequence[Version]], temporary: Path
) -> dict[str, dict[str, str]]:
    source, home = temporary / "in", temporary / "home"
    source.mkdir()
    for number, versions in enumerate(students):
        _hand_in(source, lab, versions, number)
    total = sum(map(len, students))
    progress(f"{lab.id}: grading {total} versions of {len(students)} honest students")
    command = [sys.executable, "-m", "autograder", "grade", lab.id, "--from", str(source)]
    subprocess.run([*command, "--into", str(home)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    with (home / "grades" / lab.id / "grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def benchmarks() -> Iterator[Row]:
    """A row for each lab: versions with the points that they deserve, of all."""
    wanted = [name for name in os.environ.get("BENCH_LAB", "").split(",") if name]
    told: list[str] = []
    for name in wanted or read_course().labs:
        lab = lab_called(name)
        students = students_of(versions_of(lab))
        students = students[: int(os.environ.get("BENCH_HONEST", len(students)))]
        with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
            rows = _graded(lab, students, Path(temporary))
        total = right = 0
        for number, versions in enumerate(students):
            wrong = different(rows[_name(number).replace(" ", "-")], lab, versions)
            own = {version.task.id for version in versions}
            # What no version of theirs is about was paid for by one of them: none is right.
            right += sum(v.task.id not in wrong for v in versions) * (set(wrong) <= own)
            total += len(versions)
            if wrong:
                names = "; ".join(f"{v.task.id} {v.name} ({v.most:g})" for v in versions)
                told.append(f"{lab.id}: {', '.join(wrong.values())}\n    beside {names}")
                progress(told[-1])
        DIFFERENCES.parent.mkdir(exist_ok=True)
        DIFFERENCES.write_text("\n".join(told) + "\n", encoding="utf-8")
        title = f"grade, {lab.id}: versions of the catalogue with the points that they deserve"
        yield Row(title, right, "all of them", total, "versions", goal=1, higher_is_better=True)
