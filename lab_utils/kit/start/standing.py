"""How far a student has come: read from the saved notebooks, without running anything.

A task counts as written when its cell is no longer the stub, and its check as passed when the
saved cell was run and raised nothing. What a check prints is for people, and is not read.
"""

from __future__ import annotations

import glob
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from pathlib import Path

from lab_utils.kit.course import Assignment, Course, Notebook
from lab_utils.kit.hand_in.notebook import Cell, NotebookError, read_cells, unanswered


class State(Enum):
    """Where a task stands, in words that follow its name."""

    TO_WRITE = "still to be written"
    WRITTEN = "written; run its check"
    WRONG = "written; its check does not pass yet"
    RIGHT = "its check passes"
    ANSWERED = "written; graded by hand"

    @property
    def is_done(self) -> bool:
        """Whether the student can leave it."""
        return self in (State.RIGHT, State.ANSWERED)


@dataclass(frozen=True)
class TaskStanding:
    """One task of a notebook."""

    title: str
    """As the notebook calls it: ``Task 2.1``."""
    state: State
    points: float
    """What it is worth."""
    has_check: bool
    """Whether a check says what is right; else it is graded by hand."""
    is_bonus: bool = False
    """Whether it counts beyond what the notebook is worth."""

    @property
    def is_done(self) -> bool:
        """Whether the student can leave it, as one may leave any bonus."""
        return self.is_bonus or self.state.is_done

    @property
    def is_written(self) -> bool:
        """Whether the student has written something."""
        return self.state is not State.TO_WRITE


@dataclass(frozen=True)
class NotebookStanding:
    """One notebook of an assignment."""

    notebook: Notebook
    heading: str = ""
    """What its first line asks or promises; empty if it says nothing."""
    tasks: tuple[TaskStanding, ...] = ()
    trouble: str = ""
    """What is wrong with the file, and what to do; empty: nothing."""
    saved: datetime | None = None
    """None: it is not there."""

    @property
    def is_begun(self) -> bool:
        """Whether anything has been written."""
        return any(task.is_written for task in self.tasks)

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do; a notebook in trouble is not done."""
        return not self.trouble and all(task.is_done for task in self.tasks)


@dataclass(frozen=True)
class Packed:
    """A zip to hand in."""

    written: datetime
    name: str


@dataclass(frozen=True)
class Standing:
    """One assignment."""

    lab: Assignment
    notebooks: tuple[NotebookStanding, ...]
    packed: Packed | None = None
    """The zip that was packed last."""

    @property
    def is_released(self) -> bool:
        """Whether any of its notebooks is there."""
        return any(notebook.saved for notebook in self.notebooks)

    @property
    def is_begun(self) -> bool:
        """Whether anything has been written."""
        return any(notebook.is_begun for notebook in self.notebooks)

    @property
    def is_done(self) -> bool:
        """Whether nothing is left to do in it."""
        return all(notebook.is_done for notebook in self.notebooks)

    @property
    def tasks(self) -> tuple[TaskStanding, ...]:
        """All its tasks."""
        return tuple(task for notebook in self.notebooks for task in notebook.tasks)


def standings(course: Course, folder: Path) -> list[Standing]:
    """Where every assignment stands whose notebooks lie in a folder of their own in ``folder``."""
    return [_standing(course, lab, folder / lab.id) for lab in course.labs.values()]


def next_notebook(all_of_them: Sequence[Standing]) -> tuple[Assignment, NotebookStanding] | None:
    """Where to go on: at the furthest place that one has come to, else at what was left out."""
    pairs = [(s.lab, notebook) for s in all_of_them for notebook in s.notebooks if notebook.saved]
    begun = [place for place, (_, notebook) in enumerate(pairs) if notebook.is_begun]
    here = begun[-1] if begun else 0
    return next((pair for pair in pairs[here:] + pairs[:here] if not pair[1].is_done), None)


def _standing(course: Course, lab: Assignment, folder: Path) -> Standing:
    zip_name = course.zip_file_name(lab.id, first="\0", last="\0")
    zips = folder.glob(glob.escape(zip_name).replace("\0", "*"))
    packed = [Packed(written, path.name) for path in zips if (written := _saved(path))]
    newest = max(packed, key=lambda zipped: zipped.written, default=None)
    notebooks = tuple(_notebook(notebook, folder) for notebook in lab.notebooks)
    return Standing(lab, notebooks, newest)


def _saved(path: Path) -> datetime | None:
    try:
        return datetime.fromtimestamp(path.stat().st_mtime)
    except OSError:
        return None


def _notebook(notebook: Notebook, folder: Path) -> NotebookStanding:
    path = folder / f"{notebook.name}.ipynb"
    if (saved := _saved(path)) is None:
        return NotebookStanding(notebook, trouble="is not here: take it from the release")
    try:
        cells = read_cells(path)
    except NotebookError as error:
        trouble = f"{error}: begin with a fresh copy from the release"
        return NotebookStanding(notebook, trouble=trouble, saved=saved)
    left = sum(cell.points for cell in cells)
    trouble = ""
    if abs(left - (worth := notebook.points + notebook.bonus)) > 1e-6:
        trouble = (
            f"graded cells are missing ({left:g} of {worth:g} points are left): copy "
            "your answers into a fresh copy from the release"
        )
    return NotebookStanding(notebook, _heading(cells), _tasks(cells), trouble, saved)


def _heading(cells: Sequence[Cell]) -> str:
    """``where do the bytes go?`` of ``# Lab 9, notebook 1: where do the bytes go?``."""
    lines = cells[0].source.splitlines() if cells else []
    title = next((line for line in lines if line.startswith("# ")), "")
    return title.partition(": ")[2].strip()


def _tasks(cells: Sequence[Cell]) -> tuple[TaskStanding, ...]:
    silent = unanswered(cells)
    by_title: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.points or cell.marks.get("solution"):
            by_title.setdefault(cell.title, []).append(cell)
    return tuple(_task(title, group, silent) for title, group in by_title.items())


def _task(title: str, cells: Sequence[Cell], silent: Sequence[Cell]) -> TaskStanding:
    """The task that has these ``cells``; ``silent`` are questions without an answer."""
    checks = [cell for cell in cells if cell.is_check]
    has_run = bool(checks) and all(cell.outputs for cell in checks)
    if any(cell.is_empty or cell in silent for cell in cells):
        state = State.TO_WRITE
    elif not checks:
        state = State.ANSWERED
    elif any(cell.is_wrong for cell in checks):
        state = State.WRONG
    elif has_run:
        state = State.RIGHT
    else:  # a check alone, without a cell to write in, has not been touched
        state = State.WRITTEN if len(cells) > len(checks) else State.TO_WRITE
    is_bonus = any(cell.is_bonus for cell in cells)
    return TaskStanding(title, state, sum(cell.points for cell in cells), bool(checks), is_bonus)
