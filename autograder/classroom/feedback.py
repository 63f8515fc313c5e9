"""The page that a student gets back: points, what went wrong in words, charts.

It shows verdicts alone, in which hidden cases have no names of their own. Whatever a student
wrote is shown as text: the templates escape everything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.classroom.charts import lines_chart
from autograder.classroom.sheet import Score, Sheet
from autograder.grading.verdict import CaseVerdict, TaskVerdict
from lab_utils.kit.course import Assignment, Course
from lab_utils.kit.judge import by_sort
from lab_utils.kit.task import Finding, counted

SHOWN = 3
"""Findings of one case that are shown."""
LONGEST = 600
"""Characters of an answer, or of what is said about it, that are shown."""
PAGES = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("pages")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


@dataclass(frozen=True)
class Group:
    """Cases with findings of the same sorts: the first is told, ``more`` findings are counted."""

    names: str
    findings: tuple[Finding, ...]
    more: int


@dataclass(frozen=True)
class Part:
    """A graded cell, as the page tells it."""

    heading: str
    grade: str
    says: str
    words: str
    comment: str
    groups: tuple[Group, ...]
    note: str
    picture: Markup | None
    caption: str


def points(value: float) -> str:
    """Points without needless digits: 2, 0.75; a dash for what was not graded."""
    return "–" if math.isnan(value) else f"{round(value, 2):g}"


def grade(score: Score) -> str:
    """How good that is: a CSS class."""
    if score.waiting or math.isnan(score.points):
        return "wait"
    if score.points >= score.max_points:
        return "good"
    return "some" if score.points > 0 else "none"


def cut(finding: Finding) -> Finding:
    """The finding as pages show it: an answer may be as long as a student likes."""

    def shorter(text: str) -> str:
        if len(text) <= LONGEST:
            return text
        return f"{text[:LONGEST]} … ({len(text):,} characters)"

    yours, wanted, look = map(shorter, (finding.yours, finding.wanted, finding.look))
    return Finding(yours, wanted, look)


def feedback_page(sheet: Sheet, course: Course, lab: Assignment) -> str:
    """The HTML page of a student; it needs no other file."""
    by_notebook = groupby(sheet.scores, key=lambda score: score.notebook)
    notebooks = [
        (_title(name), [_part(sheet, score) for score in scores]) for name, scores in by_notebook
    ]
    known = sheet.graded and sheet.max_points
    share = min(100, round(100 * sheet.points / sheet.max_points)) if known else 0
    return PAGES.get_template("feedback.html").render(
        sheet=sheet,
        course=course,
        lab=lab,
        notebooks=notebooks,
        share=share,
        points=points,
        noun=next((task.noun for task in sheet.tasks.values()), "case"),
    )


def _title(notebook: str) -> str:
    number, _, name = notebook.partition("_")
    return f"Notebook {number}: {name.replace('_', ' ')}"


def _part(sheet: Sheet, score: Score) -> Part:
    task = sheet.task(score)
    chart = task.chart if task else None
    return Part(
        heading=heading(sheet, score),
        grade=grade(score),
        says=_says(score),
        words=_words(task) if task else "",
        comment=_comment(score),
        groups=tuple(_groups(task)) if task else (),
        note=task.note if task else "",
        picture=lines_chart(chart) if chart else None,
        caption=chart.title if chart else "",
    )


def heading(sheet: Sheet, score: Score) -> str:
    """What a graded cell is called: a task of the judge, a question, or by its own name."""
    task = sheet.task(score)
    return f"Task {task.id}: {task.title}" if task else score.title or score.grade_id


def _says(score: Score) -> str:
    if score.waiting:
        return "still to be graded"
    if math.isnan(score.points):
        return "not graded"
    bonus = "bonus: " if score.is_bonus else ""
    return f"{bonus}{points(score.points)} of {points(score.max_points)}"


def _comment(score: Score) -> str:
    """What a person wrote; why points were set is told only if that person said so."""
    if score.override is None:
        return score.comment
    told = f": {score.override.reason}" if score.override.is_told else "."
    return "\n".join(filter(None, [f"Points were set by hand{told}", score.comment]))


def _words(task: TaskVerdict) -> str:
    told = []
    for hidden, what in ((False, "public"), (True, "hidden")):
        cases = [case for case in task.cases if case.hidden == hidden]
        if cases:
            right = sum(case.passed for case in cases)
            told.append(f"{right} of {counted(len(cases), f'{what} {task.noun}')}")
    return f"Right on {' and on '.join(told)}." if told else ""


def _groups(task: TaskVerdict) -> Iterator[Group]:
    alike: dict[tuple[str, ...], list[CaseVerdict]] = {}
    for case in task.cases:
        if case.findings:
            alike.setdefault(tuple(by_sort(case.findings)), []).append(case)
    for case, *rest in alike.values():
        also = f", and on {counted(len(rest), f'more {task.noun}')}" if rest else ""
        sorts = by_sort(case.findings).values()
        shown = tuple(cut(first) for first, *_ in sorts)[:SHOWN]
        yield Group(f"{case.name}{also}", shown, len(case.findings) - len(shown))
