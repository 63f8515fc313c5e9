"""Reads the source of a notebook: py:percent text in which each cell says what it is.

A cell begins with ``# %%`` (code) or ``# %% [markdown]``, followed by one of these:

======================  =============================================================
``solution=t21``        code that students write, where ours has a SOLUTION region
``test=c21 points=1``   grades what students wrote; its HIDDEN TESTS region stays with us.
                        With ``check=2.1`` a judge decides, by that task of the lab
``answer=q1 points=2``  students write it, we grade it by hand; has a SOLUTION region
``task=q2 points=2``    a question, graded by hand; its MARK SCHEME region stays with us
``… bonus``             after ``points=``: these count beyond what the notebook is worth
``readonly=intro``      students cannot change it
``shows``               as below, and it changes nothing that others read: it only shows what is
                        there, so that where it is graded it need not run
nothing                 students may change it, and nobody grades it
======================  =============================================================

A region begins with the line ``### BEGIN SOLUTION`` and ends with ``### END SOLUTION``.
The name is nbgrader's ``grade_id``: no two cells of a notebook have the same.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from typing import Any, NamedTuple

import jupytext
from nbformat.notebooknode import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from lab_utils.kit.errors import LabError


class SourceError(LabError):
    """A mistake in the source of a notebook; the message begins with file and line."""


class CellKind(NamedTuple):
    """What nbgrader is told about a cell, and what the cell may look like."""

    flags: frozenset[str]
    cell_types: frozenset[str]
    region: str | None
    """The only kind of region that it may have."""


def _kind(flags: str, cell_types: str, region: str | None) -> CellKind:
    return CellKind(frozenset(flags.split()), frozenset(cell_types.split()), region)


KINDS = {
    "solution": _kind("solution", "code", "SOLUTION"),
    "test": _kind("grade locked", "code", "HIDDEN TESTS"),
    "answer": _kind("grade solution", "code markdown", "SOLUTION"),
    "task": _kind("task locked", "markdown", "MARK SCHEME"),
    "readonly": _kind("locked", "code markdown", None),
}
#: Where a cell's metadata says by which task of which lab it is judged, whether it is a bonus,
#: how the cell below a question begins as long as nobody has answered it, and what only shows.
TASK = "course"
SHOWS = "shows"
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}

# What jupytext takes for the start of a cell, wherever in a line it stands.
MARKER = re.compile(r"\s*#\s*(%%+(\s|$)|<codecell>\s*$|In\[[\d ]*\]:?\s*$)")
DELIMITER = re.compile(r"\s*(?:# )?### (BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)\s*")
# nbgrader finds a delimiter anywhere in a line, and overlooks one that is misspelt.
NEARLY_DELIMITER = re.compile(
    r"#\s*(?:BEGIN|END)\b|(?i:\b(?:BEGIN|END)[\s_]+(?:SOLUTION|HIDDEN[\s_]+TEST|MARK(?:ING)?[\s_]+SCHEME))"
)


@dataclass
class _SourceCell:
    """A cell as it stands in the source; ``line`` is the number of its ``# %%``."""

    line: int
    cell_type: str
    options: dict[str, str]
    body: list[str]

    @property
    def kind(self) -> str | None:
        return next((kind for kind in KINDS if kind in self.options), None)


def solved_notebook(text: str, where: str, lab: str = "") -> NotebookNode:
    """The notebook that the source ``text`` describes, solutions included and without outputs.

    The same text and ``where`` (the file, for messages) give the same notebook, to the byte.
    ``lab`` is the one whose tasks its checks are.

    Raises:
        SourceError: something is wrong in the text.
    """
    try:
        return _notebook(text.splitlines(), where, lab)
    except _Mistake as mistake:
        raise SourceError(f"{where}:{mistake.line}: {mistake}") from None


class _Mistake(Exception):
    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line = line


def _notebook(lines: list[str], where: str, lab: str) -> NotebookNode:
    starts = [number for number, line in enumerate(lines, 1) if MARKER.match(line)]
    _check_header(lines[: starts[0] - 1] if starts else lines)
    notebook = new_notebook(metadata=METADATA)
    met: dict[str, int] = {}
    seen: Counter[str] = Counter()
    cells = [
        _SourceCell(start, *_options(lines[start - 1], start), lines[start : after - 1])
        for start, after in zip(starts, [*starts[1:], len(lines) + 1], strict=True)
    ]
    for cell in cells:
        _check_regions(cell)
        result = _built(cell)
        if grading := _grading(cell):
            result.metadata["nbgrader"] = grading
            result.id = grading["grade_id"]
            if about := _about(cell, lab):
                result.metadata[TASK] = about
            if (first := met.setdefault(result.id, cell.line)) != cell.line:
                raise _Mistake(
                    cell.line, f"grade_id {result.id!r} is taken by the cell in line {first}"
                )
        else:  # the same for the same text, and not changed by edits of other cells
            seen[result.source] += 1
            key = f"{where}\n{seen[result.source]}\n{result.source}"
            result.id = sha256(key.encode()).hexdigest()[:16]
            if SHOWS in cell.options:
                result.metadata[TASK] = {SHOWS: True}
        notebook.cells.append(result)
    for question, after in pairwise(notebook.cells):
        is_asked = question.metadata.get("nbgrader", {}).get("task")
        if is_asked and "nbgrader" not in after.metadata:  # answered in a new cell between them
            below = after.source.partition("\n")[0]
            question.metadata.setdefault(TASK, {})["below"] = below
    return notebook


def _check_header(lines: list[str]) -> None:
    header = jupytext.reads("\n".join(lines), fmt="py:percent")
    if header.metadata.get("kernelspec", {}).get("name") != "python3":
        raise _Mistake(1, "no jupytext header: `jupytext --set-kernel python3 FILE` writes one")
    if any(cell.source for cell in header.cells):
        raise _Mistake(len(lines), "text before the first cell: begin it with `# %%`")


def _options(marker: str, line: int) -> tuple[str, dict[str, str]]:
    """Cell type and options, as the line that begins a cell tells them."""
    first, *words = marker.split(" ")
    if first != "#" or not words or words.pop(0) != "%%":
        raise _Mistake(line, "this would begin a new cell: write `# %%`, or something else")
    words = [word for word in words if word]
    cell_type = "markdown" if words[:1] == ["[markdown]"] else "code"
    options: dict[str, str] = {}
    for word in words[cell_type == "markdown" :]:
        key, _, value = word.partition("=")
        if key not in {*KINDS, "points", "check"} and word not in ("bonus", SHOWS):
            known = ", ".join(f"{kind}=" for kind in [*KINDS, "points", "check"])
            raise _Mistake(
                line,
                f"a cell has no {word!r}; it may have {known}, bonus, {SHOWS} or [markdown] in "
                "front",
            )
        options[key] = value.strip('"')
    if SHOWS in options and (len(options) > 1 or cell_type == "markdown"):
        raise _Mistake(line, f"a cell that only {SHOWS} something is code, and nothing else")
    if len(options.keys() & KINDS.keys()) > 1:
        raise _Mistake(line, f"a cell is one thing only, not {' and '.join(options)}")
    return cell_type, options


def _regions(cell: _SourceCell) -> Iterator[tuple[int, str]]:
    """Line and kind of each region, after making sure that it is closed."""
    begun: tuple[int, str] | None = None
    for line, text in enumerate(cell.body, cell.line + 1):
        if delimiter := DELIMITER.fullmatch(text):
            edge, region = delimiter.groups()
            if edge == "BEGIN" and begun:
                raise _Mistake(line, f"the {begun[1]} region of line {begun[0]} has not ended yet")
            if edge == "END" and (begun is None or begun[1] != region):
                raise _Mistake(line, f"no {region} region begins before this end")
            begun = (line, region) if edge == "BEGIN" else None
            if begun:
                yield begun
        elif NEARLY_DELIMITER.search(text):
            raise _Mistake(line, "nearly a region: `### BEGIN SOLUTION` must be alone in its line")
    if begun:
        raise _Mistake(begun[0], f"this region is never closed: add `### END {begun[1]}`")


def _check_regions(cell: _SourceCell) -> None:
    allowed = KINDS[cell.kind].region if cell.kind else None
    found = list(_regions(cell))
    for line, region in found:
        if region != allowed:
            homes = " or ".join(f"{name}=" for name, kind in KINDS.items() if kind.region == region)
            raise _Mistake(line, f"a {region} region belongs into a cell with {homes}")
    if allowed == "SOLUTION" and not found:
        raise _Mistake(cell.line, f"a cell with {cell.kind}= needs a region: ### BEGIN SOLUTION")


def _built(cell: _SourceCell) -> NotebookNode:
    if cell.cell_type == "code":
        try:
            ast.parse("\n" * cell.line + "\n".join(cell.body))
        except SyntaxError as error:
            advice = "is there a `# %%` inside a string or a function?"
            raise _Mistake(
                error.lineno or cell.line, f"this cell is not Python ({error.msg}); {advice}"
            ) from None
    marker = "# %% [markdown]" if cell.cell_type == "markdown" else "# %%"
    read = jupytext.reads("\n".join([marker, *cell.body]), fmt="py:percent").cells
    if len(read) != 1:
        raise _Mistake(cell.line, f"jupytext reads this cell as {len(read)} cells")
    new = new_markdown_cell if cell.cell_type == "markdown" else new_code_cell
    return new(read[0].source.strip("\n"))


def _about(cell: _SourceCell, lab: str) -> dict[str, Any]:
    """What the cell's metadata says beside what nbgrader reads."""
    task = _task(cell)
    about: dict[str, Any] = {"lab": lab, "task": task} if task else {}
    return {**about, "bonus": True} if "bonus" in cell.options else about


def _task(cell: _SourceCell) -> str:
    """The task by which a judge decides on a test; empty for any other cell."""
    task = cell.options.get("check", "")
    if "check" in cell.options and cell.kind != "test":
        raise _Mistake(cell.line, "check= belongs to a cell with test=")
    if "check" in cell.options and not re.fullmatch(r"\d+[a-z]?(\.\d+)*", task):
        raise _Mistake(cell.line, f"check={task} must be the number of a task, as in check=2.1")
    return task


def _grading(cell: _SourceCell) -> dict[str, Any] | None:
    """The cell's metadata for nbgrader, in full; None for a cell that it leaves alone."""
    graded = cell.kind is not None and bool(KINDS[cell.kind].flags & {"grade", "task"})
    if not graded and (extra := cell.options.keys() & {"points", "bonus"}):
        belong = "points belong" if "points" in extra else "a bonus belongs"
        raise _Mistake(cell.line, f"{belong} to a cell with test=, answer= or task=")
    if cell.kind is None:
        return None
    flags, cell_types, _ = KINDS[cell.kind]
    name = cell.options[cell.kind]
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,50}", name):
        raise _Mistake(cell.line, f"{cell.kind}={name} must be a name of letters, digits, - and _")
    if cell.cell_type not in cell_types:
        raise _Mistake(cell.line, f"a cell with {cell.kind}= cannot be {cell.cell_type}")
    grading: dict[str, Any] = {
        "schema_version": 3,
        "grade_id": name,
        **{flag: flag in flags for flag in ("grade", "locked", "solution", "task")},
    }
    if graded:
        points = cell.options.get("points", "")
        if not re.fullmatch(r"\d+(\.\d+)?", points):
            raise _Mistake(cell.line, f"a cell with {cell.kind}= needs points, as in points=1")
        grading["points"] = float(points) if "." in points else int(points)
    return grading
