"""From what a sandbox answered to points: a judge decides, and its words become the output."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from typing import Any

import nbformat
from nbgrader.utils import determine_grade

from autograder.grading.hidden import hidden_of
from autograder.grading.judge.judges import PATIENCE, Judges, Undecided
from autograder.grading.judge.why import ABSENT, Blame, blame
from autograder.grading.plan import LabPlan, Test, keyed_cells
from autograder.grading.sandbox import CellResult, Notebook, NotebookResult, Question
from autograder.grading.sandbox.host.job import Output, Reply, Waiting
from autograder.grading.submission import Submission
from autograder.grading.verdict import CaseVerdict, Chart, TaskVerdict
from autograder.remark import Remark
from lab_utils.kit.judge import Verdict
from lab_utils.kit.lab import handed_in, lab_called
from lab_utils.kit.task import Finding, Task

_UNDECIDED = Finding(
    "an answer that cannot be judged", "an answer of the usual size", "See the remarks."
)


WASTE = 2 * PATIENCE
"""Seconds that the answers of one submission may keep the judge busy without a verdict."""
MOST = 5 * PATIENCE
"""Seconds that they may keep it busy in all; honest ones need a few."""


class Ruling:
    """Decides on one submission."""

    def __init__(self, plan: LabPlan, judges: Judges, submission: Submission) -> None:
        self.remarks: list[Remark] = []
        self._plan, self._judges, self._submission = plan, judges, submission
        self._waste, self._left = WASTE, MOST
        self._paid: set[str] = set()  # tasks that have lost points so far
        self._paid_in_public: set[str] = set()  # those whose first public case has failed

    def charge(self, tasks: Collection[str], in_public: bool) -> None:
        """Note that ``tasks`` lose points: what belongs to them is not paid for again.

        ``in_public`` tells whether they fail on their first public case, too.
        """
        self._paid.update(tasks)
        if in_public:
            self._paid_in_public.update(tasks)

    def follow_up(self, notebook: Notebook, replies: Sequence[Reply]) -> list[Question]:
        """Ask again with right versions of earlier functions, where these may be to blame."""
        again = []
        own = list(zip(notebook.questions, replies, strict=True))
        for test in self._plan.tests:
            helpers = _lent(test) if test.task and test.notebook == notebook.name else ()
            asked = [(q, r) for q, r in own if q.task == test.task]
            if helpers and any(not self._case(test, q, r).passed for q, r in asked):
                again += [replace(question, lent=helpers) for question, _ in asked]
        return again

    def lend(self, question: Question, name: str, arguments: Any, waiting: Waiting) -> Any:
        """What a right version of a function answers; ``waiting`` is open while it is not known."""
        where: dict[str, Any] = {"task": question.task, "case": question.case}
        try:
            return self._ask(
                question.lab, "lend", waiting=waiting, **where, name=name, arguments=arguments
            )
        except Undecided:
            return None

    def on_public_case(self, lab: str, task: str, reply: Reply) -> list[dict[str, Any]]:
        """Findings on a reply to a task on its first public case, for a cell that asks."""
        known = any((test.lab, test.task) == (lab, task) for test in self._plan.tests)
        try:
            if not known:
                raise Undecided
            told = self._ask(lab, "judge", task=task, case=0, reply=reply)
        except Undecided:
            return [asdict(_UNDECIDED)]
        findings: list[dict[str, Any]] = told["findings"]
        return findings

    def task(self, test: Test, result: NotebookResult) -> tuple[TaskVerdict, list[Output]]:
        """The verdict on a task, and what its test cell shows."""
        task = _task(test)
        asked = zip(result.asked, result.replies, strict=True)
        answered = [(q, r) for q, r in asked if q.task == test.task]
        if test.is_of_file:
            answered = [(q, self._file(test, r)) for q, r in answered]
        failed = self._failed_cell(test, result, [reply for _, reply in answered])
        first = next((r for q, r in answered if q.case == 0 and not q.lent), None)
        cases = [self._case(test, q, r, failed) for q, r in answered if not q.lent]
        lent = [self._case(test, q, r, failed) for q, r in answered if q.lent]
        note = ""
        if sum(case.passed for case in lent) > sum(case.passed for case in cases):
            cases = lent
            note = f"Tried with a right {' and '.join(_lent(test))}.\n"
        cases, forgiven = self._forgiven(cases)
        note += forgiven
        if test.is_of_file:
            note += self._compared(test, first)
        noun = lab_called(test.lab).noun_for(task)
        verdict = Verdict(task, tuple((case.name, case.findings) for case in cases), noun)
        points = round(test.points * share_of(cases), 4)
        decided = TaskVerdict(
            test.task,
            task.title,
            test.notebook,
            test.grade_id,
            points,
            test.points,
            noun,
            tuple(cases),
            self._chart(test, answered, cases),
            note.strip(),
            failed.error if failed else "",
        )
        if points < test.points:
            self.charge([test.task], in_public=any(not case.passed for case in cases[:1]))
        return decided, [_said(f"{verdict}\n{note}"), _score(points)]

    def _failed_cell(
        self, test: Test, result: NotebookResult, replies: Sequence[Reply]
    ) -> Blame | None:
        """The cell for whose failure there is nothing to ask, from the first public case on."""
        book = self._submission.books.get(test.notebook)
        if book is None or not all(reply.get("kind") == ABSENT for reply in replies):
            return None
        cells, hole = [], ""
        for key, cell in keyed_cells(book):
            cells.append((key, cell.source))
            if key == test.grade_id:
                break
            hole = key if cell.metadata.get("nbgrader", {}).get("solution") else hole
        return blame(test.name, cells, {cell.id: cell for cell in result.cells}, hole)

    def _case(
        self, test: Test, question: Question, reply: Reply, failed: Blame | None = None
    ) -> CaseVerdict:
        where: dict[str, Any] = {"task": question.task, "case": question.case}
        name: dict[str, Any] = {"name": f"a {lab_called(test.lab).noun}", "hidden": True}
        try:
            name = self._judges.ask(test.lab, "name", **where)
            if failed and reply.get("kind") == ABSENT:
                told_why = Finding(failed.yours, _task(test).returns, failed.look)
                return CaseVerdict(name["name"], name["hidden"], (told_why,))
            # Functions are lent when all cases have been asked once.
            met_hidden = bool(question.lent)
            told = self._ask(test.lab, "judge", **where, reply=reply, met_hidden=met_hidden)
        except Undecided:
            self._remark("undecided", "an answer took the judge too long, or too much", test)
            return CaseVerdict(name["name"], name["hidden"], (_UNDECIDED,))
        if told["forged"]:
            self._remark("forged", "sent an answer of another form than the sandbox does", test)
        findings = tuple(Finding(**finding) for finding in told["findings"])
        return CaseVerdict(name["name"], name["hidden"], findings)

    def _forgiven(self, cases: list[CaseVerdict]) -> tuple[list[CaseVerdict], str]:
        """The cases without those findings that other tasks have been charged for, and a word."""
        owed = [
            set(one.belongs.split()) & (self._paid_in_public if one.in_public else self._paid)
            for case in cases
            for one in case.findings
        ]
        if not owed or not all(owed):
            return cases, ""
        paid = sorted(set().union(*owed))
        first = next(one for case in cases for one in case.findings)
        note = (
            f"Paid for in task {' and '.join(paid)}, and not here again: {first.yours}; "
            f"wanted: {first.wanted}.\n"
        )
        return [replace(case, findings=()) for case in cases], note

    def _compared(self, test: Test, reply: Reply | None) -> str:
        """How a file differs from the reference, in words."""
        try:
            told = reply and self._ask(test.lab, "compared", task=test.task, reply=reply)
        except Undecided:
            return ""
        return str(told or "")

    def _chart(
        self, test: Test, answered: Sequence[tuple[Question, Reply]], cases: Sequence[CaseVerdict]
    ) -> Chart | None:
        """A picture of the first public case that went wrong, or else of the first one."""
        own = ((q, r) for q, r in answered if not q.lent)
        public = [(*asked, c) for asked, c in zip(own, cases, strict=False) if not c.hidden]
        wrong = [one for one in public if not one[2].passed]
        for question, reply, _ in wrong or public[:1]:
            where: dict[str, Any] = {"task": test.task, "case": question.case}
            try:
                told = self._ask(test.lab, "chart", **where, reply=reply)
            except Undecided:
                return None
            if told:
                lines = {name: tuple(line) for name, line in told["lines"].items()}
                return Chart(**{**told, "lines": lines})
        return None

    def _file(self, test: Test, made: Reply) -> Reply:
        """The file that the notebooks make, beside the one that was handed in.

        A table of measurements is judged as it was handed in: nobody can make it again.
        """
        content = self._submission.files.get(test.name)
        file = next((f for f in handed_in(self._plan.id) if f.name == test.name), None)
        is_measured = file is not None and file.measured
        if content is None and is_measured and "error" in made:
            content = b""  # the judge says in its own words that it is missing
        if content is None:
            return made
        try:
            text = content.decode("utf-8", "replace")
            given = self._ask(test.lab, "hand_in", task=test.task, file=test.name, content=text)
            if is_measured:
                return given
            if "error" in made:
                self._note(f"the notebooks do not make {test.name}: the file handed in was judged")
                return given
            both = {"made": made["answer"], "handed_in": given.get("answer")}
            if difference := self._ask(test.lab, "difference", **both, file=test.name):
                self._note(
                    f"{test.name} was handed in as another file than the notebooks make, which was "
                    f"judged: {difference}"
                )
        except Undecided:
            self._note(f"{test.name} as it was handed in cannot be read in reasonable time")
        return made

    def _ask(self, lab: str, do: str, *, waiting: Waiting = nullcontext, **details: Any) -> Any:
        """Ask about what a student answered, as long as that does not hold up the class."""
        seconds = min(PATIENCE, self._waste, self._left)
        if seconds <= 0:
            raise Undecided
        started = time.monotonic()
        try:
            return self._judges.ask(lab, do, seconds, waiting=waiting, **details)
        except Undecided:
            self._waste -= time.monotonic() - started
            raise
        finally:
            self._left -= time.monotonic() - started

    def _note(self, text: str) -> None:
        self.remarks.append(Remark("files", text))

    def _remark(self, kind: str, text: str, test: Test) -> None:
        remark = Remark(kind, text, test.notebook, f"task {test.task}")
        if remark not in self.remarks:
            self.remarks.append(remark)


def shown_score(test: Test, cell: CellResult) -> tuple[TaskVerdict, list[Output]]:
    """The verdict of a test that ran as it is, by what it showed; stderr costs nothing."""
    outputs = [{**o, "name": "stdout"} if o["output_type"] == "stream" else o for o in cell.outputs]
    if (cell.failed or cell.execution_count is None) and not any(
        output["output_type"] == "error" for output in outputs
    ):
        words = "the test did not run to its end"
        outputs.append(
            {"output_type": "error", "ename": "NotRun", "evalue": words, "traceback": [words]}
        )
    marks = {"grade": True, "solution": False, "points": test.points, "grade_id": test.grade_id}
    graded = nbformat.v4.new_code_cell(metadata={"nbgrader": marks}, outputs=outputs)
    points, _ = determine_grade(nbformat.from_dict(graded))
    verdict = TaskVerdict(
        test.grade_id, "", test.notebook, test.grade_id, float(points or 0), test.points
    )
    return verdict, outputs


def share_of(cases: Sequence[CaseVerdict]) -> float:
    """What share of its points a task gets, from 0 to 1: hidden cases decide.

    A public case counts as far as the hidden ones pass: who only looks the answers up that
    everybody has, has nothing.
    """
    public = [case.passed for case in cases if not case.hidden]
    hidden = [case.passed for case in cases if case.hidden]
    if not cases:
        return 0.0
    if not hidden:
        return sum(public) / len(public)
    decided = sum(hidden) / len(hidden)
    seen = min(sum(public) / len(public), decided) if public else decided
    return (len(public) * seen + len(hidden) * decided) / len(cases)


def nothing(test: Test) -> TaskVerdict:
    """No points, for a test whose notebook is not there."""
    if not test.task:
        return TaskVerdict(test.grade_id, "", test.notebook, test.grade_id, 0.0, test.points)
    task = _task(test)
    title, noun = task.title, lab_called(test.lab).noun_for(task)
    return TaskVerdict(test.task, title, test.notebook, test.grade_id, 0.0, test.points, noun)


def _task(test: Test) -> Task:
    return lab_called(test.lab).task_called(test.task)


def _lent(test: Test) -> tuple[str, ...]:
    return hidden_of(test.lab).lent.get(test.task, ())


def _said(text: str) -> Output:
    return {"output_type": "stream", "name": "stdout", "text": text}


def _score(points: float) -> Output:
    """What nbgrader reads as the score of a cell."""
    data = {"text/plain": repr(float(points))}
    return {"output_type": "execute_result", "execution_count": 0, "data": data, "metadata": {}}
