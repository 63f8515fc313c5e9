"""The step of nbgrader's ``autograde`` that takes points off what is late: those that we found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor

from autograder.classroom.lateness import FILE, penalty_of, read_lateness


class AssignPenalties(NbGraderPreprocessor):
    """Stands in for nbgrader's ``AssignLatePenalties``, which knows no late days and no cap."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Store the penalty of one notebook."""
        about = resources["nbgrader"]
        course = CourseDirectory(config=self.config)
        home = Path(course.root, course.submitted_directory).resolve().parent
        known = read_lateness(home / "grades" / about["assignment"] / FILE).get(about["student"])
        place = about["notebook"], about["assignment"], about["student"]
        with Gradebook(about["db_url"]) as book:
            notebook = book.find_submission_notebook(*place)
            notebook.late_submission_penalty = penalty_of(known, notebook.name, notebook.score)
            book.db.commit()
        return nb, resources
