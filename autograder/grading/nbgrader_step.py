"""The step of nbgrader's ``autograde`` that runs notebooks: in a sandbox, with a judge.

It stands in for nbgrader's ``Execute`` (see nbgrader_config.py). A submission is graded as
a whole when its first notebook comes, or was graded before; each notebook then gets its
outputs, the score of each test among them.
"""

from __future__ import annotations

import atexit
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Unicode

from autograder.grading.grader import CellOutputs, Graded, Grader, load_graded
from autograder.grading.plan import LabPlan, keyed_cells, read_plan
from autograder.grading.sandbox import Isolation
from autograder.grading.sandbox.clean.markup import safe_markdown
from autograder.grading.submission import digest_of, read_submission

_graders: dict[str, Grader] = {}


class SandboxedExecute(NbGraderPreprocessor):
    """Runs a notebook in a sandbox and has it judged."""

    require_isolation = Unicode(
        "none", help="refuse to run below this level: full, namespaces, limits or none"
    ).tag(config=True)

    def preprocess(
        self, book: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Fill in what the cells of a notebook show; no text in it acts when it is opened."""
        about = resources["nbgrader"]
        graded = self._graded(about["assignment"], about["student"])
        fill_in(book, graded.cells.get(about["notebook"], {}))
        return book, resources

    def _graded(self, lab: str, student: str) -> Graded:
        course = CourseDirectory(config=self.config)
        home = Path(course.root, course.submitted_directory).resolve().parent
        folder = Path(course.format_path(course.submitted_directory, student, lab))
        plan = _plan(lab, Path(course.format_path(course.source_directory, ".", lab)))
        submission = read_submission(student, folder)
        digest = digest_of(plan, submission)
        known = load_graded(home, lab, student, digest)
        if known is None:
            known = self._grader(plan).grade(submission)
            known.save(home)
            for remark in known.verdict.remarks:
                self.log.warning("%s: %s", student, remark)
        return known

    def _grader(self, plan: LabPlan) -> Grader:
        if plan.digest not in _graders:
            close()
            grader = Grader(plan, jobs=1, require=Isolation(self.require_isolation))
            _graders[plan.digest] = grader.__enter__()
            self.log.info("%s", grader.executor.reached)
        return _graders[plan.digest]


def fill_in(book: NotebookNode, shown: Mapping[str, CellOutputs]) -> None:
    """Give the cells of a notebook what they show, by key; no text in it acts when it is opened."""
    for key, cell in keyed_cells(book):
        told = shown.get(key, {"outputs": [], "execution_count": None})
        cell.outputs = [nbformat.from_dict(output) for output in told["outputs"]]
        cell.execution_count = told["execution_count"]
    for cell in book.cells:
        if cell.cell_type != "code":
            cell.source = safe_markdown(cell.source)


def _plan(lab: str, source: Path) -> LabPlan:
    """The plan of a lab, read again when one of its notebooks has changed."""
    stats = [(path.name, path.stat()) for path in sorted(source.glob("*.ipynb"))]
    return _read(lab, source, tuple((name, at.st_mtime_ns, at.st_size) for name, at in stats))


@lru_cache(maxsize=4)
def _read(lab: str, source: Path, _state: tuple[object, ...]) -> LabPlan:
    return read_plan(lab, source)


@atexit.register
def close() -> None:
    """End the warm processes."""
    while _graders:
        _graders.popitem()[1].__exit__(None, None, None)
