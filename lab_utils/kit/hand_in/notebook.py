"""A student's notebook as it is saved: its graded cells, and those that are still empty."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab_utils.kit.errors import LabError

# What an unfilled cell holds, in code and in text.
STUBS = ("raise NotImplementedError", "*Your answer here, in place of this line.*")
# How cells of ours begin that stand below the last question; all others there are answers.
_OURS = ("## What you built", "## Hand in", "from lab_utils.kit.hand_in import pack_widget")


class NotebookError(LabError):
    """The file is no notebook."""


@dataclass(frozen=True)
class Cell:
    """One cell, in the order of the notebook."""

    source: str
    is_code: bool
    marks: Mapping[str, Any]
    """What nbgrader knows about it; empty for a cell that it leaves alone."""
    outputs: tuple[str, ...] = ()
    """The sorts of its outputs, as they were saved with it; none if it has not been run."""
    is_bonus: bool = False
    """Whether its points count beyond what the notebook is worth."""
    below: str = ""
    """Of a question: how the cell below it begins as long as nobody has answered it."""

    @property
    def name(self) -> str:
        """Its ``grade_id``; empty if it has none."""
        return str(self.marks.get("grade_id", ""))

    @property
    def title(self) -> str:
        """What the notebook calls it: ``Task 2.1`` for t21 and t21_check, ``Question 6.6``."""
        found = re.fullmatch(r"([tq])(\d)(\d*)(_\w+)?", self.name)
        if not found:
            return f"cell {self.name}"
        numbers = ".".join(filter(None, found.group(2, 3)))
        return f"{'Task' if found[1] == 't' else 'Question'} {numbers}"

    @property
    def points(self) -> float:
        """What it is worth; 0 unless it is graded."""
        graded = self.marks.get("grade") or self.marks.get("task")
        points = self.marks.get("points") if graded else 0
        return float(points) if isinstance(points, (int, float)) else 0.0

    @property
    def is_check(self) -> bool:
        """Whether it is graded by running it."""
        return bool(self.is_code and self.marks.get("grade") and not self.marks.get("solution"))

    @property
    def is_wrong(self) -> bool:
        """Whether it raised something when it was last run and saved."""
        return "error" in self.outputs

    @property
    def is_empty(self) -> bool:
        """Whether the student was to write here and has not."""
        text = self.source.strip()
        return bool(self.marks.get("solution")) and (
            not text or any(stub in text for stub in STUBS)
        )


def unanswered(cells: Sequence[Cell]) -> list[Cell]:
    """The questions that are to be answered in a new cell below them, and are not."""
    open_ones: list[Cell] = []
    question: Cell | None = None
    for cell in (*cells, Cell("", False, {"grade_id": "the end"})):
        text = cell.source.strip()
        goes_on = bool(question and question.below and text.startswith(question.below))
        if text.startswith(_OURS):
            continue  # many answer at the very end
        if cell.marks or goes_on:
            open_ones += [question] if question else []
            question = cell if cell.marks.get("task") else None
        elif text:
            question = None
    return open_ones


def read_cells(path: Path) -> list[Cell]:
    """The cells of a notebook; of several with one ``grade_id`` only the first keeps its marks.

    Raises:
        NotebookError: it cannot be read as a notebook.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or not isinstance(content.get("cells"), list):
            raise ValueError("it has no cells")
        found = [_cell(cell) for cell in content["cells"]]
    except (OSError, ValueError, RecursionError) as error:
        raise NotebookError(f"{path.name} cannot be read as a notebook ({error})") from None
    except (KeyError, TypeError, AttributeError):
        text = f"{path.name} cannot be read as a notebook (a cell has no type or text)"
        raise NotebookError(text) from None
    met: set[str] = set()
    cells = []
    for cell in found:
        again = bool(cell.name) and cell.name in met
        met.add(cell.name)
        cells.append(Cell(cell.source, cell.is_code, {}) if again else cell)
    return cells


def _cell(cell: dict[str, Any]) -> Cell:
    source = cell["source"]
    text = source if isinstance(source, str) else "".join(source)
    marks, about = (cell.get("metadata", {}).get(key, {}) for key in ("nbgrader", "course"))
    return Cell(
        text,
        cell["cell_type"] == "code",
        marks if isinstance(marks, dict) else {},
        _outputs(cell),
        isinstance(about, dict) and about.get("bonus") is True,
        str(about.get("below", "")) if isinstance(about, dict) else "",
    )


def _outputs(cell: dict[str, Any]) -> tuple[str, ...]:
    """Of damaged outputs nothing is said: nothing that is graded hangs on them."""
    outputs = cell.get("outputs")
    if cell.get("execution_count") is None or not isinstance(outputs, list):
        return ()
    return tuple(str(o.get("output_type")) for o in outputs if isinstance(o, dict))
