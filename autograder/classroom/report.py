"""The page that an instructor reads: how the class did, where it went wrong, what to look at."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from statistics import mean, median
from urllib.parse import quote

from markupsafe import Markup

from autograder.classroom.changes import PointsChange
from autograder.classroom.charts import Bar, bars, histogram
from autograder.classroom.feedback import PAGES, cut, grade, points
from autograder.classroom.sheet import Sheet
from autograder.grading.judge.sentences import HOLE
from lab_utils.kit.course import Assignment, Course
from lab_utils.kit.task import Finding

MISTAKES = 10
NAMES = re.compile(rf"\w*[\d_]\w*|{HOLE}")
"""Names and numbers, and what stands for them where a hidden case is told of."""
SLOWEST = 10
UNWRITTEN = NotImplementedError.__name__
"""The error of a cell that was left as it was released."""


@dataclass(frozen=True)
class Column:
    """A graded cell: a column of the tables."""

    label: str
    title: str


@dataclass
class Mistake:
    """What several students did wrong."""

    heading: str
    example: Finding
    students: dict[str, str] = field(default_factory=dict)
    """Names by id."""
    is_public: bool = False
    """Whether it shows on a public case."""
    also: list[str] = field(default_factory=list)
    """What else is said to the same students about the same mistake."""


def columns(sheets: Sequence[Sheet]) -> list[Column]:
    """What the graded cells are called: by the task's number, else by the cell's name."""
    titles = {key: task for sheet in sheets for key, task in sheet.tasks.items()}
    found = []
    for score in sheets[0].scores if sheets else ():
        task = titles.get((score.notebook, score.grade_id))
        label, title = score.grade_id, score.title or score.notebook
        if task:
            label, title = task.id, task.title
        found.append(Column(label, title + " (bonus)" * score.is_bonus))
    return found


def report_page(
    sheets: Sequence[Sheet],
    course: Course,
    lab: Assignment,
    changes: Sequence[PointsChange] = (),
    rules: str = "",
) -> str:
    """The HTML page about the class; links lead to ``feedback/<student>.html``.

    ``changes`` are those since the run before; ``rules`` stands for tests, cases and judges.
    """
    judged = [sheet for sheet in sheets if sheet.folder is not None and sheet.graded]
    totals = [sheet.points for sheet in judged]
    most = max((sheet.max_points for sheet in sheets), default=0)
    seconds = sum(sheet.verdict.seconds for sheet in sheets if sheet.verdict)
    tiles = [
        ("students", len(sheets)),
        ("were graded", len(judged)),
        ("not graded", sum(not sheet.graded for sheet in sheets)),
        ("mean points", f"{mean(totals):.1f}" if totals else "–"),
        ("median", points(median(totals)) if totals else "–"),
        ("all points", sum(sheet.points >= sheet.max_points for sheet in judged)),
        ("late", sum(sheet.late for sheet in sheets)),
        ("to read by hand", sum(sheet.waiting for sheet in sheets)),
        ("seconds it ran", f"{seconds:,.0f}"),
    ]
    releases = Counter(sheet.release or "not known" for sheet in sheets if sheet.folder)
    levels = Counter(sheet.verdict.isolation for sheet in sheets if sheet.verdict)
    return PAGES.get_template("report.html").render(
        course=course,
        lab=lab,
        tiles=tiles,
        distribution=histogram(totals, most),
        by_task=_by_task(judged, columns(sheets)),
        mistakes=_mistakes(sheets)[:MISTAKES],
        undecided=[sheet for sheet in sheets if not sheet.graded or sheet.is_held_back],
        suspicious=[sheet for sheet in sheets if sheet.suspicions],
        noticed=[sheet for sheet in sheets if sheet.harmless_remarks],
        written=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        versions=versions(),
        rules=rules[:12],
        changes=changes,
        columns=columns(sheets),
        sheets=sheets,
        times=_times(sheets),
        isolation=levels.most_common(),
        releases=releases.most_common(),
        points=points,
        grade=grade,
        link=lambda sheet: f"feedback/{quote(sheet.student)}.html",
    )


def _by_task(sheets: Sequence[Sheet], titles: Sequence[Column]) -> Markup:
    rows = []
    for at, column in enumerate(titles):
        scores = [sheet.scores[at] for sheet in sheets if not sheet.scores[at].waiting]
        counts = Counter(map(grade, scores))
        shares = [s.points / s.max_points if s.max_points else 1 for s in scores]
        parts = tuple((float(counts[level]), level) for level in ("good", "some", "none"))
        told = f"{mean(shares):.0%}" if shares else "–"
        rows.append(Bar(f"{column.label} {column.title}", parts, told))
    return bars(rows, "Students with all, some and no points, and the mean share, for each task")


def _mistakes(sheets: Sequence[Sheet]) -> list[Mistake]:
    """One card for a mistake, however many findings it makes; the most common first.

    Alike are findings whose hint differs in names and numbers at most. A cell that failed is one
    mistake, however many tasks it takes along. Of a task, what is said only to students who have
    a card of that task already is another sign of the same mistake: it is told there.
    """
    found: dict[tuple[str, str], Mistake] = {}
    for sheet in sheets:
        for task in sheet.verdict.tasks if sheet.verdict else ():
            for case in sorted(task.cases, key=lambda case: case.hidden):
                for finding in map(cut, case.findings):
                    key = (task.id, NAMES.sub("", finding.look))
                    heading = f"Task {task.id}: {task.title}"
                    if task.failed_cell not in ("", UNWRITTEN):
                        key = ("", task.failed_cell)
                        heading = f"A cell did not run: {task.failed_cell}"
                    mistake = found.setdefault(key, Mistake(heading, finding))
                    mistake.students.setdefault(sheet.student, sheet.name)
                    mistake.is_public |= not case.hidden
    cards: list[Mistake] = []
    order = sorted(found.values(), key=lambda one: (not one.is_public, -len(one.students)))
    for mistake in order:
        of_task = [card for card in cards if card.heading == mistake.heading]
        told = {student for card in of_task for student in card.students}
        if mistake.students.keys() - told:
            cards.append(mistake)
        else:
            most = max(of_task, key=lambda card: len(card.students.keys() & mistake.students))
            most.also.append(mistake.example.look)
    return sorted(cards, key=lambda mistake: -len(mistake.students))


def versions() -> str:
    """What the grades were made with."""
    found = [f"Python {platform.python_version()}"]
    for package in ("nbgrader", "numpy", "torch"):
        with suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return ", ".join(found)


def _times(sheets: Sequence[Sheet]) -> Markup:
    timed = [(sheet.verdict.seconds, sheet.name) for sheet in sheets if sheet.verdict]
    slowest = sorted(timed, reverse=True)[:SLOWEST]
    rows = [Bar(name, ((seconds, "bar"),), f"{seconds:.1f} s") for seconds, name in slowest]
    return bars(rows, "Seconds for each submission")
