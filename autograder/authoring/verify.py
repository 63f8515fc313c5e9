"""Refuses a lab that would not be graded as its author means it.

``problems`` finds what can be known without running anything of a notebook, and is part of every
build. ``trial`` has the solved and the unfilled notebooks graded, as those of a class are: the
first must get all points of its checks, the second none.

Each problem is one line: the file and line, what is wrong, and what to do.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import nbformat

from autograder.authoring.build import Files
from autograder.authoring.cells import TASK, solved_notebook
from autograder.grading.hidden import Hidden, hidden_of
from autograder.grading.verdict import TaskVerdict
from lab_utils.kit.course import Course, read_course
from lab_utils.kit.lab import Lab, handed_in, lab_of
from lab_utils.kit.root import ROOT
from lab_utils.kit.task import Task


@dataclass(frozen=True)
class CheckCell:
    """A graded cell of a source on which a judge decides."""

    file: str
    line: int
    task: str
    points: float
    source: str

    @property
    def where(self) -> str:
        """``solutions/<lab>/01_first.py:81``."""
        return f"{self.file}:{self.line}"


def problems(labs: Iterable[str], root: Path = ROOT) -> list[str]:
    """What is wrong with these assignments, as far as it can be known without running them."""
    course = _course(root)
    found: list[str] = []
    for home in dict.fromkeys(labs):
        own = [note for note in course.lab(home).notebooks if note.home == home]
        sources = dict.fromkeys(f"solutions/{notebook.source}.py" for notebook in own)
        cells = [cell for source in sources for cell in check_cells(root, source, home)]
        if (lab := lab_of(home)) is not None:
            found += problems_of(lab, _hidden(home), cells)
        elif cells:
            found.append(
                f"{cells[0].where}: check={cells[0].task}, but lab_utils/labs/{home} is not there: "
                "make it (python -m autograder new-lab shows how)"
            )
    return found


def _course(root: Path) -> Course:
    return read_course(root / "setup" / "course.toml")


def check_cells(root: Path, file: str, lab: str) -> Iterator[CheckCell]:
    """The cells of a source that name a task, in order.

    Raises:
        SourceError: something is wrong in the source.
    """
    text = (root / file).read_text(encoding="utf-8")
    for cell in solved_notebook(text, file, lab).cells:
        if "task" in cell.metadata.get(TASK, {}):
            marks = cell.metadata["nbgrader"]
            line, task = _begins(text, marks["grade_id"]), cell.metadata[TASK]["task"]
            yield CheckCell(file, line, task, marks["points"], cell.source)


def _begins(source: str, grade_id: str) -> int:
    """The line in which a graded cell begins."""
    begins = re.compile(rf'# %%.* test="?{re.escape(grade_id)}"?(\s|$)')
    return next((at for at, line in enumerate(source.splitlines(), 1) if begins.match(line)), 1)


def problems_of(lab: Lab, hidden: Hidden | None, cells: Iterable[CheckCell]) -> Iterator[str]:
    """What does not fit between a lab, its hidden cases and the cells of its sources."""
    folder = lab.home.replace(".", "/")
    known = {task.id: task for task in lab.tasks}
    checked: dict[str, CheckCell] = {}
    for cell in cells:
        if (task := known.get(cell.task)) is None:
            there = ", ".join(known) or "none"
            yield (
                f"{cell.where}: check={cell.task}, but {folder}/__init__.py has no such task "
                f"(there is {there}): add it there, or mend the number here"
            )
        elif cell.task in checked:
            first = checked[cell.task].where
            yield f"{cell.where}: task {task.id} is checked in {first} already: check it once"
        else:
            checked[cell.task] = cell
            yield from _of_cell(cell, task, folder)
    for task in lab.tasks:
        where = _line(lab, f'"{task.id}"')
        if task.id not in checked:
            yield (
                f"{where}: no notebook checks task {task.id}: add a cell "
                f"`# %% test=… points={task.points:g} check={task.id}`, or take the task out"
            )
        yield from _of_task(lab, task, hidden, folder, where)


def _of_cell(cell: CheckCell, task: Task, folder: str) -> Iterator[str]:
    if cell.points != task.points:
        yield (
            f"{cell.where}: points={cell.points:g}, but {folder}/__init__.py gives task {task.id} "
            f"{task.points:g}: make them the same"
        )
    name = repr(task.asks) if task.is_of_file else task.asks
    wanted = ast.dump(ast.parse(f"check({task.id!r}, {name})").body[0])
    if not any(ast.dump(line) == wanted for line in ast.parse(cell.source).body):
        shown = f'check("{task.id}", {name})'.replace("'", '"')
        yield f"{cell.where}: students would not run what is graded: write {shown} in this cell"


def _of_task(lab: Lab, task: Task, hidden: Hidden | None, folder: str, where: str) -> Iterator[str]:
    for module, table in (("ask", "ASK"), ("judge", "JUDGE")):
        if task.id not in getattr(import_module(f"{lab.home}.{module}"), table, {}):
            yield f"{folder}/{module}: {table} has no {task.id!r}, a task of the lab: add it"
    if task.is_of_file and task.asks not in {file.name for file in lab.files}:
        yield (
            f"{where}: task {task.id} asks for {task.asks}, which nobody hands in: add "
            f'HandedIn("{task.asks}") to files'
        )
    build = f"autograder/labs/{lab.id}/build.py"
    if not (public := lab.public_cases(task.id)):
        yield f"{where}: task {task.id} has no public case: add one in {build}, and build again"
    secret = hidden.graded_cases(task.id)[len(public) :] if hidden else []
    if not secret and not task.is_of_file:
        yield f"{where}: task {task.id} has no hidden case: add one in {build}, and build again"
    givens = [case.given for case in public]
    for case in secret:
        if case.given in givens and not task.is_of_file:
            name = repr(case.name)
            yield f"{where}: the hidden case {name} of task {task.id} is public too: change it"


def _hidden(lab: str) -> Hidden | None:
    try:
        return hidden_of(lab)
    except ModuleNotFoundError as error:
        if error.name and error.name.startswith(f"autograder.labs.{lab}"):
            return None
        raise


def _line(lab: Lab, words: str) -> str:
    """Where ``words`` stand in the module that describes the lab."""
    path = Path(str(import_module(lab.home).__file__))
    lines = path.read_text(encoding="utf-8").splitlines()
    number = next((at for at, line in enumerate(lines, 1) if words in line), 1)
    return f"{lab.home.replace('.', '/')}/__init__.py:{number}"


def hidden_in_release(books: Files, root: Path = ROOT) -> list[str]:
    """Values of hidden cases that students could read, in ``books`` or in ``lab_utils``."""
    from autograder.release.hidden_values import hidden_values_in

    helpers = [path for path in (root / "lab_utils").rglob("*") if path.is_file()]
    files = {path: content for path, content in books.items() if path.startswith("notebooks/")}
    files |= {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(helpers)
        if "__pycache__" not in path.parts
    }
    return [f"{found}: students must not see it" for found in hidden_values_in(files, root)]


def trial(lab: str, root: Path = ROOT) -> Iterator[str]:
    """Have the solved and the unfilled notebooks of an assignment graded, with hidden cases.

    A file of measurements is handed in, not made: what asks for one is not tried.
    """
    from autograder.grading.grader import Grader
    from autograder.grading.plan import read_plan
    from autograder.grading.submission import Submission

    plan = read_plan(lab, root / "solutions" / lab)
    submissions = [
        Submission(step, {path.stem: nbformat.read(path, 4) for path in sorted(folder)}, {})
        for step in ("solutions", "notebooks")
        if (folder := (root / step / lab).glob("*.ipynb"))
    ]
    with Grader(plan, jobs=2) as grader:
        verdicts = {graded.verdict.student: graded.verdict for graded in grader.map(submissions)}
    sources = {book.name: book.source for book in _course(root).lab(lab).notebooks}
    measured = {file.name for file in handed_in(lab) if file.measured}
    not_tried = {(test.notebook, test.grade_id) for test in plan.tests if test.name in measured}
    for solved, unfilled in zip(
        verdicts["solutions"].tasks, verdicts["notebooks"].tasks, strict=True
    ):
        file = f"solutions/{sources[solved.notebook]}.py"
        where = f"{file}:{_begins((root / file).read_text(encoding='utf-8'), solved.grade_id)}"
        is_tried = (solved.notebook, solved.grade_id) not in not_tried
        if is_tried and solved.points < solved.max_points:
            yield _solution_fails(where, solved)
        if unfilled.points:
            yield _unfilled_passes(where, unfilled)


def _solution_fails(where: str, task: TaskVerdict) -> str:
    lines = [
        f"{where}: our solution gets {task.points:g} of {task.max_points:g} points for task "
        f"{task.id}: mend it, or the cases"
    ]
    wrong = [case for case in task.cases if case.findings]
    lines += [f"  {case.name}\n{case.findings[0]}" for case in wrong[:3]]
    return "\n".join(lines)


def _unfilled_passes(where: str, task: TaskVerdict) -> str:
    on = f" on {', '.join(case.name for case in task.cases if case.passed)}" * bool(task.cases)
    return (
        f"{where}: task {task.id} passes{on} before anything is written: put what makes it pass "
        "into the SOLUTION region, or take other cases"
    )
