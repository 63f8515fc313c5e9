"""The step of nbgrader's ``generate_feedback`` that keeps hidden tests hidden."""

from __future__ import annotations

from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.preprocessors import ClearHiddenTests
from nbgrader.utils import is_grade


class HideTests(ClearHiddenTests):
    """Takes hidden tests out of what students are shown, and out of tracebacks.

    nbgrader clears the source alone: the traceback of a hidden test shows its lines.
    """

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Clear one cell."""
        hidden = self.begin_test_delimeter in cell.source
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if hidden and is_grade(cell):
            for output in cell.get("outputs", []):
                if output.output_type == "error":
                    output.ename, output.evalue = "Failed", "a test does not pass"
                    output.traceback = [
                        "A test does not pass: try other inputs than the public ones."
                    ]
        return cell, resources
