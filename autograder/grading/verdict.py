"""What grading found out about one submission, and the file in which it is kept.

::

    SubmissionVerdict
      student, lab, isolation, seconds, digest
      remarks   Remark(kind, text, notebook, place), …
      tasks     TaskVerdict
                  id, title, notebook, grade_id, points, max_points
                  cases    CaseVerdict
                             name, hidden, passed
                             findings   Finding(yours, wanted, look), …
                  chart    Chart(title, lines, limit, unit), or None

All of it may be shown to the student: what is said of a hidden case names none of its
nodes. The file is ``verdicts/<lab>/<student>.json`` in the folder of the outcomes, which is
``autograder/`` unless told otherwise. It holds the same structure as JSON; ``seconds`` alone
differs when the same submission is graded twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from autograder.remark import Remark
from lab_utils.kit.files import write_whole
from lab_utils.kit.task import Finding


@dataclass(frozen=True)
class CaseVerdict:
    """One case on which a task was tried. A hidden one has a name that gives nothing away."""

    name: str
    hidden: bool
    findings: tuple[Finding, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings


@dataclass(frozen=True)
class Chart:
    """Lines over steps, to be drawn over one another: yours, what is wanted, what was before."""

    title: str
    lines: dict[str, tuple[float, ...]]
    """By ``before``, ``yours`` and ``reference``; a lab may leave some out."""
    limit: float = 0.0
    """The most that is allowed; 0: there is no such thing."""
    unit: str = "bytes"


@dataclass(frozen=True)
class TaskVerdict:
    """A task: ``grade_id`` is its test cell in ``notebook``, where nbgrader keeps the points."""

    id: str
    title: str
    notebook: str
    grade_id: str
    points: float
    max_points: float
    noun: str = "case"
    """What the lab calls a case."""
    cases: tuple[CaseVerdict, ...] = ()
    chart: Chart | None = None
    note: str = ""
    """What else there is to say: what was lent, what other tasks paid for, what differs."""
    failed_cell: str = ""
    """The error in which the cell ended that should have made what is asked for; or empty."""


@dataclass(frozen=True)
class SubmissionVerdict:
    """A submission. ``digest`` stands for all that was graded: the same, and so is the verdict."""

    student: str
    lab: str
    isolation: str
    seconds: float
    digest: str
    tasks: tuple[TaskVerdict, ...]
    remarks: tuple[Remark, ...] = ()

    @property
    def points(self) -> float:
        """Points of all tasks together."""
        return round(sum(task.points for task in self.tasks), 2)

    @property
    def max_points(self) -> float:
        """The most that can be had."""
        return round(sum(task.max_points for task in self.tasks), 2)


def verdict_file(home: Path, lab: str, student: str) -> Path:
    """Where a verdict is kept; ``home`` is the folder of the outcomes."""
    return home / "verdicts" / lab / f"{student}.json"


def save_verdict(verdict: SubmissionVerdict, home: Path) -> Path:
    """Write a verdict to its file: as a whole or not at all."""
    path = verdict_file(home, verdict.lab, verdict.student)
    write_private(path, json.dumps(as_json(verdict), indent=1, ensure_ascii=False) + "\n")
    return path


def load_verdict(home: Path, lab: str, student: str) -> SubmissionVerdict | None:
    """The verdict on a submission; None if there is none, or none of this form."""
    try:
        text = verdict_file(home, lab, student).read_text(encoding="utf-8")
        return from_json(json.loads(text))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_private(path: Path, text: str) -> None:
    """Write a file whole or not at all, and the folders that it lies in, for our eyes only."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text, mode=0o600)


def as_json(verdict: SubmissionVerdict) -> dict[str, Any]:
    """Plain data for JSON; the sums and what passed are in it for those who read no Python."""
    data = asdict(verdict)
    data |= {"points": verdict.points, "max_points": verdict.max_points}
    for task, entry in zip(verdict.tasks, data["tasks"], strict=True):
        for case, row in zip(task.cases, entry["cases"], strict=True):
            row["passed"] = case.passed
    return data


def from_json(data: Mapping[str, Any]) -> SubmissionVerdict:
    """The verdict from what ``as_json`` made of it.

    Raises:
        KeyError, TypeError: it has another form.
    """
    scalars = ("student", "lab", "isolation", "seconds", "digest")
    return SubmissionVerdict(
        **{name: data[name] for name in scalars},
        tasks=tuple(map(_task, data["tasks"])),
        remarks=tuple(Remark(**remark) for remark in data["remarks"]),
    )


def _task(data: Mapping[str, Any]) -> TaskVerdict:
    cases, chart = tuple(map(_case, data["cases"])), data["chart"]
    if chart is not None:
        lines = {name: tuple(line) for name, line in chart["lines"].items()}
        chart = Chart(**{**chart, "lines": lines})
    return TaskVerdict(**{**data, "cases": cases, "chart": chart})


def _case(data: Mapping[str, Any]) -> CaseVerdict:
    findings = tuple(Finding(**finding) for finding in data["findings"])
    return CaseVerdict(data["name"], data["hidden"], findings)
