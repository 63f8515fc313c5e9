"""Everything that led to a student's points, as text: what ``grade --only NAME --explain`` says."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Iterator
from pathlib import Path

from nbformat.notebooknode import NotebookNode

from autograder.classroom.feedback import cut, heading, points
from autograder.classroom.home import Home
from autograder.classroom.sheet import Score, Sheet
from autograder.classroom.written import read_books, released_texts
from autograder.grading.plan import keyed_cells
from autograder.grading.verdict import TaskVerdict, verdict_file

LONGEST = 40
"""Lines of a student's cell that are shown."""


def explain(sheet: Sheet, home: Home, lab: str) -> str:
    """The text; for instructors alone: it holds all remarks."""
    return "\n".join(_lines(sheet, home, lab)) + "\n"


def _lines(sheet: Sheet, home: Home, lab: str) -> Iterator[str]:
    worth = f"{points(sheet.points)} of {points(sheet.max_points)} points"
    yield f"{sheet.name} ({sheet.student}): {worth}"
    if sheet.penalty:
        yield f"  points     : {points(sheet.earned)}, less {points(sheet.penalty)} for lateness"
    yield f"  handed in  : {sheet.handed_in or 'nothing'}{', late' if sheet.late else ''}"
    if sheet.release:
        yield f"  made from  : {sheet.release}"
    if sheet.lateness:
        yield f"  lateness   : {sheet.lateness}"
    if sheet.folder:
        yield f"  collected  : {sheet.folder}"
    if sheet.verdict:
        yield f"  verdict    : {verdict_file(home.path, lab, sheet.student)}"
        yield f"  ran        : {sheet.verdict.seconds:g} s, isolation {sheet.verdict.isolation}"
    for remark in sheet.all_remarks:
        yield _indented("  remark     : ", remark)
    books, released = read_books(sheet.folder), released_texts(home.root, lab)
    said = _errors(verdict_file(home.path, lab, sheet.student).with_suffix(".cells"))
    for score in sheet.scores:
        yield ""
        yield from _cell(heading(sheet, score), sheet.task(score), score)
        if score.notebook in books:
            errors = said.get(score.notebook, {})
            yield from _written(books[score.notebook], score, errors, released)


def _cell(called: str, task: TaskVerdict | None, score: Score) -> Iterator[str]:
    got = "waits for a person" if score.waiting else points(score.points)
    yield f"{called}: {got} of {points(score.max_points)}  [{score.notebook}, {score.grade_id}]"
    if not math.isnan(score.judged):
        yield f"  judged     : {points(score.judged)}"
    if score.override:
        yield _indented(
            f"  set        : {points(score.override.points)} on {score.override.when}: ",
            score.override.reason,
        )
    elif score.by_hand:
        yield f"  by hand    : {points(score.points)}"
    if score.comment:
        yield _indented("  comment    : ", score.comment)
    for case in task.cases if task else ():
        kind = "hidden" if case.hidden else "public"
        yield f"  {kind:11}: {'right' if case.passed else 'WRONG'}  {case.name}"
        for finding in map(cut, case.findings):
            for what, text in (
                ("yours", finding.yours),
                ("wanted", finding.wanted),
                ("look", finding.look),
            ):
                yield _indented(f"      {what:7}: ", text)
    if task and task.cases:
        yield f"  share      : {_share(task)}"
    if task and task.note:
        yield _indented("  note       : ", task.note)


def _share(task: TaskVerdict) -> str:
    counted = []
    for hidden, what in ((False, "public"), (True, "hidden")):
        cases = [case for case in task.cases if case.hidden == hidden]
        if cases:
            counted.append(f"{sum(case.passed for case in cases)} of {len(cases)} {what}")
    rule = "; a public case counts as far as the hidden ones pass" if len(counted) == 2 else ""
    return f"{', '.join(counted)} cases right{rule}: {points(task.points)} points"


def _written(
    book: NotebookNode, score: Score, said: dict[str, str], released: frozenset[str]
) -> Iterator[str]:
    """What the student wrote between the graded cell and the one before; for a question, below."""
    above: list[tuple[str, NotebookNode]] = []
    keys = {id(cell): key for key, cell in keyed_cells(book)}
    is_below = False
    for cell in book.cells:
        marks = cell.metadata.get("nbgrader", {})
        if is_below and marks.get("grade_id"):
            break
        key = keys.get(id(cell), "text")
        if marks.get("grade_id") == score.grade_id:
            if marks.get("solution"):
                above = [(key, cell)]
                break
            if not marks.get("task"):
                break
            above, is_below = [], True
        elif is_below or marks.get("solution") or (not marks and cell.cell_type == "code"):
            above.append((key, cell))
        elif marks.get("grade"):
            above = []
    for key, cell in above:
        if cell.source.strip() in released and key not in said:
            continue
        yield f"  {key}:" if key.startswith("cell ") else f"  cell {key}:"
        lines = cell.source.splitlines()
        yield from (f"    | {line}" for line in lines[:LONGEST])
        if len(lines) > LONGEST:
            yield f"    | … {len(lines) - LONGEST} more lines"
        if key in said:
            yield _indented("    it failed: ", said[key])


def _errors(path: Path) -> dict[str, dict[str, str]]:
    """By notebook and cell, the error in which a cell ended."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError):
        return {}
    return {
        notebook: {
            key: f"{output['ename']}: {output['evalue']}"
            for key, about in shown.items()
            for output in about["outputs"]
            if output["output_type"] == "error"
        }
        for notebook, shown in cells.items()
    }


def _indented(label: str, text: str) -> str:
    return textwrap.indent(text, " " * len(label)).replace(" " * len(label), label, 1)
