"""``python -m autograder grade``: from what a class handed in to grades, feedback and a report."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import os
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from autograder.classroom.progress import progress
from lab_utils.kit.commands import as_path
from lab_utils.kit.course import read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT
from lab_utils.kit.task import counted

SAMPLE_HOME = ROOT / "build" / "sample_class"
ENGINES = ("local", "dask", "slurm")
LEVELS = ("none", "limits", "namespaces", "full")


def add_grade(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    grade = commands.add_parser(
        "grade", help="grade a class", description="Grade a class; run it again to go on."
    )
    add_class(grade)
    grade.add_argument("--jobs", type=at_least_one, help="submissions at a time, on each machine")
    grade.add_argument(
        "--explain", action="store_true", help="with --only: tell all that led to the points"
    )
    add_engine(grade)
    grade.set_defaults(run=run)


def add_class(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say which class is graded, and how."""
    parser.add_argument(
        "lab", nargs="?", help="its id in setup/course.toml; optional with --sample"
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--from", dest="source", type=as_path, help="a folder of zips, or an LMS' bulk download"
    )
    what.add_argument("--sample", action="store_true", help="grade the lab's sample class")
    parser.add_argument("--roster", type=as_path, help="the class list, students.csv")
    parser.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="STUDENT",
        help="an id or name, or a part that is only theirs; repeatable",
    )
    parser.add_argument("--again", action="store_true", help="also what was graded before")
    parser.add_argument(
        "--require-isolation", choices=LEVELS, default="none", help="refuse to run with less"
    )
    parser.add_argument(
        "--accept",
        action="append",
        default=[],
        metavar="FILE",
        help="an upload that was held back, and counts; repeatable",
    )
    parser.add_argument(
        "--times",
        type=as_path,
        metavar="CSV",
        help="when each student uploaded: student,submitted_at",
    )
    parser.add_argument(
        "--into",
        type=as_path,
        help="the folder for gradebook, grades and pages; default autograder/",
    )


#: Options that only some engines know.
MEANT_FOR = {
    "jobs": ("local", "slurm"),
    "workers": ("dask", "slurm"),
    "scheduler": ("dask",),
    "slice_size": ("slurm",),
    "sbatch": ("slurm",),
}


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where submissions are examined; docs/cluster.md tells more."""
    where = parser.add_argument_group("past one machine")
    where.add_argument("--engine", choices=ENGINES, default="local", help="where submissions run")
    where.add_argument(
        "--workers", type=at_least_one, help="so many at a time: jobs of Slurm, workers of Dask"
    )
    where.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="dask: an address, a scheduler file, or a cluster of dask-jobqueue (SLURMCluster, …)",
    )
    where.add_argument(
        "--slice-size",
        type=at_least_one,
        help="slurm: submissions of one job, so many that its start is worth while; default 20",
    )
    where.add_argument(
        "--sbatch",
        action="append",
        default=[],
        metavar="OPTIONS",
        help="slurm: more options for sbatch, as in --sbatch='--partition=course --mem=4G'",
    )


def run(options: argparse.Namespace) -> int:
    """Grade, show how far it is, and say where the outcomes are; 1 if anybody was not graded."""
    from autograder.classroom import examiner
    from autograder.cluster.engines import engine

    if options.explain and not options.only:
        raise LabError("--explain tells of single students: name them with --only")
    _must_fit_the_engine(options)
    console = Console()

    def say(*lines: str) -> None:
        console.print(*lines, sep="\n", soft_wrap=True, markup=False)

    def local(order: Any) -> Any:
        return examiner.sandbox(order, lambda reached: say(*_isolation(reached)))

    examines = local if options.engine == "local" else engine(options, say)
    return carried_out(ordered(options), examines, console, explain=options.explain)


def _must_fit_the_engine(options: argparse.Namespace) -> None:
    """Raises LabError at an option that would be overlooked."""
    for name, engines in MEANT_FOR.items():
        if getattr(options, name) and options.engine not in engines:
            which = " or ".join(f"--engine {engine}" for engine in engines)
            text = f"--{name.replace('_', '-')} is for {which}"
            raise LabError(f"{text}, not for --engine {options.engine}: leave one of them out")


def ordered(options: argparse.Namespace) -> Any:
    """The order that the options are; a sample class is made, and has a list."""
    from autograder.classroom.grade import Order
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
    source, into = options.source, options.into
    home = Home((into or (SAMPLE_HOME if options.sample else ROOT / "autograder")).resolve())
    if options.sample:
        with only_run(Home(SAMPLE_HOME).locks):  # it is written anew
            source = _sample(lab)
        options.roster = options.roster or source / "students.csv"
    return Order(
        lab,
        source.resolve(),
        home,
        read_roster(options.roster) if options.roster else None,
        options.jobs or cores(),
        tuple(options.only),
        options.again,
        Isolation(options.require_isolation),
        tuple(options.accept),
        options.times,
    )


def carried_out(
    order: Any,
    examiner: Any,
    console: Console | None = None,
    title: str = "graded",
    explain: bool = False,
) -> int:
    """Grade with an examiner, showing how far it is, and say what came of it: an exit code.

    ``explain``: tell all that led to the points of those whom the order names.
    """
    from autograder.classroom.grade import grade_class

    console = console or Console()
    try:
        with progress(console, title) as tell:
            outcome = grade_class(order, examiner, tell)
    except KeyboardInterrupt:
        print("stopped; what was graded stays graded, the same command goes on", file=sys.stderr)
        return 130
    _show(console, outcome)
    if explain:
        _explain(outcome, order)
    return 1 if outcome.failed else 0


def _isolation(reached: Any) -> list[str]:
    """The level of isolation, and what keeps it from being more."""
    return [f"isolation: {reached.level}", *(f"  {why}" for why in reached.obstacles)]


def _show(console: Console, outcome: Any) -> None:
    sheets = outcome.sheets
    later = sum(sheet.is_pending for sheet in sheets)
    before = len(sheets) - outcome.graded - outcome.failed - later
    levels = sorted({sheet.verdict.isolation for sheet in sheets if sheet.verdict})
    noticed = sum(bool(sheet.all_remarks) for sheet in sheets)
    console.print(
        f"{counted(len(sheets), 'student')}, {outcome.graded} graded now, "
        f"{before} before or with nothing to grade; {noticed} with remarks; "
        f"isolation: {', '.join(levels) or 'nothing ran'}",
        soft_wrap=True,
    )
    if later:
        console.print(f"{later} not graded yet", soft_wrap=True)
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
    for name in outcome.extended_to_nobody:
        text = f"setup/course.toml has a later date for {name!r}, and nobody in the class list"
        console.print(f"{text} is called so", soft_wrap=True, markup=False, highlight=False)
    width = max(map(len, outcome.written), default=0)
    for what, path in outcome.written.items():  # whole, however narrow the window: to be copied
        line = f"{what:{width}}  {_short(path)}"
        console.print(line, soft_wrap=True, markup=False, highlight=False)


def _explain(outcome: Any, order: Any) -> None:
    from autograder.classroom.chosen import chosen
    from autograder.classroom.explain import explain

    wanted = chosen(order.only, outcome.sheets)
    for sheet in outcome.sheets:
        if sheet.student in wanted:
            print(f"\n{explain(sheet, order.home, order.lab)}", end="")


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


def cores() -> int:
    """How many submissions this machine can run at a time."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def at_least_one(text: str) -> int:
    """A number of jobs, from the command line."""
    if not (text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of 1 or more")
    return int(text)
