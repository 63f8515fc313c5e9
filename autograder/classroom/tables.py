"""The tables: grades.csv, Canvas' grade import, and Gradescope's results."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

from autograder.classroom.changes import PointsChange
from autograder.classroom.feedback import cut, points
from autograder.classroom.report import columns
from autograder.classroom.sheet import Score, Sheet
from autograder.collect import Roster
from autograder.collect.roster import CanvasIds
from autograder.collect.uploads import CANVAS
from lab_utils.kit.course import Assignment

SPOKEN = "=+-@\t\r"
"""A spreadsheet program takes a text that begins so for a formula."""
CANVAS_COLUMNS = ["ID", "SIS Login ID", "Section"]


def grades_csv(sheets: Sequence[Sheet]) -> str:
    """One row a student: points by task, total, late, remarks."""
    head = ["student", "name", *(column.label for column in columns(sheets))]
    rows = [
        [
            *(_harmless(text) for text in (sheet.student, sheet.name)),
            *(
                points(score.points) if sheet.graded and not score.waiting else ""
                for score in sheet.scores
            ),
            points(sheet.points) if sheet.graded else "",
            points(sheet.max_points),
            "yes" if sheet.late else "no",
            str(sheet.days_late or ""),
            points(sheet.penalty) if sheet.penalty else "",
            _harmless(" ".join(_sentence(remark) for remark in _remarks(sheet))),
        ]
        for sheet in sheets
    ]
    return _as_csv([[*head, "total", "out_of", "late", "days_late", "penalty", "remarks"], *rows])


def changes_csv(changes: Iterable[PointsChange]) -> str:
    """One row for each number that has changed: old, new, and why."""
    rows = [
        [
            *(_harmless(text) for text in (change.student, change.name)),
            change.label,
            *("" if math.isnan(value) else points(value) for value in (change.old, change.new)),
            change.why,
        ]
        for change in changes
    ]
    return _as_csv([["student", "name", "what", "old", "new", "why"], *rows])


def canvas_csv(sheets: Sequence[Sheet], lab: Assignment, roster: Roster | None) -> str:
    """What Canvas imports: those who were graded, with nothing left to be graded by hand."""
    names = {student.id: f"{student.last}, {student.first}" for student in roster or ()}
    ids = {student.id: student.canvas for student in roster or () if student.canvas}
    most = max((sheet.max_points for sheet in sheets), default=lab.points)
    rows = [
        [
            _harmless(names.get(sheet.student, sheet.name)),
            *_canvas_ids(sheet, ids.get(sheet.student), bool(ids)),
            points(sheet.points),
        ]
        for sheet in sheets
        if sheet.graded and not sheet.waiting
    ]
    which = ["ID", "SIS User ID", "SIS Login ID", "Section"] if ids else CANVAS_COLUMNS
    head = ["Student", *which, lab.canvas or lab.label]
    return _as_csv([head, ["    Points Possible", *[""] * len(which), points(most)], *rows])


def _canvas_ids(sheet: Sheet, known: CanvasIds | None, is_export: bool) -> list[str]:
    """Who it is in Canvas: as its own export says, else as the name of the upload does."""
    if known:
        return [known.number, known.sis_user, known.login, known.section]
    canvas = CANVAS.fullmatch(sheet.handed_in)
    number = (canvas["user"] or "") if canvas else ""
    return [number, *[""] * is_export, sheet.student, ""]


def gradescope_results(sheet: Sheet) -> str:
    """``results.json`` of one student, in the form that Gradescope's autograder reads."""
    results: dict[str, Any] = {
        "score": sheet.points,
        "output": "\n".join(filter(None, (sheet.lateness, *sheet.student_remarks))),
        "output_format": "text",
        "visibility": "visible",
        "tests": [_test(sheet, score) for score in sheet.scores],
    }
    return json.dumps(results, indent=1, ensure_ascii=False) + "\n"


def _test(sheet: Sheet, score: Score) -> dict[str, Any]:
    task = sheet.task(score)
    said = [
        f"{case.name}\n{cut(finding)}"
        for case in (task.cases if task else ())
        for finding in case.findings
    ]
    return {
        "name": (task.title if task else score.title or score.grade_id)
        + " (bonus)" * score.is_bonus,
        "number": task.id if task else score.grade_id,
        "score": score.points,
        "max_score": score.max_points,
        "status": "passed" if score.points >= score.max_points else "failed",
        "output": "\n".join(dict.fromkeys(said)),
        "output_format": "text",
    }


def _remarks(sheet: Sheet) -> Iterable[str]:
    yield from sheet.all_remarks
    if waiting := [score.grade_id for score in sheet.scores if score.waiting]:
        yield f"Still to be graded by hand: {', '.join(waiting)}."


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(tuple(SPOKEN)) else text


def _as_csv(rows: Iterable[Sequence[str]]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()
