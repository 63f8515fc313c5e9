"""Why a notebook lacks what a task asks for: the cell that should make it has failed.

It reads what the cells said when they ran, before any hidden case was met.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from autograder.grading.sandbox import CellResult
from lab_utils.kit.ask import UNWRITTEN
from lab_utils.kit.task import cut

ABSENT = "absent"
"""The kind of a reply that says: there is no such thing in the notebook."""
_UNKNOWN_NAME = re.compile(r"name '(\w+)' is not defined")
_LINE = re.compile(r"\s*\((?:[^()]*, )?line (\d+)\)\s*$")
_LONGEST = 200


@dataclass(frozen=True)
class Blame:
    """A cell that failed, and what to do about it."""

    error: str
    """The error's class."""
    yours: str
    look: str


def blame(
    name: str,
    cells: Sequence[tuple[str, str]],
    ran: Mapping[str, CellResult],
    hole: str = "",
) -> Blame | None:
    """Which failed cell was to make ``name``, a variable or a file; None: none is known to be.

    ``cells`` are keys and sources, in order; ``hole`` is the key of the one that students fill in
    for the task. If a cell failed for want of another name, the cell that was to make that one
    is to blame.
    """
    met: set[str] = set()
    found: Blame | None = None
    wanted = name
    while wanted and wanted not in met:
        met.add(wanted)
        makers = [(key, source) for key, source in cells if _makes(source, wanted)]
        errors = [(source, _error(ran.get(key))) for key, source in makers]
        source, error = next(((s, e) for s, e in reversed(errors) if e), ("", None))
        if error is None:
            break
        found = _told(name, source, *error)
        unknown = _UNKNOWN_NAME.search(error[1])
        wanted = unknown[1] if unknown else ""
    if found is None and (error := _error(ran.get(hole))):
        return _told(name, dict(cells)[hole], *error)
    return found


def _error(cell: CellResult | None) -> tuple[str, str] | None:
    """Class and words of the error in which a cell ended."""
    errors = [o for o in cell.outputs if o["output_type"] == "error"] if cell else []
    return (errors[-1]["ename"], errors[-1]["evalue"]) if errors else None


def _makes(source: str, name: str) -> bool:
    if not name.isidentifier():
        return name in source
    try:
        return name in set(_bound(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        word = re.escape(name)
        form = (
            rf"^\s*(?:(?:async\s+)?def|class)\s+{word}\b|^\s*{word}\s*[:=]|\bimport\b.*\b{word}\b"
        )
        return re.search(form, source, re.MULTILINE) is not None


def _bound(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _told(name: str, source: str, error: str, words: str) -> Blame:
    first = next((line.strip() for line in source.splitlines() if line.strip()), "")
    said = next((line for line in words.splitlines() if line.strip()), "")
    number = int(at[1]) if (at := _LINE.search(said)) else 0
    said = cut(f"{error}: {_LINE.sub('', said)}" if said else error, _LONGEST)
    what = name if name.isidentifier() else f"file {name}"
    yours = f"there is no {what}: the cell that begins with `{cut(first, 60)}` ended in {said}"
    if error == "NotImplementedError":
        return Blame(error, UNWRITTEN, "The part marked for you is still to be written.")
    if error in ("SyntaxError", "IndentationError", "TabError"):
        lines = source.splitlines()
        text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        where = f"line {number} of that cell: {cut(text, 100)}" if text else "that cell"
        return Blame(error, yours, f"Python cannot read {where}")
    if error in ("ModuleNotFoundError", "ImportError"):
        look = "Where it is graded, only what the lab asks for is installed: do without the rest."
        return Blame(error, yours, look)
    look = "Mend that cell; then restart the kernel, and run all cells from the first one on."
    return Blame(error, yours, look)
