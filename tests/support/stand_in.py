"""Grading without student code: a stand-in that sees in a cell's text whether it is right."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.classroom.grade import Order
from autograder.classroom.pool import Examined, several
from autograder.grading.verdict import (
    CaseVerdict,
    Chart,
    SubmissionVerdict,
    TaskVerdict,
    save_verdict,
)
from autograder.remark import Remark
from lab_utils.kit.task import Finding
from tests.support.collect_class import build_course
from tests.support.sample_course import write

CHART = Chart(
    "Bytes held at each step, on a small graph",
    {"before": (1, 5, 9, 2), "yours": (1, 4, 2, 2), "reference": (1, 3, 2, 2)},
    limit=4,
)
#: A solution with this word in it is wrong.
WRONG = "wrong"
SETTINGS = """
from nbgrader.preprocessors import CheckCellMetadata
from autograder.classroom.by_hand import SaveGrades
from tests.support.stand_in import Pretended

c.Autograde.autograde_preprocessors = [Pretended, SaveGrades, CheckCellMetadata]
"""


def stand_in_course(folder: Path) -> Path:
    """The course with two small notebooks, graded by the stand-in."""
    build_course(folder)
    path = folder / "autograder" / "nbgrader_config.py"
    write(path, path.read_text(encoding="utf-8") + SETTINGS)
    return folder


def _failed(notebook: NotebookNode) -> dict[str, bool]:
    """Whether each test fails, by grade_id: it does if the solution before it is wrong."""
    found, wrong = {}, False
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            wrong = WRONG in cell.source
        elif marks.get("grade"):
            found[marks["grade_id"]] = wrong
    return found


class Pretended(NbGraderPreprocessor):
    """In the place of nbgrader's Execute."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        failed = _failed(nb)
        for cell in nb.cells:
            if failed.get(cell.metadata.get("nbgrader", {}).get("grade_id")):
                cell.outputs = [nbformat.v4.new_output("error", ename="Wrong", evalue="wrong")]
        return nb, resources


class StandIn:
    """An examiner that reads and does not run."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self.examined: list[str] = []

    def each(self, students: Sequence[str]) -> Generator[Examined]:
        yield from several(self.examine, students, self._order.jobs)

    def examine(self, student: str) -> SubmissionVerdict:
        self.examined.append(student)
        folder = self._order.home.submitted / student / self._order.lab
        texts = {path.stem: path.read_text("utf-8") for path in sorted(folder.glob("*.ipynb"))}
        verdict = SubmissionVerdict(
            student,
            self._order.lab,
            isolation="none",
            seconds=0.5,
            digest=sha256("".join(texts.values()).encode()).hexdigest(),
            tasks=tuple(
                _task(name, grade_id, failed)
                for name, text in texts.items()
                for grade_id, failed in _failed(nbformat.reads(text, as_version=4)).items()
            ),
            remarks=(Remark("note", "looked at, not run"),),
        )
        save_verdict(verdict, self._order.home.path)
        return verdict


def _task(notebook: str, grade_id: str, failed: bool) -> TaskVerdict:
    found = (Finding("<b>wrong</b>", "right", "Do not write it."),) if failed else ()
    return TaskVerdict(
        f"{grade_id[1]}.{grade_id[2]}",
        f"the task of {grade_id}",
        notebook,
        grade_id,
        points=0 if failed else 1,
        max_points=1,
        noun="graph",
        cases=(CaseVerdict("a small graph", False, found), CaseVerdict("a hidden graph", True)),
        chart=CHART,
    )


@contextmanager
def stand_in(order: Order) -> Iterator[StandIn]:
    """An examiner for ``grade_class``."""
    yield StandIn(order)
