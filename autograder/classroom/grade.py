"""Grades a class: collect, run and judge, store in nbgrader's gradebook, tell everybody.

Work goes on where it was cut off: see ``ledger``. What runs student code is an examiner; all
others are on this side of the trust boundary.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Protocol

from autograder.classroom.gradebook import Book, NotStored
from autograder.classroom.home import Home
from autograder.classroom.ledger import Entry, Ledger
from autograder.classroom.outcomes import write_outcomes
from autograder.classroom.sheet import Sheet
from autograder.collect import Roster, Submission, collect
from autograder.executor import Isolation
from autograder.verdict import SubmissionVerdict, load_verdict
from lab_utils.course import Lab, read_course
from lab_utils.errors import LabError


class Examiner(Protocol):
    """Runs and judges submissions, and keeps verdicts where ``load_verdict`` finds them."""

    def examine(self, student: str) -> SubmissionVerdict:
        """Run and judge what a student handed in; called from several threads at once."""


@dataclass(frozen=True)
class Order:
    """What is to be graded, and how."""

    lab: str
    source: Path
    home: Home
    roster: Roster | None = None
    jobs: int = 2
    only: tuple[str, ...] = ()
    """Ids or names of the students to grade; nobody named: all."""
    again: bool = False
    """Grade also what was graded before."""
    require: Isolation = Isolation.NONE
    """Refuse to run with less isolation; what was graded with less is graded again."""


@dataclass(frozen=True)
class Outcome:
    """What became of a class."""

    sheets: tuple[Sheet, ...]
    graded: int
    """Submissions that were graded in this run; the others had been graded before."""
    written: dict[str, Path]


Tell = Callable[[str, int, int], None]
"""Called with the student just graded, how many are done, and of how many."""


def grade_class(
    order: Order,
    examiner: Callable[[Order], AbstractContextManager[Examiner]],
    tell: Tell = lambda student, done, of: None,
) -> Outcome:
    """Grade a class. Whatever is handed in, everybody has a row, and nobody stops the others.

    Raises:
        LabError: there is nothing to collect, no such lab or student, or no sandbox as wanted.
    """
    home, lab = order.home, order.lab
    course = read_course(home.root / "setup" / "course.toml")
    home.prepare()
    rows = collect(order.source, lab, home.submitted, order.roster, root=home.root)
    book, ledger = Book(home, lab), Ledger(home, lab)
    book.prepare(order.roster)
    todo = list(_to_grade(order, rows, ledger, book))
    if todo:
        tell("", 0, len(todo))
        with examiner(order) as examines:
            for done, student in enumerate(_graded(todo, examines, book, ledger, order), start=1):
                tell(student, done, len(todo))
    sheets = tuple(_sheets(order, rows, ledger, book, course.lab(lab)))
    written = write_outcomes(home.grades(lab), sheets, course, course.lab(lab), order.roster)
    return Outcome(sheets, len(todo), {**written, "gradebook": home.gradebook})


def _to_grade(
    order: Order, rows: Sequence[Submission], ledger: Ledger, book: Book
) -> Iterator[str]:
    chosen = _chosen(order.only, rows)
    for row in rows:
        if row.folder is None:
            if ledger.entry(row.student):  # as when a student's only upload was taken back
                book.forget(row.student)
                ledger.forget(row.student)
            continue
        entry = ledger.entry(row.student)
        stale = entry is None or entry.key != ledger.key(row.folder) or bool(entry.trouble)
        if row.student in chosen and (stale or order.again or _ran_with_less(order, row.student)):
            ledger.forget(row.student)
            yield row.student


def _ran_with_less(order: Order, student: str) -> bool:
    if order.require is Isolation.NONE:
        return False
    verdict = load_verdict(order.home.path, order.lab, student)
    return verdict is not None and order.require > verdict.isolation


def _chosen(only: Sequence[str], rows: Sequence[Submission]) -> set[str]:
    if not only:
        return {row.student for row in rows}
    called = {name.casefold(): row.student for row in rows for name in (row.name, row.student)}
    for name in only:
        if name.casefold() not in called:
            close = get_close_matches(name.casefold(), called, n=3, cutoff=0.5)
            hint = f"; did you mean {' or '.join(close)}?" if close else ""
            raise LabError(f"nobody called {name!r} handed anything in{hint}")
    return {called[name.casefold()] for name in only}


def _graded(
    todo: Sequence[str], examiner: Examiner, book: Book, ledger: Ledger, order: Order
) -> Iterator[str]:
    """Examine several at a time, and store them one by one: a gradebook has one writer."""
    waiting = iter(todo)
    running: dict[Future[SubmissionVerdict], str] = {}
    with ThreadPoolExecutor(order.jobs) as threads:
        while True:
            for student in waiting:
                running[threads.submit(examiner.examine, student)] = student
                if len(running) > order.jobs:  # one is ready when a worker is free
                    break
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                student = running.pop(future)
                future.result()
                try:
                    book.store(student)
                    trouble = ""
                except NotStored as error:
                    trouble = str(error)
                folder = order.home.submitted / student / order.lab
                ledger.note(student, Entry(ledger.key(folder), trouble))
                yield student


def _sheets(
    order: Order, rows: Sequence[Submission], ledger: Ledger, book: Book, lab: Lab
) -> Iterator[Sheet]:
    scores, nothing = book.scores(), tuple(book.cells())
    handed_in = {row.student: row for row in rows}
    names = {student.id: student.name for student in order.roster or ()}
    names |= {row.student: row.name for row in rows}
    for student in sorted(names):
        row, entry = handed_in.get(student), ledger.entry(student)
        if row is None:
            yield Sheet(
                student, names[student], remarks=("Nothing was handed in.",), scores=nothing
            )
            continue
        remarks = [remark.text for remark in row.remarks]
        if row.late and lab.due_for(student, row.name) != lab.due:
            remarks.append(
                "Late, but with a later date of its own: compare the time of the upload."
            )
        if row.folder and entry is None:
            remarks.append("Not graded yet.")
        elif entry and entry.trouble:
            remarks.append(f"Not graded: {entry.trouble}.")
        graded = entry is not None and not entry.trouble
        yield Sheet(
            student,
            row.name,
            late=row.late,
            handed_in=row.original.name,
            folder=row.folder,
            remarks=tuple(remarks),
            scores=scores.get(student, nothing) if graded else nothing,
            verdict=load_verdict(order.home.path, order.lab, student) if graded else None,
        )
