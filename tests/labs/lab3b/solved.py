"""What the solved notebooks of Lab 3B define, and a cell that runs beside it."""

from __future__ import annotations

import linecache
from functools import cache
from typing import Any

import nbformat

from lab_utils.kit.judge import Verdict
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab3b import LAB
from tests.support.judged import verdict_of

FOLDER = ROOT / "solutions" / "lab3b"


@cache
def solution() -> dict[str, Any]:
    """Every function of the solution, with what the notebooks import at their top."""
    space: dict[str, Any] = {}
    for path in sorted(FOLDER.glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            is_solution = cell.metadata.get("nbgrader", {}).get("solution")
            imports = cell.source.startswith(("import ", "from ")) and "hand_in" not in cell.source
            if cell.cell_type == "code" and (is_solution or imports):
                run(cell.source, space)
    return space


def run(code: str, space: dict[str, Any]) -> None:
    """Run a cell; its lines can be told in errors."""
    name = f"<cell {len(linecache.cache)}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    exec(compile(code, name, "exec"), space)


def space_of(code: str) -> dict[str, Any]:
    """What is defined once a cell with ``code`` has run after the solution's cells."""
    space = dict(solution())
    run(code, space)
    return space


def verdict(task: str, space: dict[str, Any], lend: bool = False) -> Verdict:
    """The verdict on what ``space`` has for a task, on public and hidden cases."""
    return verdict_of("lab3b", task, space[LAB.task_called(task).asks], lend=lend)
