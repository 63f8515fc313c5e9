"""Points that a person gave: they stay as long as the answer does that they were given for.

nbgrader keeps such points, but after every autograding asks a person to look again; and of a
question (a task cell) it never asks again, even if there is another answer now. ``SaveGrades``
stands in for its ``SaveAutoGrades`` (see nbgrader_config.py), so that stock ``autograde`` does
the same as ``grade``. What the answers were is kept in ``grades/<lab>/by_hand/<student>.json``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.api import Comment, Grade, Gradebook, MissingEntry, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from sqlalchemy.orm import object_session

from autograder.grading.verdict import write_private

Notes = dict[str, dict[str, Any]]
"""By graded cell: ``answer``, the digest of what was graded last, and ``given``: by such a
digest the points that a person gave for it."""


def answers_in(book: NotebookNode) -> dict[str, str]:
    """By graded cell, a digest of what the student wrote for it.

    An essay is its own answer. The answer to a question stands between it and the next cell of
    ours. What a test tries is all code above it that students can change.
    """
    found: dict[str, str] = {}
    code: list[str] = []
    question, section = "", list[str]()
    for cell in book.cells:
        marks = cell.metadata.get("nbgrader", {})
        grade_id = marks.get("grade_id", "")
        if question and grade_id:
            found[question] = _digest(section)
            question = ""
        if marks.get("task"):
            question, section = grade_id, []
        elif marks.get("grade"):
            found[grade_id] = _digest([cell.source] if marks.get("solution") else code)
        elif question:
            section.append(cell.source)
        if cell.cell_type == "code" and not marks.get("locked"):
            code.append(cell.source)
    if question:
        found[question] = _digest(section)
    return found


def _digest(texts: list[str]) -> str:
    return sha256(json.dumps(texts).encode("utf-8", "replace")).hexdigest()


class Given:
    """What is kept about the points of one student, notebook by notebook."""

    def __init__(self, home: Path, lab: str, student: str) -> None:
        """``home`` is the folder of the outcomes."""
        folder = home / "grades" / lab
        self._path = folder / "by_hand" / f"{student}.json"
        self._overrides = folder / "overrides.json"
        self._lab, self._student = lab, student

    def note_all(self, gradebook: Gradebook) -> None:
        """Keep all points that are in the gradebook now."""
        with suppress(MissingEntry):
            self.note(gradebook.find_submission(self._lab, self._student).notebooks)

    def note(self, books: Iterable[SubmittedNotebook]) -> None:
        """Keep the points of notebooks, with the answers that they are for."""
        kept, overridden = self._read(), self._overridden()
        for book in books:
            self._note(book, kept.setdefault(book.name, {}), overridden)
        self._write(kept)

    def _overridden(self) -> set[tuple[str, str]]:
        """Cells whose points in the gradebook are no answer's (see ``overrides``)."""
        try:
            entries = json.loads(self._overrides.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return set()
        own = (entry for entry in entries if entry["student"] == self._student)
        return {(entry["notebook"], entry["grade_id"]) for entry in own}

    def give_back(self, book: SubmittedNotebook, answers: dict[str, str]) -> None:
        """Give known answers the points that a person gave; ask a person about new ones.

        To be called after nbgrader has stored its own points of a notebook, and ``note`` before.
        """
        session = object_session(book)
        assert session is not None
        self.give_back_all([(book, answers)], session.commit)

    def give_back_all(
        self,
        graded: Iterable[tuple[SubmittedNotebook, dict[str, str]]],
        commit: Callable[[], object],
    ) -> None:
        """The same for several notebooks; ``commit`` stores their points.

        The gradebook comes first: whenever the work is cut off, no answer is noted whose points
        are not stored.
        """
        kept = self._read()
        for book, answers in graded:
            self._give_back(book, answers, kept.setdefault(book.name, {}))
        commit()
        self._write(kept)

    @staticmethod
    def _give_back(book: SubmittedNotebook, answers: dict[str, str], notes: Notes) -> None:
        for grade, comment in _by_cell(book):
            if grade.name not in answers:
                continue
            answer = answers[grade.name]
            note = notes.setdefault(grade.name, {"answer": "", "given": {}})
            if given := note["given"].get(answer):
                grade.manual_score, grade.extra_credit = given["points"], given["extra"]
                grade.needs_manual_grade = False
                if comment and given["comment"] and not comment.manual_comment:
                    comment.manual_comment = given["comment"]
            elif note["answer"] not in ("", answer) and grade.manual_score is not None:
                grade.needs_manual_grade = True
            note["answer"] = answer

    def answer(self, notebook: str, grade_id: str) -> str:
        """Digest of the answer that was graded last; empty if there was none."""
        return str(self._read().get(notebook, {}).get(grade_id, {}).get("answer", ""))

    def points(self, notebook: str, grade_id: str) -> float | None:
        """What a person gave for that answer in formgrader; None: nothing."""
        note = self._read().get(notebook, {}).get(grade_id, {"answer": "", "given": {}})
        points: float | None = note["given"].get(note["answer"], {}).get("points")
        return points

    @staticmethod
    def _note(book: SubmittedNotebook, notes: Notes, overridden: set[tuple[str, str]]) -> None:
        for grade, comment in _by_cell(book):
            note = notes.get(grade.name)
            if (book.name, grade.name) in overridden:
                continue
            if note is None or grade.needs_manual_grade:
                continue
            note["given"].pop(note["answer"], None)
            if grade.manual_score is not None or grade.extra_credit:
                note["given"][note["answer"]] = {
                    "points": grade.manual_score,
                    "extra": grade.extra_credit,
                    "comment": (comment.manual_comment or "") if comment else "",
                }

    def _read(self) -> dict[str, Notes]:
        try:
            kept: dict[str, Notes] = json.loads(self._path.read_text(encoding="utf-8"))
            return kept
        except (OSError, ValueError):
            return {}

    def _write(self, kept: dict[str, Notes]) -> None:
        write_private(self._path, json.dumps(kept, indent=1))


def _by_cell(book: SubmittedNotebook) -> Iterator[tuple[Grade, Comment | None]]:
    comments = {comment.name: comment for comment in book.comments}
    return ((grade, comments.get(grade.name)) for grade in book.grades)


class SaveGrades(SaveAutoGrades):
    """Stores the points of a notebook; those given by hand stay where the answer did."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Store them in the gradebook."""
        about = resources["nbgrader"]
        course = CourseDirectory(config=self.config)
        home = Path(course.root, course.submitted_directory).resolve().parent
        given = Given(home, about["assignment"], about["student"])
        self.notebook_id, self.assignment_id = about["notebook"], about["assignment"]
        self.student_id, self.db_url = about["student"], about["db_url"]
        with Gradebook(self.db_url) as self.gradebook:  # one for all of it: opening takes long
            place = self.notebook_id, self.assignment_id, self.student_id
            book = self.gradebook.find_submission_notebook(*place)
            given.note([book])
            nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
            given.give_back(book, answers_in(nb))
        return nb, resources
