"""What a lab's solved notebooks say about grading it: which cells to run, and what to ask.

A test cell whose metadata names a task (``authoring.cells.TASK``) is never run beside student
code: it becomes questions, one for each case of that task, and a judge decides. What the task
is stands in ``lab_utils.labs.<lab>``, its hidden cases in ``autograder.labs.<lab>.hidden``.

Any other test cell runs in the sandbox as it is, and what it shows is its score, as in stock
nbgrader: the machine is safe from it, the score is not.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.authoring.cells import SHOWS, TASK
from autograder.grading.code import code_digest
from lab_utils.kit.errors import LabError
from lab_utils.kit.lab import lab_called

PACKAGE = "lab_utils"
"""What a notebook imports of ours."""


@dataclass(frozen=True)
class Test:
    """A test cell. ``task`` is empty where it is graded by what it shows."""

    __test__ = False  # for pytest

    grade_id: str
    notebook: str
    points: float
    source: str
    lab: str = ""
    """Whose task it is; another lab's if the notebook is borrowed."""
    task: str = ""
    name: str = ""
    """What the task asks for: a function, or a file (then it is no identifier)."""

    @property
    def is_of_file(self) -> bool:
        """Whether a file is asked for."""
        return bool(self.task) and not self.name.isidentifier()


@dataclass(frozen=True)
class NotebookPlan:
    """The cells of a notebook that are ours: its tests, and those that students cannot change."""

    name: str
    tests: dict[str, Test]
    locked: dict[str, str]
    imports: tuple[str, ...] = ()
    """What released cells import from ``lab_utils``, as statements."""
    given: frozenset[str] = frozenset()
    """The text of all code cells that are released as they are."""
    showing: frozenset[str] = frozenset()
    """Of those, the ones that only show something."""


@dataclass(frozen=True)
class LabPlan:
    """A lab as it is graded."""

    id: str
    notebooks: tuple[NotebookPlan, ...]
    digest: str
    """Of the lab's cells, cases, and all code that has a say in its grades."""

    @property
    def labs(self) -> tuple[str, ...]:
        """Whose tasks it has: its own, and those of labs whose notebooks it borrows."""
        return tuple(dict.fromkeys(test.lab for test in self.tests if test.task))

    @property
    def tests(self) -> list[Test]:
        """All test cells, in order."""
        return [test for notebook in self.notebooks for test in notebook.tests.values()]


def read_plan(lab: str, source: Path) -> LabPlan:
    """The plan of a lab; ``source`` is the folder of its solved notebooks.

    Raises:
        LabError: there are none.
    """
    paths = sorted(source.glob("*.ipynb"))
    if not paths:
        raise LabError(f"there are no solved notebooks in {source}: make notebooks builds them")
    plan = LabPlan(lab, tuple(map(_read_notebook, paths)), "")
    digest = hashlib.sha256(code_digest(plan.labs).encode())
    for path in paths:
        digest.update(path.read_bytes())
    return LabPlan(lab, plan.notebooks, digest.hexdigest())


def _read_notebook(path: Path) -> NotebookPlan:
    book = nbformat.read(path, as_version=4)
    given = [cell for cell in book.cells if cell.cell_type == "code" and not _is_written(cell)]
    plan = NotebookPlan(
        path.stem,
        {},
        {},
        tuple(dict.fromkeys(_imports(book))),
        frozenset(cell.source for cell in given),
        frozenset(cell.source for cell in given if cell.metadata.get(TASK, {}).get(SHOWS)),
    )
    for key, cell in keyed_cells(book):
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("grade") and not marks.get("solution"):
            points = float(marks["points"])
            plan.tests[key] = Test(key, path.stem, points, cell.source, *_asked(cell))
        elif marks.get("locked"):
            plan.locked[key] = cell.source
    return plan


def _is_written(cell: NotebookNode) -> bool:
    """Whether students write it."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


def _imports(book: NotebookNode) -> Iterator[str]:
    for cell in book.cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code" or marks.get("solution") or marks.get("grade"):
            continue
        try:
            statements = ast.parse(cell.source).body
        except SyntaxError:  # with a % or ! of IPython
            continue
        for one in statements:
            if any(name.partition(".")[0] == PACKAGE for name in _imported(one)):
                yield ast.unparse(one)


def _imported(statement: ast.stmt) -> list[str]:
    """The modules that a statement imports; none if it does something else."""
    match statement:
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case ast.Import(names=names):
            return [name.name for name in names]
    return []


def _asked(cell: NotebookNode) -> tuple[str, str, str]:
    """Lab, task and name of a test that a judge decides on; empty if it is another one."""
    if "task" not in (about := cell.metadata.get(TASK, {})):
        return "", "", ""
    return about["lab"], about["task"], lab_called(about["lab"]).task_called(about["task"]).asks


def keyed_cells(book: NotebookNode) -> list[tuple[str, NotebookNode]]:
    """The code cells of a notebook, each with a key that is the same before and after nbgrader.

    The key is the ``grade_id``; of several cells with the same one the last has it, as in
    nbgrader. Other cells are counted.
    """
    owner = {grade_id: cell for cell in book.cells if (grade_id := _grade_id(cell)) is not None}
    keyed: list[tuple[str, NotebookNode]] = []
    counted = 0
    for cell in book.cells:
        if cell.cell_type != "code":
            continue
        grade_id = _grade_id(cell)
        if grade_id is None or owner[grade_id] is not cell:
            counted += 1
            grade_id = f"cell {counted}"
        keyed.append((grade_id, cell))
    return keyed


def _grade_id(cell: NotebookNode) -> str | None:
    marks = cell.metadata.get("nbgrader")
    marks = marks if isinstance(marks, dict) else {}
    is_ours = marks.get("grade") or marks.get("solution") or marks.get("locked")
    return str(marks["grade_id"]) if is_ours and marks.get("grade_id") else None
