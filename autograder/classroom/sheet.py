"""All that is known about one student's work: what was handed in, its points, the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder.classroom.remarks import SUSPICIOUS, for_students
from autograder.collect.records import RemarkKind
from autograder.grading.grader import MISSING
from autograder.grading.verdict import SubmissionVerdict, TaskVerdict
from autograder.remark import Remark


@dataclass(frozen=True)
class Override:
    """Points that somebody set against the judge, for one graded cell of one student."""

    student: str
    notebook: str
    grade_id: str
    points: float
    reason: str
    when: str
    """Date and time, UTC."""
    is_told: bool = False
    """Whether the student reads the reason."""
    answer: str = ""
    """Digest of the answer that they were set for; empty: nobody knows."""

    @property
    def place(self) -> tuple[str, str, str]:
        """Whose, and for which cell."""
        return self.student, self.notebook, self.grade_id


@dataclass(frozen=True)
class Score:
    """Points for one graded cell, as the gradebook has them."""

    notebook: str
    grade_id: str
    points: float
    """NaN: not known, which is something else than none."""
    max_points: float
    waiting: bool = False
    """Whether it is still to be graded by hand."""
    comment: str = ""
    title: str = ""
    """What a question is called; empty: it has no heading, or is a task of the judge."""
    is_bonus: bool = False
    """Whether it counts beyond what the lab is worth."""
    by_hand: bool = False
    """Whether a person gave them."""
    judged: float = math.nan
    """What the judge, or the test, gave; NaN: only a person can grade it."""
    override: Override | None = None
    """Who set them against the judge, and why."""


def unknown(scores: Sequence[Score]) -> tuple[Score, ...]:
    """The same cells, for a submission that was not graded."""
    return tuple(replace(score, points=math.nan) for score in scores)


@dataclass(frozen=True)
class Sheet:
    """One student: a row of the table, a page of feedback."""

    student: str
    name: str
    late: bool = False
    handed_in: str = ""
    """What the graded file was called; empty if there was none."""
    folder: Path | None = None
    """Where nbgrader finds what can be graded."""
    remarks: tuple[Remark, ...] = ()
    """What the collector says, and what became of it here."""
    scores: tuple[Score, ...] = ()
    verdict: SubmissionVerdict | None = None
    trouble: str = ""
    """Why it could not be graded, though there is something to grade."""
    lab: tuple[TaskVerdict, ...] = ()
    """The tasks of the lab, for those on which there is no verdict."""
    release: str = ""
    """The release that it was made from; empty: nobody knows."""
    rules: str = ""
    """Digest of the tests, cases and judges by which it was graded."""
    penalty: float = 0.0
    """Points that lateness costs."""
    days_late: int = 0
    """Days by which it is late; one that has begun is a whole one."""
    lateness: str = ""
    """The same in words, with what it costs."""
    tasks: dict[tuple[str, str], TaskVerdict] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        found = (*self.lab, *(self.verdict.tasks if self.verdict else ()))
        object.__setattr__(self, "tasks", {(t.notebook, t.grade_id): t for t in found})

    @property
    def earned(self) -> float:
        """All points together, however late; NaN if it was not graded."""
        return round(sum(score.points for score in self.scores), 2)

    @property
    def points(self) -> float:
        """What counts: the points without what lateness costs; NaN if it was not graded."""
        return self.earned if not self.penalty else round(max(0.0, self.earned - self.penalty), 2)

    @property
    def max_points(self) -> float:
        """What the lab is worth; with a bonus there is more to be had."""
        return round(sum(score.max_points for score in self.scores if not score.is_bonus), 2)

    @property
    def max_bonus(self) -> float:
        """What can be had beyond that."""
        return round(sum(score.max_points for score in self.scores if score.is_bonus), 2)

    @property
    def graded(self) -> bool:
        """Whether the points are known.

        Where nothing was handed in they are: none. What cannot be read has none that are known.
        """
        return not math.isnan(self.points)

    @property
    def is_pending(self) -> bool:
        """Whether there is something to grade that nobody has got to yet."""
        return self.folder is not None and not self.graded and not self.trouble

    @property
    def waiting(self) -> bool:
        """Whether anything is still to be graded by hand."""
        return any(score.waiting for score in self.scores)

    def task(self, score: Score) -> TaskVerdict | None:
        """What the judge said about a graded cell; nothing if people grade it."""
        return self.tasks.get((score.notebook, score.grade_id))

    @property
    def all_remarks(self) -> tuple[str, ...]:
        """What the collector and the executor have to say to an instructor."""
        return tuple(map(str, self._said))

    @property
    def suspicions(self) -> tuple[str, ...]:
        """What of it may be a sign of tampering."""
        return tuple(str(remark) for remark in self._said if remark.kind in SUSPICIOUS)

    @property
    def harmless_remarks(self) -> tuple[str, ...]:
        """What of it is none."""
        return tuple(str(remark) for remark in self._said if remark.kind not in SUSPICIOUS)

    @property
    def student_remarks(self) -> tuple[str, ...]:
        """What of it the student may read."""
        return for_students(self._said)

    @property
    def is_held_back(self) -> bool:
        """Whether an upload waits for somebody to decide whose it is."""
        return any(remark.kind == RemarkKind.HELD_BACK for remark in self.remarks)

    @property
    def _said(self) -> tuple[Remark, ...]:
        said = self.verdict.remarks if self.verdict else ()
        # Which notebooks are missing, the collector says in one sentence.
        return (*self.remarks, *(one for one in said if one.kind != MISSING))
