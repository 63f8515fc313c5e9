"""A class of nine with Lab 0, which needs no torch, and what each of them must get."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder.classroom.grade import Order
from autograder.classroom.home import Home
from autograder.classroom.sample import ADDED, Change, Example, student, write_class
from autograder.collect import read_roster
from autograder.grading.verdict import SubmissionVerdict, load_verdict
from autograder.labs.lab0.sample_class import CLASS, FILES

LAB = "lab0"
#: It takes its time, so that there is a middle in which a worker can die.
SLOW = Change(ADDED, "", "import time\ntime.sleep(5)")
MORE = tuple(Example(student(first, "Slow"), (SLOW,)) for first in ("Mary", "Niklaus", "Olive"))
WANTED = {
    "aturing": 0.75,
    "bliskov": 0.25,
    "dknuth": 0.5,
    "edijkstra": 0.0,
    "ghopper": 0.25,
    "kthompson": None,  # half a zip
    **{example.student.id: 0.75 for example in MORE},
}
EXAMINED = sorted(name for name, points in WANTED.items() if points is not None)


def hand_in(folder: Path) -> Path:
    """The folder of what they handed in, with the class list."""
    write_class(folder, LAB, (*CLASS, *MORE), files=FILES)
    return folder


def arguments(source: Path, home: Path) -> list[str]:
    """Of a command, from the lab on."""
    roster = str(source / "students.csv")
    return [LAB, "--from", str(source), "--into", str(home), "--roster", roster]


def order(source: Path, home: Path) -> Order:
    """The same as arguments, for Python."""
    return Order(LAB, source, Home(home), read_roster(source / "students.csv"))


def totals(home: Path) -> dict[str, float | None]:
    """The points in grades.csv."""
    with (home / "grades" / LAB / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student"]: row["total"] for row in csv.DictReader(file)}
    return {name: float(total) if total else None for name, total in rows.items()}


def verdicts(home: Path) -> dict[str, SubmissionVerdict]:
    """Those that are kept; their ``seconds`` tell one run from another."""
    found = {name: load_verdict(home, LAB, name) for name in WANTED}
    return {name: verdict for name, verdict in found.items() if verdict}


def written(home: Path) -> dict[str, int]:
    """When each verdict was written, in nanoseconds: once, if nothing is graded twice."""
    return {path.stem: path.stat().st_mtime_ns for path in home.glob(f"verdicts/{LAB}/*.json")}


@contextmanager
def no_sandbox_here() -> Iterator[None]:
    """Meanwhile this process must start none."""

    def start(*_: object) -> None:
        raise AssertionError("a sandbox was started")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRADER_HOME", "")
        patch.setattr("autograder.grading.grader.Grader.__enter__", start)
        yield
