"""Grades a class: collect, run and judge, store in nbgrader's gradebook, tell everybody.

Work goes on where it was cut off: see ``ledger``. What runs student code is an examiner; all
others are on this side of the trust boundary.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from autograder.classroom.chosen import chosen
from autograder.classroom.gradebook import Book, NotStored
from autograder.classroom.home import Home
from autograder.classroom.lateness import LateBook
from autograder.classroom.ledger import Entry, Ledger
from autograder.classroom.lock import only_run
from autograder.classroom.outcomes import write_outcomes
from autograder.classroom.overrides import Overrides
from autograder.classroom.pool import Examined, NotExamined
from autograder.classroom.remarks import NOTHING, OWN_DATE, PERHAPS, UNGRADED
from autograder.classroom.sheet import Score, Sheet, unknown
from autograder.classroom.times import read_times
from autograder.collect import HandIn, Roster, collect
from autograder.collect.records import listed, shown
from autograder.grading.judge.judges import JudgeFailed
from autograder.grading.judge.ruling import nothing as no_points
from autograder.grading.plan import read_plan
from autograder.grading.sandbox import Isolation, SandboxFailed
from autograder.grading.verdict import TaskVerdict, load_verdict
from autograder.remark import Remark
from lab_utils.kit.course import Assignment, read_course
from lab_utils.kit.errors import LabError


class Examiner(Protocol):
    """Runs and judges submissions, here or elsewhere, and keeps verdicts where ``load_verdict``
    finds them. The gradebook is none of its business: a run has one writer, and that is us."""

    def each(self, students: Sequence[str]) -> Generator[Examined]:
        """Run and judge what they handed in; each comes as soon as its verdict is kept.

        Who does not come has not been examined yet, and is left for a later run.
        """


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
    accept: tuple[str, ...] = ()
    """Names of uploads that count, though they were held back."""
    times: Path | None = None
    """A table that says when each student uploaded (see ``times``)."""


@dataclass(frozen=True)
class Outcome:
    """What became of a class."""

    sheets: tuple[Sheet, ...]
    graded: int
    """Submissions that were graded in this run; the others had been graded before."""
    written: dict[str, Path]
    extended_to_nobody: tuple[str, ...] = ()
    """Names with a later date in the course file that nobody in the class list has."""

    @property
    def failed(self) -> int:
        """Submissions that could not be graded, in this run or before."""
        return sum(bool(sheet.trouble) for sheet in self.sheets)


Tell = Callable[[str, int, int], None]
"""Called with the student just graded, how many are done, and of how many."""


def grade_class(
    order: Order,
    examiner: Callable[[Order], AbstractContextManager[Examiner]],
    tell: Tell = lambda student, done, of: None,
) -> Outcome:
    """Grade a class. Whatever is handed in, everybody has a row, and nobody stops the others.

    Raises:
        Busy: another run is at work in the same folder.
        LabError: there is nothing to collect, no such lab or student, or no sandbox as wanted.
    """
    with only_run(order.home.locks):
        return _grade_class(order, examiner, tell)


def _grade_class(
    order: Order, examiner: Callable[[Order], AbstractContextManager[Examiner]], tell: Tell
) -> Outcome:
    home, lab = order.home, order.lab
    course = read_course(home.root / "setup" / "course.toml")
    home.prepare()
    rows = collect(
        order.source, lab, home.submitted, order.roster, root=home.root, accept=order.accept
    )
    if not rows:
        raise LabError(f"no zip was found in {order.source}")
    if all(row.is_stranger for row in rows):
        text = f"none of the {len(rows)} uploads in {order.source} fits anybody in the class list"
        raise LabError(f"{text}: is it the list of this class?")
    times = read_times(order.times, rows, order.roster) if order.times else {}
    book, ledger = Book(home, lab), Ledger(home, lab)
    book.prepare(order.roster)
    todo = list(_to_grade(order, rows, ledger, book))
    if todo:
        tell("", 0, len(todo))
        with examiner(order) as examines:
            for done, student in enumerate(_graded(todo, examines, book, ledger, order), start=1):
                tell(student, done, len(todo))
    overrides = Overrides(home, lab)
    overrides.apply()
    late = LateBook(home, course, course.lab(lab))
    if times:
        late.note_times(
            {
                row.student: (row.original.name, times[row.student])
                for row in rows
                if row.student in times
            }
        )
    sheets = late.judged(_sheets(order, rows, ledger, book, course.lab(lab), overrides))
    late.write(sheets)
    written = write_outcomes(
        home.grades(lab), sheets, course, course.lab(lab), order.roster, ledger.rules
    )
    graded = sum(sheet.graded for sheet in sheets if sheet.student in todo)
    called = [name for sheet in sheets for name in (sheet.student, sheet.name)]
    nobody = course.lab(lab).extended_to_nobody(called) if order.roster else ()
    return Outcome(sheets, graded, {**written, "gradebook": home.gradebook}, tuple(nobody))


def _to_grade(order: Order, rows: Sequence[HandIn], ledger: Ledger, book: Book) -> Iterator[str]:
    wanted = chosen(order.only, rows)
    for row in rows:
        if row.folder is None:
            if ledger.entry(row.student):  # as when a student's only upload was taken back
                book.forget(row.student)
                ledger.forget(row.student)
            continue
        entry = ledger.entry(row.student)
        stale = entry is None or entry.key != ledger.key(row.folder) or bool(entry.trouble)
        if row.student in wanted and (stale or order.again or _ran_with_less(order, row.student)):
            ledger.forget(row.student)
            yield row.student


def _ran_with_less(order: Order, student: str) -> bool:
    if order.require is Isolation.NONE:
        return False
    verdict = load_verdict(order.home.path, order.lab, student)
    return verdict is not None and order.require > verdict.isolation


def _graded(
    todo: Sequence[str], examiner: Examiner, book: Book, ledger: Ledger, order: Order
) -> Iterator[str]:
    """Store verdicts one by one as they come: a gradebook has one writer."""
    with closing(examiner.each(todo)) as examined, book:
        for student, wrong in examined:
            try:
                if wrong is not None:
                    raise wrong
                book.store(student)
                trouble = ""
            except (SandboxFailed, JudgeFailed):  # which would go wrong for everybody
                raise
            except (NotExamined, NotStored) as error:
                trouble = str(error)
            except Exception as error:
                trouble = _told(error, order)
            folder = order.home.submitted / student / order.lab
            ledger.note(student, Entry(ledger.key(folder), trouble, ledger.rules))
            yield student


def _told(error: Exception, order: Order) -> str:
    """What has gone wrong in a way that nobody thought of."""
    log = order.home.grades(order.lab) / "trouble.log"
    with suppress(OSError), log.open("a", encoding="utf-8") as file:
        traceback.print_exception(error, file=file)
    what = error.strerror if isinstance(error, OSError) else type(error).__name__
    return f"the grader failed on it ({what}); {log} says where"


def tasks_of(home: Home, lab: str) -> tuple[TaskVerdict, ...]:
    """The tasks of the lab, so that they are called the same whoever was graded."""
    plan = read_plan(lab, home.root / "solutions" / lab)
    return tuple(no_points(test) for test in plan.tests if test.task)


def _sheets(
    order: Order,
    rows: Sequence[HandIn],
    ledger: Ledger,
    book: Book,
    lab: Assignment,
    overrides: Overrides,
) -> Iterator[Sheet]:
    scores, nothing, tasks = book.scores(), tuple(book.cells()), tasks_of(order.home, order.lab)
    handed_in = {row.student: row for row in rows}
    names = {student.id: student.name for student in order.roster or ()}
    names |= {row.student: row.name for row in rows}
    for student in sorted(names):
        row, entry = handed_in.get(student), ledger.entry(student)
        if row is None:
            yield _without_upload(student, names[student], rows, nothing, tasks)
            continue
        remarks = [*row.remarks, *overrides.remarks(student)]
        if row.late and lab.due_for(student, row.name) != lab.due:
            text = "Late, but with a later date of its own: compare the time of the upload."
            remarks.append(Remark(OWN_DATE, text))
        trouble = entry.trouble if entry else ""
        graded = entry is not None and not trouble and student in scores
        if not row.folder:
            remarks.append(Remark(UNGRADED, "Not graded: points are for a person to give."))
        elif not graded:
            text = f"Not graded: {trouble}." if trouble else "Not graded yet."
            remarks.append(Remark(UNGRADED, text))
        yield Sheet(
            student,
            row.name,
            late=row.late,
            handed_in=row.original.name,
            folder=row.folder,
            remarks=tuple(remarks),
            scores=overrides.shown(student, scores[student]) if graded else unknown(nothing),
            verdict=load_verdict(order.home.path, order.lab, student) if graded else None,
            trouble=trouble,
            lab=tasks,
            release=row.release,
            rules=entry.rules if entry else "",
        )


def _without_upload(
    student: str,
    name: str,
    rows: Sequence[HandIn],
    nothing: tuple[Score, ...],
    tasks: tuple[TaskVerdict, ...],
) -> Sheet:
    """Somebody who handed nothing in, unless something may be theirs: then nobody knows yet."""
    said, scores = Remark(NOTHING, "Nothing was handed in."), nothing
    if doubtful := [row for row in rows if student in row.perhaps]:
        which = listed(f"'{shown(row.original.name)}' ({row.student})" for row in doubtful)
        said = Remark(PERHAPS, f"Not graded: perhaps theirs is {which}.")
        scores = unknown(nothing)
    return Sheet(student, name, remarks=(said,), scores=scores, lab=tasks)
