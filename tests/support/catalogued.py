"""Cells as students might write them, and what they get: for the catalogues of labs."""

from __future__ import annotations

import ast
import linecache
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import nbformat

from autograder.grading.hidden import hidden_of
from autograder.grading.judge.process import Judge
from lab_utils.kit.ask import attempt
from lab_utils.kit.lab import lab_called
from lab_utils.kit.root import ROOT
from tests.support.judged import points_of, verdict_of

UNNAMED = "It is right for some, and not for all: what is special here?"
"""What a student hears of a hidden case if the mistake has no name."""


class Cell(NamedTuple):
    """What stands in the cell of a task; ``says`` are words that its message must hold.

    ``most`` is the largest share of the task's points that it may get.
    """

    lab: str
    task: str
    name: str
    code: str
    says: tuple[str, ...] = ()
    most: float = 0.5

    @property
    def function(self) -> Any:
        """What the cell defines for its task, beside all that the solution defines."""
        space = dict(solved_space(self.lab))
        run(self.code, space)
        return space[lab_called(self.lab).task_called(self.task).asks]


def cell(lab: str, task: str, name: str, body: str, *says: str, most: float = 0.5) -> Cell:
    """The function that a task asks for, with another body."""
    asked = lab_called(lab).task_called(task)
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    return Cell(lab, task, name, f"def {asked.asks}({asked.takes}):\n{lines}\n", says, most)


@cache
def solved_space(lab: str) -> dict[str, Any]:
    """What the solved notebooks of a lab define: their solutions' cells, and all imports."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for path in sorted((ROOT / "solutions" / lab).glob("*.ipynb")):
        for one in nbformat.read(path, as_version=4).cells:
            if one.cell_type != "code":
                continue
            if one.metadata.get("nbgrader", {}).get("solution"):
                run(one.source, space)
            elif one.source.startswith(("import ", "from ")) and "hand_in" not in one.source:
                for node in ast.parse(one.source).body:
                    if isinstance(node, (ast.Import, ast.ImportFrom)):
                        with suppress(ImportError):
                            exec(compile(ast.Module([node], []), "<imports>", "exec"), space)
    return space


def run(code: str, space: dict[str, Any]) -> None:
    """Run a cell; its lines can be told in errors."""
    name = f"<cell {len(linecache.cache)}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    exec(compile(code, name, "exec"), space)


def assert_right(one: Cell) -> None:
    """The cell has full marks."""
    found = verdict_of(one.lab, one.task, one.function)
    assert found.passed, found


def assert_wrong(one: Cell) -> None:
    """The cell loses enough, and is told why, on public and on hidden cases."""
    lab, function = lab_called(one.lab), one.function
    task = lab.task_called(one.task)
    found = str(verdict_of(one.lab, one.task, function))
    for words in one.says:
        assert words in found, found
    assert points_of(one.lab, one.task, function) <= one.most * task.points, found
    judge, public, told = _judge(one.lab), len(lab.public_cases(one.task)), set()
    for place, case in enumerate(hidden_of(one.lab).graded_cases(one.task)[public:], public):
        reply = attempt(task, lab.ask(one.task), function, case.given)
        judged = judge.judge(one.task, place, reply)
        assert not judged["forged"], case.name
        told |= {finding["look"] for finding in judged["findings"]}
    assert told, "nothing is wrong on hidden cases"
    assert UNNAMED not in told, found


@cache
def _judge(lab: str) -> Judge:
    return Judge(lab)
