"""Grades submissions of one lab: a sandbox runs them, a judge decides, and it is kept.

::

    plan = read_plan(lab, root / "solutions" / lab)
    with Grader(plan, jobs=2) as grader:
        print(grader.executor.reached)
        for graded in grader.map(submissions):
            graded.save(home)

What is kept is found again by nbgrader's own ``autograde`` (see ``nbgrader_step``), which
stores the scores: nothing runs twice as long as nothing has changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from autograder.grading.hidden import hidden_of
from autograder.grading.judge.judges import Judges
from autograder.grading.judge.ruling import Ruling, nothing, shown_score
from autograder.grading.plan import LabPlan, NotebookPlan, keyed_cells
from autograder.grading.sandbox import Executor, Isolation, Job, Limits, Result
from autograder.grading.sandbox.host.cut import PACKAGE, Cut, Kit, all_of
from autograder.grading.sandbox.host.job import Output
from autograder.grading.sandbox.host.limits import most_of
from autograder.grading.sandbox.host.pool import PRELOAD
from autograder.grading.submission import Submission, active_text, digest_of, notebooks_of
from autograder.grading.verdict import (
    SubmissionVerdict,
    TaskVerdict,
    load_verdict,
    save_verdict,
    verdict_file,
    write_private,
)
from autograder.remark import Remark
from lab_utils.kit.course import read_course
from lab_utils.kit.files import MARK
from lab_utils.kit.lab import handed_in, lab_called, lab_of

MISSING = "missing notebook"
"""The kind of a remark on a notebook that was not handed in; the collector makes it too."""
_PICTURES = "from lab_utils.kit.charts.drawn import open_books; open_books()"
_LEFT_OUT: Output = {
    "output_type": "stream",
    "name": "stdout",
    "text": "[Nothing that is graded needs this cell, so it did not run here.]\n",
}
CellOutputs = dict[str, Any]
"""``outputs`` and ``execution_count`` of a cell, in the form of nbformat 4."""


@dataclass(frozen=True)
class Graded:
    """A verdict, and what each cell shows: by notebook, then by the key of the cell."""

    verdict: SubmissionVerdict
    cells: dict[str, dict[str, CellOutputs]]

    def save(self, home: Path) -> None:
        """Keep it in the folder of the outcomes."""
        about = {"digest": self.verdict.digest, "cells": self.cells}
        write_private(_cells_file(home, self.verdict.lab, self.verdict.student), json.dumps(about))
        save_verdict(self.verdict, home)


def load_graded(home: Path, lab: str, student: str, digest: str) -> Graded | None:
    """What was kept of a submission, if it is the same one still."""
    verdict = load_verdict(home, lab, student)
    if verdict is None or verdict.digest != digest:
        return None
    try:
        about = json.loads(_cells_file(home, lab, student).read_text(encoding="utf-8"))
        return Graded(verdict, about["cells"]) if about["digest"] == digest else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _cells_file(home: Path, lab: str, student: str) -> Path:
    return verdict_file(home, lab, student).with_suffix(".cells")


class Grader:
    """A lab, an executor and judges; grades several submissions at a time.

    ``isolation`` is the highest level to try, ``require`` the lowest to accept; ``hidden``
    are folders that no sandbox may show even if they lie in one that it needs.
    """

    def __init__(
        self,
        plan: LabPlan,
        jobs: int = 2,
        limits: Limits | None = None,
        isolation: Isolation = Isolation.FULL,
        require: Isolation = Isolation.NONE,
        hidden: Sequence[Path] = (),
    ) -> None:
        self.plan = plan
        self.executor = Executor(
            isolation,
            require,
            limits or most_of([hidden_of(lab).limits for lab in plan.labs]),
            jobs,
            hidden=(*hidden, *_peers(plan)),
            environment=_environment(plan),
            kits=_kits(plan),
        )
        self._judges = Judges(most=jobs)
        self._open = ExitStack()
        self._cases = {
            test: hidden_of(test.lab).graded_cases(test.task) for test in plan.tests if test.task
        }

    def __enter__(self) -> Grader:
        with ExitStack() as stack:
            stack.callback(self._judges.close)
            self._judges.begin(self.plan.labs)  # while the sandboxes start
            stack.enter_context(self.executor)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def grade(self, submission: Submission) -> Graded:
        """Grade one submission. Whatever it does, this returns, and in bounded time.

        Raises:
            SandboxFailed, JudgeFailed: which is not the submission's doing.
        """
        ruling = Ruling(self.plan, self._judges, submission)
        made = {file.name for file in handed_in(self.plan.id) if not file.measured}
        files = {name: content for name, content in submission.files.items() if name not in made}
        job = Job(
            submission.student,
            notebooks_of(self.plan, submission, self._cases),
            {**files, MARK: b""},
            ruling.follow_up,
            ruling.lend,
            ruling.on_public_case,
        )
        return self._decided(submission, ruling, self.executor.run(job))

    def map(self, submissions: Iterable[Submission]) -> Iterator[Graded]:
        """Grade many submissions, several at a time; they come as they are ready.

        ``submissions`` is read no faster than they are graded, so it may be long and lazy.
        """
        return self.executor.each(self.grade, submissions)

    def _decided(self, submission: Submission, ruling: Ruling, result: Result) -> Graded:
        results = {notebook.name: notebook for notebook in result.notebooks}
        tasks: list[TaskVerdict] = []
        missing: list[Remark] = []
        cells: dict[str, dict[str, CellOutputs]] = {}
        for part in self.plan.notebooks:
            if part.name not in results:
                missing.append(Remark(MISSING, f"{part.name}.ipynb was not handed in"))
                tasks += [nothing(test) for test in part.tests.values()]
                ruling.charge([test.task for test in part.tests.values()], in_public=True)
                continue
            ran = {cell.id: cell for cell in results[part.name].cells}
            shown: dict[str, tuple[list[Output], int | None]] = {
                key: ([_LEFT_OUT], None) for key, _ in keyed_cells(submission.books[part.name])
            }
            shown |= {key: (cell.outputs, cell.execution_count) for key, cell in ran.items()}
            for key, test in part.tests.items():
                if test.task:
                    decided, outputs = ruling.task(test, results[part.name])
                else:
                    decided, outputs = shown_score(test, ran[key])
                tasks.append(decided)
                shown[key] = (outputs, ran[key].execution_count if key in ran else None)
            cells[part.name] = {
                key: {"outputs": outputs, "execution_count": count}
                for key, (outputs, count) in shown.items()
            }
        verdict = SubmissionVerdict(
            submission.student,
            self.plan.id,
            result.isolation,
            round(result.seconds, 3),
            digest_of(self.plan, submission),
            tuple(tasks),
            (
                *submission.remarks,
                *missing,
                *active_text(submission),
                *result.remarks,
                *ruling.remarks,
            ),
        )
        return Graded(verdict, cells)


def kit_of(part: NotebookPlan) -> Kit:
    """What lies beside the code of a notebook: nothing that answers one of its tasks."""
    tests = [test for test in part.tests.values() if test.task]
    names = list(dict.fromkeys(test.lab for test in tests))
    labs = [hidden_of(lab) for lab in names]
    asking = tuple(f"import {lab_called(name).home}.ask" for name in names)
    return Kit(
        all_of(hidden_of(test.lab).cuts.get(test.task, Cut()) for test in tests),
        (*PRELOAD, *dict.fromkeys(name for lab in labs for name in lab.preload)),
        tuple(dict.fromkeys(name for lab in labs for name in lab.warm_up)),
        (*part.imports, *asking, _PICTURES),
    )


def _kits(plan: LabPlan) -> dict[str, Kit]:
    """The kit of each notebook; those with the same cut share one, and what they import."""
    others = _others(plan)
    own = {part.name: kit_of(part) for part in plan.notebooks}
    own = {name: replace(kit, cut=kit.cut | others) for name, kit in own.items()}
    imports: dict[Kit, dict[str, None]] = {}
    for kit in own.values():
        imports.setdefault(replace(kit, imports=()), {}).update(dict.fromkeys(kit.imports))
    return {
        name: replace(kit, imports=tuple(imports[replace(kit, imports=())]))
        for name, kit in own.items()
    }


def _others(plan: LabPlan) -> Cut:
    """The labs of the course that a plan has nothing to do with: no notebook of it needs them."""
    used = {plan.id, *plan.labs}
    folders = (PACKAGE / "labs" / name for name in read_course().labs if name not in used)
    return Cut(frozenset(f"labs/{folder.name}" for folder in folders if folder.is_dir()))


def _peers(plan: LabPlan) -> list[Path]:
    """The folders of installed packages that would answer a task."""
    found = [find_spec(name) for lab in plan.labs for name in hidden_of(lab).peers]
    return [Path(path) for spec in found if spec for path in spec.submodule_search_locations or ()]


def _environment(plan: LabPlan) -> dict[str, str]:
    """What the notebooks' environment says about how large things are."""
    labs = [lab for name in {plan.id, *plan.labs} if (lab := lab_of(name))]
    sizes = [lab.small for lab in labs if lab.small]
    return {size.variable: os.environ.get(size.variable, size.graded) for size in sizes}
