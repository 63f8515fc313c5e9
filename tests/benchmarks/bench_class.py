"""A class among attackers: how many honest students get the right grade, and what it costs.

Honest hand-ins are right ones and mistakes of the catalogue: a mistake loses points in its own
task and in no other. Beside 60 of them are all attacks of the attackers' catalogue, and the
sample class with its broken zips; grading is killed twice, and goes on. ``BENCH_HONEST`` sets
another number of honest ones.

What attacks cost is told by two more classes of the same size: one honest, and one in which
every sixth is an attacker. Seconds are those of the processor, of all processes together.
"""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from threading import Event

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.labs.lab4a.sample_class import LAB, write_sample_class
from lab_utils.kit.lab import lab_called
from tests.benchmarks import Row, progress
from tests.benchmarks.watch import Watch
from tests.grading.attacks.catalogue import GROUPS
from tests.labs.lab4a.catalogue import RIGHT, WRONG, Change
from tests.labs.lab4a.class_of_four import ROOT, with_cell, with_change

HONEST = int(os.environ.get("BENCH_HONEST", "60"))
ATTACKERS = 6
"""One in so many, where costs are compared."""
ATTACKS = [attack for group in GROUPS.values() for attack in group]


def _change(number: int) -> Change:
    changes = (*RIGHT, *WRONG)
    return changes[number * 7 % len(changes)]


def _name(kind: str, number: int) -> str:
    """Of letters: the number at the end of a file's name is that of an upload."""
    return f"{kind} {'abcdefghij'[number // 10 % 10]}{'klmnopqrst'[number % 10]}on"


def _zip(path: Path, books: Mapping[str, NotebookNode], files: Mapping[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for name, book in books.items():
            file.writestr(f"{name}.ipynb", nbformat.writes(book))
        for name, content in files.items():
            file.writestr(name, content)


def _honest(folder: Path, number: int) -> None:
    _zip(folder / f"{_name('honest', number)}.zip", with_change(_change(number)), {})


def _hostile(folder: Path, number: int) -> None:
    attack = ATTACKS[number % len(ATTACKS)]
    cell = attack.cell.replace("ROOT", str(ROOT)).replace("PORT", "22").replace("GRADER", "1")
    books = with_cell(cell, notebook="01_profiler")
    _zip(folder / f"{_name('hostile', number)}.zip", books, attack.files)


def _is_right(row: Mapping[str, str], number: int) -> bool:
    loses = _change(number).loses
    tasks = [name for name in row if name[:1].isdigit()]
    return all(
        (float(row[t]) < lab_called(LAB).task_called(t).points) == (t == loses) for t in tasks
    )


def _start(source: Path, home: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "autograder", "grade", LAB, "--from", str(source)]
    arguments = [*command, "--into", str(home), "--jobs", "2"]
    return subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.DEVNULL)


def _killed_after(source: Path, home: Path, graded: int) -> None:
    """Grade until so many are done, and kill it in the middle of the next ones."""
    run = _start(source, home)
    over = Event()
    while run.poll() is None and len(list(home.glob(f"autograded/*/{LAB}"))) < graded:
        over.wait(0.3)
    over.wait(1)
    run.send_signal(signal.SIGKILL)
    run.wait()


def _cost(source: Path, home: Path) -> float:
    run = _start(source, home)
    spent = Watch(run.pid)
    spent.start()
    run.wait()  # 1: somebody was not graded
    return spent.end()


def benchmarks() -> Iterator[Row]:
    """Right grades among all attacks, with grading killed twice; and what attackers cost."""
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        source, home = Path(temporary, "in"), Path(temporary, "home")
        write_sample_class(source)
        (source / "students.csv").unlink()
        for number in range(HONEST):
            _honest(source, number)
        for number in range(len(ATTACKS)):
            _hostile(source, number)
        progress(f"grading {HONEST} honest students among {len(ATTACKS)} attackers, killed twice")
        for part in (1, 2):
            _killed_after(source, home, part * (HONEST + len(ATTACKS)) // 3)
        _cost(source, home)
        with (home / "grades" / LAB / "grades.csv").open(encoding="utf-8", newline="") as file:
            rows = {row["student"]: row for row in csv.DictReader(file)}
        names = [_name("honest", number).replace(" ", "-") for number in range(HONEST)]
        wrong = [
            f"{name} ({_change(number).name})"
            for number, name in enumerate(names)
            if name not in rows or not _is_right(rows[name], number)
        ]
    name = f"grade, honest ones of a class with {len(rows) - HONEST} others"
    right, note = HONEST - len(wrong), ", ".join(wrong)
    yield Row(name, right, "all of them", HONEST, "students", 1, higher_is_better=True, note=note)
    costs = {}
    for kind in ("honest", "attacked"):
        with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
            source = Path(temporary, "in")
            source.mkdir()
            for number in range(HONEST):
                is_hostile = kind == "attacked" and number % ATTACKERS == 0
                # The catalogue goes by kinds of attacks: a step of 7 meets all of them.
                _hostile(source, number // ATTACKERS * 7) if is_hostile else _honest(source, number)
            progress(f"grading a class of {HONEST}: {kind}")
            costs[kind] = _cost(source, Path(temporary, "home"))
    name = f"grade, an attacked class of {HONEST}"
    yield Row(name, costs["attacked"], "an honest one", costs["honest"], "s of CPU", goal=1.5)
