"""The examiner: a sandbox runs a submission, a judge decides, and both are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from autograder.classroom.grade import Order
from autograder.grading.grader import Grader, load_graded
from autograder.grading.plan import read_plan
from autograder.grading.sandbox.host.isolation import Reached
from autograder.grading.submission import digest_of, read_submission
from autograder.grading.verdict import SubmissionVerdict


class Sandbox:
    """Examines submissions in the sandboxes of a grader."""

    def __init__(self, order: Order, grader: Grader) -> None:
        """The grader has been entered."""
        self._order, self._grader = order, grader

    @property
    def reached(self) -> Reached:
        """How well student code is shut in here, and why no better."""
        return self._grader.executor.reached

    def examine(self, student: str) -> SubmissionVerdict:
        """The verdict; what was cut off after it was decided is not run again."""
        home, lab = self._order.home, self._order.lab
        submission = read_submission(student, home.submitted / student / lab)
        digest = digest_of(self._grader.plan, submission)
        known = None if self._order.again else load_graded(home.path, lab, student, digest)
        if known is None or self._order.require > known.verdict.isolation:
            known = self._grader.grade(submission)
            known.save(home.path)
        return known.verdict


@contextmanager
def sandbox(order: Order) -> Iterator[Sandbox]:
    """An examiner for ``grade_class``.

    Raises:
        NotIsolated: the machine does not allow the isolation that is required.
    """
    plan = read_plan(order.lab, order.home.root / "solutions" / order.lab)
    hidden = (order.home.path, order.source)
    with Grader(plan, jobs=order.jobs, require=order.require, hidden=hidden) as grader:
        yield Sandbox(order, grader)
