"""Points that somebody set against the judge, with a reason: they stay until they are removed.

They stand in ``grades/<lab>/overrides.json``, and every run writes them into nbgrader's
gradebook, so that its own tools agree. Unlike points of formgrader they hold for whatever answer
is there; a remark says if it is another one than they were set for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime

from nbgrader.api import Grade, Gradebook, MissingEntry

from autograder.classroom.by_hand import Given
from autograder.classroom.home import Home
from autograder.classroom.remarks import OVERRIDDEN
from autograder.classroom.sheet import Override, Score
from autograder.grading.verdict import TaskVerdict, write_private
from autograder.remark import Remark
from lab_utils.kit.errors import LabError


class Overrides:
    """All of one lab."""

    def __init__(self, home: Home, lab: str) -> None:
        """Reads the file.

        Raises:
            LabError: it is damaged.
        """
        self._home, self._lab = home, lab
        self._path = home.grades(lab) / "overrides.json"
        try:
            entries = json.loads(self._path.read_text(encoding="utf-8"))
            found = [Override(**entry) for entry in entries]
        except FileNotFoundError:
            found = []
        except (ValueError, TypeError) as error:
            raise LabError(f"{self._path} cannot be read: {error}") from None
        self.all = {override.place: override for override in found}

    def set(self, place: tuple[str, str, str], points: float, reason: str, tell: bool) -> Override:
        """Set points, in place of what was set before."""
        student, notebook, grade_id = place
        when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
        given = Given(self._home.path, self._lab, student)
        with Gradebook(self._home.db_url) as book:
            given.note_all(book)  # what formgrader gave comes back when the override goes
        answer = given.answer(notebook, grade_id)
        self.all[place] = Override(*place, points, reason, when, tell, answer)
        self._save()
        return self.all[place]

    def remove(self, place: tuple[str, str, str]) -> None:
        """Let the judge, or what was given in formgrader, count again.

        Raises:
            LabError: nothing was set.
        """
        if self.all.pop(place, None) is None:
            raise LabError(f"no points were set for {place[0]} in {place[2]}")
        with Gradebook(self._home.db_url) as book:
            if grade := self._grade(book, place):
                given = Given(self._home.path, self._lab, place[0]).points(*place[1:])
                grade.manual_score = given
                grade.needs_manual_grade = given is None and grade.auto_score is None
                book.db.commit()
        self._save()

    def apply(self) -> None:
        """Write all of them into the gradebook."""
        if not self.all:
            return
        with Gradebook(self._home.db_url) as book:
            for place, override in self.all.items():
                if grade := self._grade(book, place):
                    grade.manual_score, grade.needs_manual_grade = override.points, False
            book.db.commit()

    def shown(self, student: str, scores: Sequence[Score]) -> tuple[Score, ...]:
        """The points of a student, with what is known of those that were set."""
        found = [self.all.get((student, one.notebook, one.grade_id)) for one in scores]
        return tuple(
            replace(one, override=override) for one, override in zip(scores, found, strict=True)
        )

    def remarks(self, student: str) -> list[Remark]:
        """What an instructor should know of the points that were set for a student."""
        said = []
        for override in (one for one in self.all.values() if one.student == student):
            text = f"Set by hand to {override.points:g} on {override.when}: {override.reason}"
            if self._is_outdated(override):
                text += " (for another answer than there is now: look again)"
            said.append(Remark(OVERRIDDEN, text, override.notebook, override.grade_id))
        return said

    def _is_outdated(self, override: Override) -> bool:
        """Whether there is another answer now than the points were set for."""
        given = Given(self._home.path, self._lab, override.student)
        now = given.answer(override.notebook, override.grade_id)
        return bool(override.answer and now and now != override.answer)

    def _grade(self, book: Gradebook, place: tuple[str, str, str]) -> Grade | None:
        student, notebook, grade_id = place
        try:
            found: Grade = book.find_grade(grade_id, notebook, self._lab, student)
        except MissingEntry:
            return None
        return found

    def _save(self) -> None:
        entries = [asdict(self.all[place]) for place in sorted(self.all)]
        write_private(self._path, json.dumps(entries, indent=1, ensure_ascii=False) + "\n")


def find_cell(task: str, cells: Sequence[Score], tasks: Iterable[TaskVerdict]) -> Score:
    """The graded cell that is called ``task``: by the number of its task, or by its own name.

    Raises:
        LabError: there is none, or there are several.
    """
    ids = {(one.notebook, one.grade_id): one.id for one in tasks}
    labels = {(cell.notebook, cell.grade_id): cell for cell in cells}
    found = [cell for at, cell in labels.items() if task in (ids.get(at), at[1], "/".join(at))]
    if len(found) == 1:
        return found[0]
    if found:
        ways = ", ".join(f"{cell.notebook}/{cell.grade_id}" for cell in found)
        raise LabError(f"task {task!r} is there several times; write one of {ways}")
    known = ", ".join(ids.get(at) or at[1] for at in labels)
    raise LabError(f"there is no task {task!r}; there is: {known}")
