"""Grading a class, against stock ``nbgrader autograde`` and, without torch, ``otter run``.

Ours is ``python -m autograder grade`` with two workers and the sandbox on, from uploads to pages.
The peers grade one hand-in after the other; some of the same hand-ins are tried, in turns with
ours, and a class takes them as much for each as those. Wall time is compared, since peers use one
processor; CPU seconds stand beside it, which neighbours on the machine disturb little.

``BENCH_CLASS`` (200) is the size of a larger class, for growth and memory; 0 leaves it out.
``BENCH_RATED`` (60) is the size of the class that is compared, ``BENCH_SAMPLED`` (4) how many of
them stock nbgrader grades. ``BENCH_LAB0`` (20) is the size of the class of Lab 0.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.classroom.sample import ADDED, Change, Example, write_class
from autograder.collect import Student
from autograder.grading.hidden import hidden_of
from autograder.grading.sandbox.inside.usage import look, proportional
from lab_utils.kit.course import read_course
from lab_utils.kit.parts import parts_of
from tests.benchmarks import Row, progress
from tests.benchmarks.peers import OtterRun, Spent, StockNbgrader, otter_test, spent_on
from tests.labs.lab4a.catalogue import RIGHT, WRONG
from tests.labs.lab4a.class_of_four import LAB, ROOT, with_change
from tests.support.sample_course import solved_by_a_student

CLASS = int(os.environ.get("BENCH_CLASS", "200"))
RATED = int(os.environ.get("BENCH_RATED", "60"))
SAMPLED = int(os.environ.get("BENCH_SAMPLED", "4"))
SMALL = int(os.environ.get("BENCH_LAB0", "20"))
SMALL_LAB = "lab0"
GOAL = 20
"""How many times stock nbgrader."""
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


class Ours:
    """``python -m autograder grade`` on a folder of uploads."""

    def __init__(self, lab: str, uploads: Path, home: Path) -> None:
        self._lab, self._uploads, self._home = lab, uploads, home
        self.peak = 0.0
        """Bytes that all its processes held at once."""

    def grade(self) -> Spent:
        """Grade all of them."""
        command = [sys.executable, "-m", "autograder", "grade", self._lab]
        command += ["--from", str(self._uploads), "--into", str(self._home)]
        command += ["--jobs", str(WORKERS), "--require-isolation", "namespaces"]
        memory: list[_Memory] = []

        def watch(process: int) -> None:
            memory.append(_Memory(process))
            memory[0].start()

        self._began = time.time()
        try:
            return spent_on(command, ROOT, beside=watch)
        finally:
            memory[0].over.set()
            self.peak = float(memory[0].peak)

    def done(self) -> list[float]:
        """Seconds after which each hand-in was graded and stored."""
        last = sorted((ROOT / "notebooks" / self._lab).glob("*.ipynb"))[-1].name
        graded = (self._home / "autograded").glob(f"*/{self._lab}/{last}")
        return sorted(path.stat().st_mtime - self._began for path in graded)


def _uploads(folder: Path, size: int) -> Path:
    folder.mkdir()
    course = read_course()
    for number in range(size):
        _zip(folder / course.zip_file_name(LAB, first=_name(number), last="Student"), number)
    return folder


def _row(name: str, ours: Spent, peer: str, theirs: Spent, size: int, goal: float) -> Row:
    """Hand-ins a minute of wall time; what they cost of the processor is told beside it."""
    note = f"CPU s a hand-in: {ours.cpu / size:.2f}, {peer} {theirs.cpu / size:.2f}"
    rate = "submissions/min"
    rates = 60 * size / ours.wall, 60 * size / theirs.wall
    return Row(name, rates[0], peer, rates[1], rate, goal, higher_is_better=True, note=note)


def benchmarks() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-") as temporary:
        folder = Path(temporary)
        yield from _against_nbgrader(folder)
        if SMALL:
            yield from _without_torch(folder)
        if CLASS:
            yield from _larger(folder)


def _against_nbgrader(folder: Path) -> Iterator[Row]:
    stock = StockNbgrader(folder / "stock", LAB)
    ours = Ours(LAB, _uploads(folder / "zips", RATED), folder / "home")
    half = max(1, SAMPLED // 2)
    progress(f"grading {half} hand-ins of {LAB} with stock nbgrader")
    stock.grade([handed_in(number) for number in range(half)])
    progress(f"grading {RATED} with ours")
    took = ours.grade()
    assert len(ours.done()) == RATED, f"{len(ours.done())} of {RATED} were graded"
    progress(f"grading {half} more with stock nbgrader")
    stock.grade([handed_in(RATED - 1 - number) for number in range(half)])
    name = f"stock nbgrader ({2 * half} tried)"
    yield _row(f"grade, class of {RATED}", took, name, stock.spent(RATED), RATED, GOAL)


def _larger(folder: Path) -> Iterator[Row]:
    ours = Ours(LAB, _uploads(folder / "more", CLASS), folder / "home of more")
    progress(f"grading a class of {CLASS}")
    ours.grade()
    done = ours.done()
    assert len(done) == CLASS, f"{len(done)} of {CLASS} were graded"
    step = max(1, CLASS // 10)
    early = (done[2 * step - 1] - done[step - 1]) / step
    late = (done[-1] - done[-1 - step]) / step
    of = f"one of the first {2 * step}"
    yield Row(f"grade, one more of {CLASS}", late, of, early, "s", goal=1.25)
    yield Row("grade, memory of it all", ours.peak, "2 GB", MEMORY, "bytes", goal=1)


def _without_torch(folder: Path) -> Iterator[Row]:
    """A lab without torch: the peers pay for no large import."""
    few = min(3, SMALL)
    uploads = folder / "small"
    letters = "abcdefghijklmnopqrst"
    names = [f"{one}{two}on".capitalize() for one in letters for two in letters][:SMALL]
    said = {name: Change(ADDED, "", f"print({name!r})") for name in names}
    people = {name: Student(f"s{name}", name, "Student") for name in names}
    write_class(uploads, SMALL_LAB, [Example(people[name], (said[name],)) for name in names])
    books = solved_by_a_student(SMALL_LAB)
    stock = StockNbgrader(folder / "stock of small", SMALL_LAB)
    ours = Ours(SMALL_LAB, uploads, folder / "home of small")
    progress(f"grading {few} hand-ins of {SMALL_LAB} with stock nbgrader")
    stock.grade([books] * few)
    progress(f"grading {SMALL} with ours")
    took = ours.grade()
    assert len(ours.done()) == SMALL, f"{len(ours.done())} of {SMALL} were graded"
    peer = f"stock nbgrader ({few} tried)"
    yield _row(f"grade {SMALL_LAB}, class of {SMALL}", took, peer, stock.spent(SMALL), SMALL, 1)
    progress("installing otter-grader into an environment of its own")
    try:
        otter = OtterRun(folder / "otter")
    except RuntimeError as error:
        progress(f"otter-grader is missing, and cannot be installed here: {error}")
        return
    otter.prepare(_otter_tests())
    progress(f"grading {few} with otter run")
    (book,) = books.values()
    otter.grade([book] * few, points=0.75)
    peer = f"otter run ({few} tried)"
    yield _row(f"grade {SMALL_LAB} beside otter", took, peer, otter.spent(SMALL), SMALL, 1)


def _otter_tests() -> dict[str, str]:
    """The tasks of Lab 0 for otter: the same calls, public and hidden, and the same table."""
    calls, (table,) = (hidden_of(SMALL_LAB).graded_cases(task) for task in ("1.1", "1.2"))
    code = [
        f">>> tensor_bytes({tuple(case.given['shape'])!r}, {case.given['dtype']!r})"
        f" == {case.wanted['nbytes']}\nTrue"
        for asked in calls
        for case in parts_of(asked)
    ]
    rows = {name: str(nbytes) for name, (_, nbytes) in table.wanted["rows"].items()}
    read = (
        ">>> import csv\n>>> with open('bytes.csv') as told:\n"
        "...     found = {row['tensor']: row['bytes'] for row in csv.DictReader(told)}\n"
        f">>> found == {rows!r}\nTrue"
    )
    return {"t11": otter_test("t11", 0.5, code), "t12": otter_test("t12", 0.25, [read])}
