"""How late each student is, and what that costs by the policy of the course file.

When something was uploaded, a table tells (``--times``) or the mark LATE of Canvas, which says no
more than that it was late. What was found out is kept in ``grades/<lab>/late.json``; nbgrader's
gradebook gets due date, extensions, upload times and penalties, so that its own tools agree.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.classroom.home import Home
from autograder.classroom.remarks import OWN_DATE
from autograder.classroom.sheet import Score, Sheet
from autograder.grading.verdict import write_private
from lab_utils.kit.course import Assignment, Course
from lab_utils.kit.course.late import LatePolicy

FILE = "late.json"


@dataclass(frozen=True)
class Lateness:
    """One student's lateness in one lab."""

    upload: str
    """The name of the file that counts."""
    uploaded: str = ""
    """When, in UTC and ISO 8601; empty: only a mark says that it was late."""
    days: int = 0
    """Days by which it is late; those that cost nothing count, too."""
    free: int = 0
    """How many of them are late days, which cost nothing."""
    percent: float = 0.0
    """What the others cost, in per cent of the lab's points."""
    is_least: bool = False
    """Whether it may be more days: a mark alone says that it was late."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """The same in points, by notebook; no notebook loses more than it has."""

    @property
    def words(self) -> str:
        """What a student reads; empty if it is in time, or costs nothing by any policy."""
        if not self.days or not (self.free or self.costs):
            return ""
        known = "Late, at least by" if self.is_least else "Late by"
        said = f"{known} {_days(self.days)}"
        if self.free:
            said += f", of which {_days(self.free)} of your late days cost nothing"
        return f"{said}: {self.percent:g} % of the points are taken off."


def _days(count: int) -> str:
    return f"{count} day{'s' if count != 1 else ''}"


class LateBook:
    """The lateness of a class in one lab; knows that of the other labs."""

    def __init__(self, home: Home, course: Course, lab: Assignment) -> None:
        """Reads what is known."""
        self._home, self._course, self._lab = home, course, lab
        self._known = self._read(lab.id)

    def note_times(self, times: Mapping[str, tuple[str, datetime]]) -> None:
        """Remember when the files were uploaded: by student, the file's name and the moment."""
        for student, (upload, moment) in times.items():
            uploaded = moment.astimezone(UTC).isoformat(timespec="seconds")
            self._known[student] = Lateness(upload, uploaded)
        self._write()

    def judged(self, sheets: Iterable[Sheet]) -> tuple[Sheet, ...]:
        """The same sheets with what lateness costs; what was found out is kept."""
        found = {}
        told = []
        for sheet in sheets:
            lateness = self._lateness(sheet) if sheet.handed_in else None
            if lateness is None:
                told.append(sheet)
                continue
            found[sheet.student] = lateness
            told.append(_late(sheet, lateness))
        self._known = found
        self._write()
        return tuple(told)

    def _lateness(self, sheet: Sheet) -> Lateness:
        policy, known = self._lab.late, self._known.get(sheet.student)
        uploaded = known.uploaded if known and known.upload == sheet.handed_in else ""
        lateness = Lateness(sheet.handed_in, uploaded)
        due = self._lab.due_for(sheet.student, sheet.name)
        days = 0
        if uploaded and due:
            days = (policy or LatePolicy()).days(datetime.fromisoformat(uploaded), due)
        elif sheet.late and due == self._lab.due:
            days, lateness = 1, replace(lateness, is_least=True)
        if not days or policy is None:
            return replace(lateness, days=days)
        free = min(days, self._days_left(sheet.student, policy))
        percent = policy.percent(days - free)
        costs = {
            notebook: round(percent / 100 * worth, 4)
            for notebook, worth in _worth(sheet.scores).items()
        }
        return replace(lateness, days=days, free=free, percent=percent, costs=costs)

    def _days_left(self, student: str, policy: LatePolicy) -> int:
        """Late days that labs before this one have left over."""
        left = policy.late_days
        for earlier in self._earlier:
            left -= min(left, earlier[student].days) if student in earlier else 0
        return left

    @cached_property
    def _earlier(self) -> list[dict[str, Lateness]]:
        """The lateness in all labs that are due before this one."""
        due = self._lab.due
        labs = [lab for lab in self._course.labs.values() if lab.due and due and lab.due < due]
        return [self._read(lab.id) for lab in labs]

    def write(self, sheets: Sequence[Sheet]) -> None:
        """Tell nbgrader's gradebook."""
        due, names = self._lab.due, {sheet.student: sheet.name for sheet in sheets}
        with Gradebook(self._home.db_url) as book:
            assignment = book.find_assignment(self._lab.id)
            assignment.duedate = _naive(due) if due else None
            for submission in assignment.submissions:
                student = submission.student_id
                if student not in names:
                    continue
                own = self._lab.due_for(student, names[student])
                known = self._known.get(student)
                submission.extension = own - due if own and due and own != due else None
                if known and known.uploaded:
                    submission.timestamp = _naive(datetime.fromisoformat(known.uploaded))
                for notebook in submission.notebooks:
                    penalty = penalty_of(known, notebook.name, notebook.score)
                    notebook.late_submission_penalty = penalty
            book.db.commit()

    def _read(self, lab: str) -> dict[str, Lateness]:
        return read_lateness(self._home.grades(lab) / FILE)

    def _write(self) -> None:
        kept = {student: asdict(one) for student, one in sorted(self._known.items())}
        write_private(self._home.grades(self._lab.id) / FILE, json.dumps(kept, indent=1))


def read_lateness(path: Path) -> dict[str, Lateness]:
    """What is kept, by student; nothing if there is nothing."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {student: Lateness(**one) for student, one in kept.items()}
    except (OSError, ValueError, TypeError):
        return {}


def penalty_of(lateness: Lateness | None, notebook: str, score: float) -> float | None:
    """Points that a notebook with this score loses; None: none, as nbgrader writes it."""
    cost = lateness.costs.get(notebook, 0.0) if lateness else 0.0
    return min(cost, score) if cost else None


def _late(sheet: Sheet, lateness: Lateness) -> Sheet:
    earned: dict[str, float] = {}
    for score in sheet.scores:
        earned[score.notebook] = earned.get(score.notebook, 0.0) + score.points
    costs = [penalty_of(lateness, name, points) or 0.0 for name, points in earned.items()]
    is_late = lateness.days > 0 if lateness.uploaded else sheet.late
    penalty = round(sum(costs), 4) if sheet.graded else 0.0
    unclear = OWN_DATE if lateness.uploaded else ""
    return replace(
        sheet,
        late=is_late,
        days_late=lateness.days,
        lateness=lateness.words,
        penalty=penalty,
        remarks=tuple(remark for remark in sheet.remarks if remark.kind != unclear),
    )


def _worth(scores: Sequence[Score]) -> dict[str, float]:
    worth: dict[str, float] = {}
    for score in scores:
        own = 0.0 if score.is_bonus else score.max_points
        worth[score.notebook] = worth.get(score.notebook, 0.0) + own
    return worth


def _naive(moment: datetime) -> datetime:
    """As nbgrader keeps it: UTC, and no word about it."""
    return moment.astimezone(UTC).replace(tzinfo=None)
