"""Grading a class of real Lab 4A submissions, against stock ``nbgrader autograde``.

One run of ``python -m autograder grade`` with two workers and the sandbox on, for a class of
200; its first 60 count for the rate. Stock nbgrader grades three of them, and its rate is
taken for that of the class: it grades one after the other, each for itself. Set
``BENCH_CLASS`` for a class of another size.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.grading.sandbox.inside.usage import look, proportional
from lab_utils.kit.course import read_course
from tests.benchmarks import Row, progress
from tests.labs.lab4a.catalogue import RIGHT, WRONG
from tests.labs.lab4a.class_of_four import LAB, ROOT, STOCK, with_change
from tests.support.sample_course import autograde, copy_course, submit, write

CLASS = int(os.environ.get("BENCH_CLASS", "200"))
RATED, SAMPLED = min(60, CLASS), 3
WORKERS = 2
MEMORY = 2e9
"""Bytes that the whole run may take."""


def handed_in(number: int) -> dict[str, NotebookNode]:
    """The notebooks of one student: a right or wrong hand-in, no two of them the same."""
    changes = (*RIGHT, *WRONG)
    books = with_change(changes[number * 7 % len(changes)])
    for book in books.values():
        book.cells.append(nbformat.v4.new_code_cell(f"print('I am student {number}')"))
    return books


def _name(number: int) -> str:
    """A name of letters, as people have."""
    letters = "abcdefghijklmnopqrst"
    return "".join(letters[number // 20**place % 20] for place in (2, 1, 0)).capitalize()


def _zip(path: Path, number: int) -> None:
    with zipfile.ZipFile(path, "w") as file:
        for name, book in handed_in(number).items():
            file.writestr(f"{name}.ipynb", nbformat.writes(book))
        for dot in (ROOT / "autograder" / "reference").glob("*.dot"):
            file.write(dot, dot.name)


class _Memory(Thread):
    """The most memory that a process and all below it hold at once, shared pages once."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self.peak, self.over, self._process = 0, Event(), process

    def run(self) -> None:
        while not self.over.wait(1):
            family, seen = {self._process}, look()
            grown = True
            while grown:
                below = {pid for pid, process in seen.items() if process.parent in family} - family
                family |= below
                grown = bool(below)
            self.peak = max(self.peak, proportional(sorted(family)))


def _grade(folder: Path) -> tuple[list[float], float]:
    """Seconds after which each submission was graded and stored, and the peak in bytes."""
    home = folder / "home"
    command = [sys.executable, "-m", "autograder", "grade", LAB, "--from", str(folder / "zips")]
    command += ["--into", str(home), "--jobs", str(WORKERS), "--require-isolation", "namespaces"]
    started = time.time()
    run = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    memory = _Memory(run.pid)
    memory.start()
    if run.wait():
        raise RuntimeError(f"{' '.join(command)} failed")
    memory.over.set()
    graded = (home / "autograded").glob(f"*/{LAB}/04_control.ipynb")
    done = sorted(path.stat().st_mtime - started for path in graded)
    assert len(done) == CLASS, f"{len(done)} of {CLASS} were graded"
    return done, float(memory.peak)


def _stock(folder: Path) -> float:
    """Seconds of stock nbgrader for one submission."""
    course = copy_course(folder)
    for name in ("solutions", "notebooks"):
        for path in (ROOT / name / LAB).glob("*.ipynb"):
            write(course / name / LAB / path.name, path.read_text())
    settings = course / "autograder" / "nbgrader_config.py"
    write(settings, settings.read_text() + STOCK)
    for number in range(SAMPLED):
        submit(course, LAB, f"student{number}", handed_in(number))
    started = time.perf_counter()
    autograde(course, LAB)
    return (time.perf_counter() - started) / SAMPLED


def benchmarks() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        folder = Path(temporary)
        (folder / "zips").mkdir()
        course = read_course()
        for number in range(CLASS):
            name = course.zip_file_name(LAB, first=_name(number), last="Student")
            _zip(folder / "zips" / name, number)
        progress(f"grading a class of {CLASS}")
        done, peak = _grade(folder)
        ours = 60 * RATED / done[RATED - 1]
        progress(f"grading {SAMPLED} of them with stock nbgrader")
        stock = 60 / _stock(folder / "stock")
        yield Row(
            f"grade, class of {RATED}",
            ours,
            f"stock nbgrader ({SAMPLED} sampled)",
            stock,
            "submissions/min",
            goal=10,
            higher_is_better=True,
        )
        step = max(1, CLASS // 10)
        early = (done[2 * step - 1] - done[step - 1]) / step
        late = (done[-1] - done[-1 - step]) / step
        of = f"one of the first {2 * step}"
        yield Row(f"grade, one more of {CLASS}", late, of, early, "s", goal=1.25)
        yield Row("grade, memory of it all", peak, "2 GB", MEMORY, "bytes", goal=1)
