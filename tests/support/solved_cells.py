"""The cells that students write, as our solutions have them."""

from __future__ import annotations

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
