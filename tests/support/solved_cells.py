"""The cells that students write, as our solutions have them."""

from __future__ import annotations

import ast
import linecache
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from lab_utils.kit.root import ROOT


def solution_cells(lab: str, root: Path = ROOT) -> dict[str, str]:
    """The text of each such cell of a lab's solved notebooks, by its ``grade_id``."""
    return {
        marks["grade_id"]: cell.source
        for path in sorted((root / "solutions" / lab).glob("*.ipynb"))
        for cell in nbformat.read(path, as_version=4).cells
        if (marks := cell.metadata.get("nbgrader", {})).get("solution")
    }


def functions_of(lab: str, **names: Any) -> dict[str, Any]:
    """What these cells define, in one namespace that has ``names`` already."""
    space = dict(names)
    for source in solution_cells(lab).values():
        exec(source, space)
    return space


@cache
def solved_space(lab: str) -> dict[str, Any]:
    """What the solved notebooks of a lab import, and what their solutions' cells define."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for path in sorted((ROOT / "solutions" / lab).glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type != "code":
                continue
            if cell.metadata.get("nbgrader", {}).get("solution"):
                run_cell(cell.source, space)
            elif cell.source.startswith(("import ", "from ")) and "hand_in" not in cell.source:
                for node in ast.parse(cell.source).body:
                    if isinstance(node, (ast.Import, ast.ImportFrom)):
                        with suppress(ImportError):
                            exec(compile(ast.Module([node], []), "<imports>", "exec"), space)
    return space


def run_cell(code: str, space: dict[str, Any]) -> None:
    """Run a cell; its lines can be told in errors."""
    name = f"<cell {len(linecache.cache)}>"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    exec(compile(code, name, "exec"), space)
