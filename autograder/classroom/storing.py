"""Stores what was graded as nbgrader's autograde does: the same files, the same rows, faster.

Autograde opens the gradebook some twenty times for a submission, and each time works its queries
out anew; it reads, copies and checks every notebook twice. Here one gradebook stays open for a
run, its steps work on its own rows, and a submission is stored in one transaction. The steps are
nbgrader's, and those of nbgrader_config.py. Where that file asks for others, or a verdict is not
there, ``Autograde`` itself does it (see ``gradebook``); a test holds both to the same result.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nbconvert.preprocessors import ClearMetadataPreprocessor
from nbformat.notebooknode import NotebookNode
from nbformat.v4.rwbase import split_lines, strip_transient
from nbgrader.api import (
    BaseCell,
    Gradebook,
    MissingEntry,
    Notebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearOutput,
    DeduplicateIds,
    IgnorePattern,
    LimitOutput,
    NbGraderPreprocessor,
    OverwriteCells,
    SaveAutoGrades,
)
from nbgrader.utils import find_all_files
from traitlets.config import Config

from autograder.classroom.by_hand import Given, answers_in
from autograder.classroom.home import Home
from autograder.classroom.lateness import FILE, penalty_of, read_lateness
from autograder.grading.grader import Graded, load_graded
from autograder.grading.nbgrader_step import fill_in
from autograder.grading.plan import LabPlan, read_plan
from autograder.grading.submission import digest_of, read_submission

STEPS = (
    "autograder.grading.nbgrader_step.SandboxedExecute",
    "nbgrader.preprocessors.IgnorePattern",
    "nbconvert.preprocessors.ClearMetadataPreprocessor",
    "nbgrader.preprocessors.LimitOutput",
    "autograder.classroom.by_hand.SaveGrades",
    "autograder.classroom.late_step.AssignPenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
)
"""What nbgrader_config.py asks autograde for, and what is done here."""
_UNUSUAL = {
    "Autograde": ("sanitize_preprocessors", "exclude_overwriting", "create_student"),
    "OverwriteCells": ("add_missing_cells",),
    "CourseDirectory": ("groupshared", "student_id_exclude"),
}
"""Settings with which nbgrader is to do it by itself."""


def can_store(settings: Config) -> bool:
    """Whether autograde would do with these settings what is done here."""
    others = (name in settings[part] for part, names in _UNUSUAL.items() for name in names)
    return tuple(settings.Autograde.autograde_preprocessors) == STEPS and not any(others)


class Storing:
    """The gradebook of one lab, open for a run: to be closed."""

    def __init__(self, home: Home, lab: str, settings: Config) -> None:
        """Opens the gradebook; it knows the lab."""
        self._home, self._lab, self._settings = home, lab, settings
        course = CourseDirectory(config=settings, assignment_id=lab)
        self._ignored = [*course.ignore, "*.ipynb"]
        self._course, self._mode = course, int(str(Autograde(coursedir=course).permissions), 8)
        self._gradebook = Gradebook(home.db_url)
        self._known = _Known(self._gradebook, lab)
        self._first = [step(config=settings) for step in (ClearOutput, DeduplicateIds)]
        self._overwrite = _Overwrite(config=settings)
        self._overwrite.gradebook = self._known
        self._then = [
            step(config=settings)
            for step in (IgnorePattern, ClearMetadataPreprocessor, LimitOutput)
        ]
        self._save = _Save(config=settings)
        self._check = _Check(config=settings)

    def close(self) -> None:
        """Let go of the gradebook."""
        self._gradebook.close()

    @cached_property
    def _plan(self) -> LabPlan:
        return read_plan(self._lab, self._home.root / "solutions" / self._lab)

    @cached_property
    def _shipped(self) -> tuple[Path, list[str]]:
        """Files of ours that lie beside the notebooks."""
        source = self._home.root / "solutions" / self._lab
        return source, find_all_files(str(source), self._ignored)

    def store(self, student: str) -> bool:
        """Store a submission in place of what was there; False, and nothing is, without a verdict.

        Raises:
            Exception: what nbgrader's steps raise; nothing of it is in the gradebook then.
        """
        folder = self._home.submitted / student / self._lab
        submission = read_submission(student, folder)
        digest = digest_of(self._plan, submission)
        graded = load_graded(self._home.path, self._lab, student, digest)
        known = {name: book for name, book in submission.books.items() if name in self._known.names}
        if graded is None or not known:
            return False
        try:
            texts = self._stored(student, folder, known, graded)
        except BaseException:
            self._gradebook.db.rollback()
            raise
        self._write(student, folder, texts)
        return True

    def _stored(
        self, student: str, folder: Path, books: dict[str, NotebookNode], graded: Graded
    ) -> dict[str, str]:
        """The notebooks as text, with all that was graded; the gradebook knows of it."""
        submission = self._submission(student, folder)
        cells = self._known.loaded()  # held, so that no row asks for its own
        given = Given(self._home.path, self._lab, student)
        given.note(submission.notebooks)
        late = read_lateness(self._home.grades(self._lab) / FILE).get(student)
        texts: dict[str, str] = {}
        answers: list[tuple[SubmittedNotebook, dict[str, str]]] = []
        for rows in sorted(submission.notebooks, key=lambda rows: rows.name):
            if rows.name not in books:
                for grade in rows.grades:
                    grade.auto_score, grade.needs_manual_grade = 0, False
                continue
            book = self._graded(student, rows, books[rows.name], graded)
            answers.append((rows, answers_in(book)))
            texts[rows.name] = _as_text(book)
        given.give_back_all(answers, lambda: self._take_off(submission, late))
        del cells
        return texts

    def _take_off(self, submission: SubmittedAssignment, late: Any) -> None:
        """What lateness costs; nbgrader sums up what it has stored."""
        for rows in submission.notebooks:
            cost = late.costs.get(rows.name, 0.0) if late else 0.0
            if cost:
                self._gradebook.db.flush()
                self._gradebook.db.refresh(rows)
            penalty = penalty_of(late, rows.name, rows.score) if cost else None
            rows.late_submission_penalty = penalty
        self._gradebook.db.commit()

    def _submission(self, student: str, folder: Path) -> SubmittedAssignment:
        book = self._gradebook
        try:
            book.find_student(student)
        except MissingEntry:
            book.add_student(student)
        moment = self._course.get_existing_timestamp(str(folder))
        when = {"timestamp": moment} if moment else {}
        with book.db.no_autoflush:  # rows refer to each other before all are there
            return book.update_or_create_submission(self._lab, student, **when)

    def _graded(
        self, student: str, rows: SubmittedNotebook, book: NotebookNode, graded: Graded
    ) -> NotebookNode:
        about = {"student": student, "assignment": self._lab, "notebook": rows.name}
        resources: Any = {"nbgrader": {**about, "db_url": self._home.db_url}}
        for step in self._first:
            book, resources = step(book, resources)
        if kernel := self._known.kernels[rows.name]:
            book.metadata["kernelspec"] = kernel
        book, resources = self._overwrite(book, resources)
        fill_in(book, graded.cells.get(rows.name, {}))
        for step in self._then:
            book, resources = step(book, resources)
        self._save.gradebook = _Rows(rows)
        book, resources = self._save(book, resources)
        return self._check(book, resources)[0]

    def _write(self, student: str, folder: Path, texts: dict[str, str]) -> None:
        place = self._home.autograded(student, self._lab)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        source, shipped = self._shipped
        for origin, files in (
            (folder, find_all_files(str(folder), self._ignored)),
            (source, shipped),
        ):
            for file in files:
                path = place / os.path.relpath(file, origin)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.unlink(missing_ok=True)
                shutil.copyfile(file, path)
                path.chmod(self._mode)
        for name, text in texts.items():
            path = place / f"{name}.ipynb"
            path.write_text(text, encoding="utf-8")
            path.chmod(self._mode)


class _Known:
    """The cells of a lab as the gradebook has them, which stay the same for a run."""

    def __init__(self, gradebook: Gradebook, lab: str) -> None:
        self._gradebook = gradebook
        notebooks = list(gradebook.find_assignment(lab).notebooks)
        self._ids = [notebook.id for notebook in notebooks]
        self.names = {notebook.name for notebook in notebooks}
        self.kernels = {
            notebook.name: json.loads(notebook.kernelspec) if notebook.kernelspec else None
            for notebook in notebooks
        }
        told = ("name", "cell_type", "locked", "checksum", "source")
        self._sources = {
            (notebook.name, cell.name): SimpleNamespace(**{n: getattr(cell, n) for n in told})
            for notebook in notebooks
            for cell in notebook.source_cells
        }
        self._points = {
            (notebook.name, cell.name): SimpleNamespace(max_score=cell.max_score)
            for notebook in notebooks
            for cell in (*notebook.grade_cells, *notebook.task_cells)
        }
        gradebook.db.rollback()

    def loaded(self) -> Sequence[object]:
        """The notebooks and cells, read in two queries: rows that belong to them find them."""
        database = self._gradebook.db
        notebooks = database.query(Notebook).filter(Notebook.id.in_(self._ids)).all()
        cells = database.query(BaseCell).filter(BaseCell.notebook_id.in_(self._ids)).all()
        return [*notebooks, *cells]

    def find_source_cell(self, name: str, notebook: str, _lab: str) -> SimpleNamespace:
        """As a gradebook does."""
        return self._found(self._sources, notebook, name)

    def find_graded_cell(self, name: str, notebook: str, _lab: str) -> SimpleNamespace:
        """As a gradebook does."""
        return self._found(self._points, notebook, name)

    @staticmethod
    def _found(
        among: dict[tuple[str, str], SimpleNamespace], notebook: str, name: str
    ) -> SimpleNamespace:
        try:
            return among[notebook, name]
        except KeyError:
            raise MissingEntry(f"No such cell: {notebook}/{name}") from None


class _Rows:
    """The rows of one notebook in place of a gradebook: nothing is looked for, or committed."""

    def __init__(self, rows: SubmittedNotebook) -> None:
        self.db = self
        self._grades = {grade.name: grade for grade in rows.grades}
        self._comments = {comment.name: comment for comment in rows.comments}

    def commit(self) -> None:
        """Later, for all notebooks together."""

    def find_grade(self, name: str, *_: str) -> Any:
        """As a gradebook does."""
        return self._found(self._grades, name)

    def find_comment(self, name: str, *_: str) -> Any:
        """As a gradebook does."""
        return self._found(self._comments, name)

    @staticmethod
    def _found(among: dict[str, Any], name: str) -> Any:
        if name not in among:
            raise MissingEntry(f"No such cell: {name}")
        return among[name]


class _Overwrite(OverwriteCells):
    """Cells become what was released; the gradebook is there already."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Overwrite them."""
        about = resources["nbgrader"]
        self.notebook_id, self.assignment_id = about["notebook"], about["assignment"]
        return NbGraderPreprocessor.preprocess(self, nb, resources)


class _Save(SaveAutoGrades):
    """Scores and comments go to rows that are there already."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Store them."""
        about = resources["nbgrader"]
        self.notebook_id, self.assignment_id = about["notebook"], about["assignment"]
        self.student_id = about["student"]
        return NbGraderPreprocessor.preprocess(self, nb, resources)


class _Check(CheckCellMetadata):
    """Looks at each form of a cell's metadata once: a class has few."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._right: set[str] = set()

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Check the notebook."""
        forms = set(self._forms(nb))
        if not forms <= self._right:
            nb, resources = super().preprocess(nb, resources)
            self._right |= forms
        return nb, resources

    @staticmethod
    def _forms(nb: NotebookNode) -> Iterator[str]:
        for cell in nb.cells:
            if "nbgrader" in cell.metadata:
                marks = json.dumps(cell.metadata.nbgrader, sort_keys=True)
                yield f"{cell.cell_type} {marks}"


def _as_text(book: NotebookNode) -> str:
    """As nbformat writes it; the notebook itself is of no use after that."""
    plain = strip_transient(split_lines(book))
    form = {"ensure_ascii": False, "indent": 1, "sort_keys": True, "separators": (",", ": ")}
    return json.dumps(plain, **form) + "\n"  # type: ignore[arg-type]
