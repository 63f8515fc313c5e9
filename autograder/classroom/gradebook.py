"""nbgrader's gradebook: the labs and students in it, what a run puts there, and the points."""

from __future__ import annotations

import logging
import math
import os
import re
import warnings
from contextlib import suppress
from dataclasses import replace

import nbformat
from alembic.script import ScriptDirectory
from nbformat.notebooknode import NotebookNode
from nbgrader.api import (
    Base,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    MissingEntry,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import create_engine, text
from sqlalchemy.exc import SAWarning
from traitlets.log import get_logger

from autograder.authoring.build import register
from autograder.authoring.cells import TASK
from autograder.classroom.by_hand import Given
from autograder.classroom.home import Home
from autograder.classroom.sheet import Score
from autograder.classroom.storing import Storing, can_store
from autograder.collect import Roster
from autograder.collect.shelf import digest
from autograder.grading.verdict import write_private
from lab_utils.kit.errors import LabError

# nbgrader makes submissions in a way of which SQLAlchemy warns each time.
warnings.filterwarnings("ignore", category=SAWarning, module="nbgrader")


HEADING = re.compile(r"^#+ +(.+?)(?: *\([^()]*\))? *$", re.MULTILINE)


def make_empty(url: str) -> None:
    """A gradebook as nbgrader makes it, which starts a program of seconds to learn the version."""
    engine = create_engine(url)
    Base.metadata.create_all(engine)
    head = ScriptDirectory(ALEMBIC_DIR).get_current_head()
    with engine.begin() as database:
        database.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)"))
        database.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": head})
    engine.dispose()


class NotStored(LabError):
    """nbgrader did not take a submission; its log says why."""


class Book:
    """The gradebook of one lab. One process at a time writes to it."""

    def __init__(self, home: Home, lab: str) -> None:
        """Opens nothing yet."""
        self._home, self._lab = home, lab
        self._settings = home.settings()
        self._storing: Storing | None = None
        self.log = home.grades(lab) / "nbgrader.log"

    def __enter__(self) -> Book:
        return self

    def __exit__(self, *_: object) -> None:
        if self._storing:
            self._storing.close()
            self._storing = None

    def prepare(self, roster: Roster | None) -> None:
        """Make sure that the gradebook knows the lab as it is now, and the class.

        Raises:
            LabError: nbgrader refuses, as when submissions have other cells.
        """
        self._listen()
        mark = self._home.grades(self._lab) / "registered"
        sources = sorted((self._home.root / "solutions" / self._lab).glob("*.ipynb"))
        known = digest(b"".join(path.read_bytes() for path in sources))
        if not self._home.gradebook.is_file():
            # In one go: nbgrader takes a gradebook that was half made for a whole one.
            unfinished = self._home.path / "gradebook.db.new"
            unfinished.unlink(missing_ok=True)
            make_empty(f"sqlite:///{unfinished}")
            register(self._lab, self._home.root, f"sqlite:///{unfinished}")
            os.replace(unfinished, self._home.gradebook)
        elif not mark.is_file() or mark.read_text() != known:
            register(self._lab, self._home.root, self._home.db_url)
        write_private(mark, known)
        with Gradebook(self._home.db_url) as book:
            for student in roster or ():
                name = {"first_name": student.first, "last_name": student.last}
                book.update_or_create_student(student.id, **name, email=student.email)

    def store(self, student: str) -> None:
        """Do what nbgrader's autograding does for one student, in place of what was there.

        Raises:
            NotStored: it failed.
        """
        if can_store(self._settings):
            self._storing = self._storing or Storing(self._home, self._lab, self._settings)
            try:
                if self._storing.store(student):
                    return
            except Exception:  # then nbgrader may try, and say in its own words what is wrong
                get_logger().exception("%s is left to nbgrader's autograde", student)
        course = CourseDirectory(config=self._settings, assignment_id=self._lab, student_id=student)
        try:
            Autograde(coursedir=course, config=self._settings, force=True).start()
        except NbGraderException as error:
            raise NotStored(f"nbgrader could not grade it; {self.log} says why") from error

    def forget(self, student: str) -> None:
        """Take away a submission of which nothing can be graded any more."""
        with Gradebook(self._home.db_url) as book, suppress(MissingEntry):
            Given(self._home.path, self._lab, student).note_all(book)
            book.remove_submission(self._lab, student)

    def cells(self) -> list[Score]:
        """The graded cells of the lab in the order of its notebooks, all without points."""
        found = []
        for path in sorted((self._home.root / "notebooks" / self._lab).glob("*.ipynb")):
            for cell in nbformat.read(path, as_version=4).cells:
                marks = cell.metadata.get("nbgrader", {})
                if marks.get("grade") or marks.get("task"):
                    score = Score(path.stem, marks["grade_id"], 0.0, marks["points"])
                    is_bonus = bool(cell.metadata.get(TASK, {}).get("bonus"))
                    found.append(replace(score, is_bonus=is_bonus, title=_title(cell)))
        return found

    def scores(self) -> dict[str, tuple[Score, ...]]:
        """The points of each student who has a submission, in the order of ``cells``."""
        cells = self.cells()
        with Gradebook(self._home.db_url) as book:
            lab = book.find_assignment(self._lab).id
            grades, comments = (
                {
                    (student, notebook, cell): entry
                    for entry, student, notebook, cell in book.db.query(
                        kind, SubmittedAssignment.student_id, Notebook.name, BaseCell.name
                    )
                    .join(SubmittedNotebook, SubmittedNotebook.id == kind.notebook_id)
                    .join(Notebook, Notebook.id == SubmittedNotebook.notebook_id)
                    .join(BaseCell, BaseCell.id == kind.cell_id)
                    .join(
                        SubmittedAssignment,
                        SubmittedAssignment.id == SubmittedNotebook.assignment_id,
                    )
                    .filter(SubmittedAssignment.assignment_id == lab)
                }
                for kind in (Grade, Comment)
            )
            return {
                student: tuple(
                    _score(
                        cell,
                        grades.get((student, *_key(cell))),
                        comments.get((student, *_key(cell))),
                    )
                    for cell in cells
                )
                for student in sorted({student for student, _, _ in grades})
            }

    def _listen(self) -> None:
        """nbgrader's errors go to a file, not between the lines of a progress bar."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        log = get_logger()
        assert isinstance(log, logging.Logger)
        for handler in list(log.handlers):
            log.removeHandler(handler)
        log.addHandler(logging.FileHandler(self.log, encoding="utf-8", delay=True))
        log.setLevel(logging.ERROR)  # it warns of each locked cell that gets its hidden tests
        log.propagate = False


def _title(cell: NotebookNode) -> str:
    """The heading of a question, without what stands behind it in parentheses; empty: none."""
    found = HEADING.search(cell.source) if cell.cell_type == "markdown" else None
    return found[1] if found else ""


def _key(cell: Score) -> tuple[str, str]:
    return cell.notebook, cell.grade_id


def _score(cell: Score, grade: Grade | None, comment: Comment | None) -> Score:
    said = (comment.manual_comment or "") if comment else ""
    if grade is None:
        return cell
    waiting = bool(grade.needs_manual_grade)
    return replace(
        cell,
        points=grade.score,
        waiting=waiting,
        comment=said,
        by_hand=grade.manual_score is not None,
        judged=math.nan if grade.auto_score is None else grade.auto_score,
    )
