"""Makes a notebook of one lab fit another: its title, other points, and an earlier end."""

from __future__ import annotations

import re

from nbformat.notebooknode import NotebookNode

from autograder.authoring.cells import TASK
from lab_utils.kit.course import Assignment, Notebook
from lab_utils.kit.errors import LabError

_TITLE = re.compile(r"\A# .+?, notebook \w+:")  # whose notebook it is, and which
_WORTH = re.compile(r"^\*\*[\d.]+ points?", re.M)
_TIME = re.compile(r"^(\*\*[\d.]+ points?), about [^*]+\*\*", re.M)


def adapt(notebook: NotebookNode, lab: Assignment, entry: Notebook, where: str) -> None:
    """Make ``notebook`` what the ``entry`` of ``lab`` says: cut, and worth other points.

    Every graded cell is scaled by the same factor. The first cell says whose notebook this is,
    and what differs from its text.

    Raises:
        LabError: there is no cell at which to end, or nothing that could be scaled.
    """
    if entry.until:
        _cut(notebook, entry.until, where)
    points = entry.points
    worth, bonus = points_and_bonus(notebook)
    if not worth:
        raise LabError(f"{where}: it has no points that could be scaled to {points:g}")
    factor = points / worth
    if abs(bonus * factor - entry.bonus) > 1e-3:
        raise LabError(
            f"{where}: worth {points:g} points it has a bonus of {bonus * factor:g}, but "
            f"setup/course.toml says bonus = {entry.bonus:g} for {lab.id}: make them the same"
        )
    for cell in notebook.cells:
        grading = cell.metadata.get("nbgrader", {})
        if "points" in grading:
            grading["points"] = round(grading["points"] * factor, 4)
    number = entry.name.partition("_")[0].lstrip("0")
    owner = f"{lab.label[:1].upper()}{lab.label[1:]}, notebook {number}"
    head = _TITLE.sub(f"# {owner}:", notebook.cells[0].source)
    head = _WORTH.sub(f"**{points:g} points", head, count=1)
    note = (
        f"> In this assignment the notebook is worth **{points:g} points**: "
        f"each point that a task names counts {factor:.4g} times."
    )
    title, _, text = head.partition("\n")
    if entry.until:
        title += " (first part)"
        text = _TIME.sub(r"\1.**", text, count=1)
        note += " It ends after the first part; the later tasks come in another notebook."
    notebook.cells[0].source = f"{title}\n\n{note}\n{text}"


def points_and_bonus(notebook: NotebookNode) -> tuple[float, float]:
    """What the graded cells of a notebook are worth, and what its bonus is worth beyond that."""
    worth = [0.0, 0.0]
    for cell in notebook.cells:
        is_bonus = bool(cell.metadata.get(TASK, {}).get("bonus"))
        worth[is_bonus] += cell.metadata.get("nbgrader", {}).get("points", 0)
    return worth[0], worth[1]


def _cut(notebook: NotebookNode, until: str, where: str) -> None:
    """Leave out the cell ``until`` and all after it."""
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in notebook.cells]
    if until not in ids:
        raise LabError(f"{where}: there is no cell {until!r} before which to end")
    del notebook.cells[ids.index(until) :]
