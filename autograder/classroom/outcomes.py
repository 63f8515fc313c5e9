"""Writes all that an instructor takes away from grading: tables, pages, exports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.classroom.changes import changes_since, keep
from autograder.classroom.feedback import feedback_page
from autograder.classroom.report import report_page
from autograder.classroom.sheet import Sheet
from autograder.classroom.tables import canvas_csv, changes_csv, grades_csv, gradescope_results
from autograder.collect import Roster
from autograder.grading.verdict import write_private
from lab_utils.kit.course import Assignment, Course

LAST = "last_run.json"
"""The points of the last run, for the next one to compare with."""


def write_outcomes(
    folder: Path,
    sheets: Sequence[Sheet],
    course: Course,
    lab: Assignment,
    roster: Roster | None,
    rules: str = "",
) -> dict[str, Path]:
    """Write everything below ``folder``; returns where, by what it is.

    ``rules`` stands for what the class was graded by.
    """
    changes = changes_since(folder / LAST, sheets)
    written = {
        "grades": folder / "grades.csv",
        "class report": folder / "report.html",
        "for Canvas": folder / "canvas.csv",
    }
    write_private(written["grades"], grades_csv(sheets))
    write_private(written["class report"], report_page(sheets, course, lab, changes, rules))
    write_private(written["for Canvas"], canvas_csv(sheets, lab, roster))
    for sheet in sheets:
        page = feedback_page(sheet, course, lab)
        write_private(folder / "feedback" / f"{sheet.student}.html", page)
        if sheet.graded:
            results = folder / "gradescope" / sheet.student / "results.json"
            write_private(results, gradescope_results(sheet))
    if changes:
        written["changed points"] = folder / "changes.csv"
        write_private(written["changed points"], changes_csv(changes))
    keep(folder / LAST, sheets)
    for path in _left_over(folder, sheets):
        path.unlink()
    return written | {
        "feedback": folder / "feedback",
        "for Gradescope": folder / "gradescope",
    }


def _left_over(folder: Path, sheets: Sequence[Sheet]) -> Iterator[Path]:
    """Pages of those who are no more, as when a class list gave them other names.

    Results that hold no longer are no results, as when a newer upload could not be graded.
    """
    students = {sheet.student for sheet in sheets}
    graded = {sheet.student for sheet in sheets if sheet.graded}
    yield from (p for p in folder.glob("feedback/*.html") if p.stem not in students)
    yield from (p for p in folder.glob("gradescope/*/*.json") if p.parent.name not in graded)
