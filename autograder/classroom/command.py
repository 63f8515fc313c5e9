"""``python -m autograder grade``: from what a class handed in to grades, feedback and a report."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from autograder.classroom.progress import progress
from lab_utils.kit.course import read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT

SAMPLE_HOME = ROOT / "build" / "sample_class"
LEVELS = ("none", "limits", "namespaces", "full")


def add_grade(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    grade = commands.add_parser(
        "grade", help="grade a class", description="Grade a class; run it again to go on."
    )
    grade.add_argument("lab", nargs="?", help="its id in setup/course.toml; with --sample optional")
    what = grade.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--from", dest="source", type=Path, help="a folder of zips, or an LMS' bulk download"
    )
    what.add_argument("--sample", action="store_true", help="grade the lab's sample class")
    grade.add_argument("--roster", type=Path, help="the class list, students.csv")
    grade.add_argument("--jobs", type=_at_least_one, default=_cores(), help="submissions at a time")
    grade.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="STUDENT",
        help="an id or name, or a part that is only theirs; repeatable",
    )
    grade.add_argument(
        "--explain", action="store_true", help="with --only: tell all that led to the points"
    )
    grade.add_argument("--again", action="store_true", help="also what was graded before")
    grade.add_argument(
        "--require-isolation", choices=LEVELS, default="none", help="refuse to run with less"
    )
    grade.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="FILE",
        help="an upload that was held back, and counts; repeatable",
    )
    grade.add_argument(
        "--times", type=Path, metavar="CSV", help="when each student uploaded: student,submitted_at"
    )
    grade.add_argument(
        "--into", type=Path, help="the folder for gradebook, grades and pages; default autograder/"
    )
    grade.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Grade, show how far it is, and say where the outcomes are; 1 if anybody was not graded."""
    from autograder.classroom import examiner
    from autograder.classroom.grade import Order, grade_class
    from autograder.classroom.home import Home
    from autograder.classroom.lock import only_run
    from autograder.collect import read_roster
    from autograder.grading.sandbox import Isolation

    lab = options.lab or (read_course().sample if options.sample else None)
    if lab is None:
        known = ", ".join(read_course().labs)
        raise LabError(
            f"say which lab is graded: python -m autograder grade LAB; there is: {known}"
        )
    if options.explain and not options.only:
        raise LabError("--explain tells of single students: name them with --only")
    source, roster, into = options.source, options.roster, options.into
    home = Home((into or (SAMPLE_HOME if options.sample else ROOT / "autograder")).resolve())
    if options.sample:
        with only_run(Home(SAMPLE_HOME).locks):  # it is written anew
            source = _sample(lab)
        roster = roster or source / "students.csv"
    order = Order(
        lab,
        source.resolve(),
        home,
        read_roster(roster) if roster else None,
        options.jobs,
        tuple(options.only),
        options.again,
        Isolation(options.require_isolation),
        tuple(options.accept),
        options.times,
    )
    console = Console()

    @contextmanager
    def sandbox(order: Order) -> Iterator[examiner.Sandbox]:
        with examiner.sandbox(order) as examines:
            console.print(*_isolation(examines.reached), sep="\n", soft_wrap=True, markup=False)
            yield examines

    try:
        with progress(console) as tell:
            outcome = grade_class(order, sandbox, tell)
    except KeyboardInterrupt:
        print("stopped; what was graded stays graded, the same command goes on", file=sys.stderr)
        return 130
    _show(console, outcome)
    if options.explain:
        _explain(outcome, options.only, home, lab)
    return 1 if outcome.failed else 0


def _isolation(reached: Any) -> list[str]:
    """The level of isolation, and what keeps it from being more."""
    return [f"isolation: {reached.level}", *(f"  {why}" for why in reached.obstacles)]


def _show(console: Console, outcome: Any) -> None:
    sheets = outcome.sheets
    before = len(sheets) - outcome.graded - outcome.failed
    levels = sorted({sheet.verdict.isolation for sheet in sheets if sheet.verdict})
    noticed = sum(bool(sheet.all_remarks) for sheet in sheets)
    console.print(
        f"{len(sheets)} students, {outcome.graded} graded now, {before} before or with nothing to "
        f"grade; {noticed} with remarks; isolation: {', '.join(levels) or 'nothing ran'}",
        soft_wrap=True,
    )
    if outcome.failed:
        console.print(f"{outcome.failed} could not be graded; grades.csv says why", soft_wrap=True)
    unread = sum(not sheet.graded and not sheet.folder for sheet in sheets)
    held = sum(sheet.is_held_back for sheet in sheets)
    for count, what in (
        (unread, "not graded, as nothing can be or nobody knows whose it is; not in any export"),
        (held, "with an upload that is held back; the report says which, and what to do"),
    ):
        if count:
            console.print(f"{count} {what}", soft_wrap=True)
    width = max(map(len, outcome.written), default=0)
    for what, path in outcome.written.items():  # whole, however narrow the window: to be copied
        line = f"{what:{width}}  {_short(path)}"
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def _explain(outcome: Any, only: Sequence[str], home: Any, lab: str) -> None:
    from autograder.classroom.chosen import chosen
    from autograder.classroom.explain import explain

    wanted = chosen(only, outcome.sheets)
    for sheet in outcome.sheets:
        if sheet.student in wanted:
            print(f"\n{explain(sheet, home, lab)}", end="")


def _short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)


def _sample(lab: str) -> Path:
    name = f"autograder.labs.{lab}.sample_class"
    try:
        known = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        known = None
    if known is None:
        raise LabError(f"{lab} has no sample class; use --from DIR")
    folder = SAMPLE_HOME / "handed_in"
    importlib.import_module(name).write_sample_class(folder)
    return folder


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _at_least_one(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
