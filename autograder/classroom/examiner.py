"""The examiner of one machine: a sandbox runs a submission, a judge decides, and both are kept."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from autograder.classroom.grade import Order
from autograder.classroom.pool import Examined, several
from autograder.grading.grader import Grader, load_graded
from autograder.grading.plan import LabPlan, read_plan
from autograder.grading.sandbox.host.isolation import Reached
from autograder.grading.submission import digest_of, read_submission
from autograder.grading.verdict import verdict_file

Told = Callable[[Reached], None]
"""Called when the first sandbox starts: how well student code is shut in, and why no better."""


class Kept:
    """The verdicts that were kept, as far as they hold for what is graded now."""

    def __init__(self, order: Order) -> None:
        """Reads the rules by which the lab is graded."""
        self._order = order
        self.plan: LabPlan = read_plan(order.lab, order.home.root / "solutions" / order.lab)

    def has(self, student: str) -> bool:
        """Whether there is one on this very hand-in, by these rules, isolated as required."""
        home, lab = self._order.home, self._order.lab
        if not verdict_file(home.path, lab, student).is_file():
            return False
        submission = read_submission(student, home.submitted / student / lab)
        known = load_graded(home.path, lab, student, digest_of(self.plan, submission))
        return known is not None and not self._order.require > known.verdict.isolation

    def sorted_out(self, students: Sequence[str]) -> tuple[list[str], list[str]]:
        """Those whose verdict holds; and the others, whose verdicts go: one that comes is new."""
        order = self._order
        held = [] if order.again else [student for student in students if self.has(student)]
        left = [student for student in students if student not in set(held)]
        for student in left:
            verdict_file(order.home.path, order.lab, student).unlink(missing_ok=True)
        return held, left

    def there(self) -> set[str]:
        """Whose verdicts are there, whether they hold or not."""
        folder = verdict_file(self._order.home.path, self._order.lab, "x").parent
        return {path.stem for path in folder.glob("*.json")}


class Sandbox:
    """Examines submissions in the sandboxes of a grader."""

    def __init__(self, order: Order, told: Told) -> None:
        """Nothing starts yet."""
        self._order, self._told, self._kept = order, told, Kept(order)

    def each(self, students: Sequence[str]) -> Generator[Examined]:
        """Run and judge them. What was decided before a run was cut off is not run again.

        Raises:
            NotIsolated: the machine does not allow the isolation that is required.
        """
        left = []
        for student in students:
            if not self._order.again and self._kept.has(student):
                yield student, None
            else:
                left.append(student)
        if not left:
            return
        jobs = min(self._order.jobs, len(left))
        with grader_for(self._order, self._kept.plan, jobs) as grader:
            self._told(grader.executor.reached)
            examine = partial(examine_one, self._order, grader)
            # Twice as many: while verdicts are found on what has run, others may run.
            yield from several(examine, left, 2 * jobs)


def grader_for(order: Order, plan: LabPlan, jobs: int | None = None) -> Grader:
    """What runs student code for an order, to be entered; it shows nobody what others handed in."""
    hidden = (order.home.path, order.source)
    return Grader(plan, jobs=jobs or order.jobs, require=order.require, hidden=hidden)


def examine_one(order: Order, grader: Grader, student: str) -> None:
    """Run and judge what a student handed in, and keep the verdict."""
    folder = order.home.submitted / student / order.lab
    grader.grade(read_submission(student, folder)).save(order.home.path)


@contextmanager
def sandbox(order: Order, told: Told = lambda reached: None) -> Iterator[Sandbox]:
    """An examiner for ``grade_class``; it starts no sandbox unless there is something to run."""
    yield Sandbox(order, told)
