"""Makes a notebook of one lab fit another: other points, and an earlier end."""

from __future__ import annotations

import re

from nbformat.notebooknode import NotebookNode

from lab_utils.graph import LabError

_END = re.compile(r"^### END HIDDEN TESTS$", re.M)


def adapt(notebook: NotebookNode, points: float, until: str, where: str) -> None:
    """Cut ``notebook`` before the cell ``until``, and make it worth ``points``.

    Every graded cell is scaled by the same factor, and so is what its check returns.

    Raises:
        LabError: there is no such cell, or a check whose points cannot be scaled.
    """
    if until:
        ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
        if until not in ids:
            raise LabError(f"{where}: there is no cell {until!r} before which to end")
        del notebook.cells[ids.index(until) :]
    graded = [cell for cell in notebook.cells if "points" in cell.metadata.get("nbgrader", {})]
    worth = sum(cell.metadata["nbgrader"]["points"] for cell in graded)
    if not worth:
        raise LabError(f"{where}: it has no points that could be scaled to {points:g}")
    factor = points / worth
    for cell in graded:
        grading = cell.metadata["nbgrader"]
        grading["points"] = round(grading["points"] * factor, 4)
        if grading["grade"] and grading["locked"]:
            cell.source = _scaled(cell.source, factor, f"{where}: {grading['grade_id']}")
    first = notebook.cells[0]
    first.source += (
        f"\n\n> In this assignment the notebook is worth **{points:g} points**: "
        f"each point that it speaks of counts {factor:.4g} times."
    )


def _scaled(source: str, factor: float, where: str) -> str:
    """The test with its check replaced by one that gives ``factor`` times the points."""
    lines = f"from autograder.scaled import scaled\n\ncheck = scaled(check, {factor!r})\n"
    found, times = _END.subn(lambda end: lines + end[0], source, count=1)
    if not times:
        raise LabError(f"{where}: a test without HIDDEN TESTS cannot be scaled")
    return found
