"""``python -m autograder override``: set points against the judge, with a reason that stays."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import Any

from autograder.classroom.home import Home
from lab_utils.kit.commands import as_path
from lab_utils.kit.course import read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT


def add_override(commands: Any) -> None:
    """Add the command to the subcommands of a parser."""
    override = commands.add_parser(
        "override",
        help="set the points of one student for one task",
        description="Set points with a reason. They stay, whatever is graded anew, until they are "
        "removed. Run grade again to have them in all tables.",
    )
    override.add_argument("lab")
    override.add_argument("student", help="an id or name, or a part that is only this student's")
    override.add_argument("task", help="the number of the task, as in 1.1, or the cell's grade_id")
    override.add_argument("points", nargs="?", type=float, help="points; not with --remove")
    override.add_argument("--reason", default="", help="why; it stands in all your tables")
    override.add_argument("--tell", action="store_true", help="students read the reason, too")
    override.add_argument("--remove", action="store_true", help="let the judge decide again")
    override.add_argument("--into", type=as_path, help="the folder that `grade --into` was told")
    override.set_defaults(run=run)


@dataclass(frozen=True)
class _Submitter:
    student: str
    name: str


def run(options: argparse.Namespace) -> int:
    """Set or remove them, and say what to do next."""
    from nbgrader.api import Gradebook

    from autograder.classroom.chosen import chosen
    from autograder.classroom.grade import tasks_of
    from autograder.classroom.gradebook import Book
    from autograder.classroom.lock import only_run
    from autograder.classroom.overrides import Overrides, find_cell

    home = Home((options.into or ROOT / "autograder").resolve())
    lab = read_course(home.root / "setup" / "course.toml").lab(options.lab).id
    if not home.gradebook.is_file():
        raise LabError(f"no class has been graded in {home.path}: run grade first")
    if not options.remove and (options.points is None or not options.reason.strip()):
        raise LabError('say how many points, and why: … 0.5 --reason "the text allows it"')
    if not options.remove and not 0 <= options.points < math.inf:
        raise LabError(f"points must be a number of 0 or more, and not {options.points:g}")
    with Gradebook(home.db_url) as book:
        people = [
            _Submitter(one.id, f"{one.first_name or ''} {one.last_name or ''}".strip() or one.id)
            for one in book.students
        ]
    (student,) = chosen([options.student], people)
    cell = find_cell(options.task, Book(home, lab).cells(), tasks_of(home, lab))
    place = (student, cell.notebook, cell.grade_id)
    with only_run(home.locks):
        overrides = Overrides(home, lab)
        if options.remove:
            overrides.remove(place)
            print(f"{student}, {cell.grade_id}: what the judge says counts again", end="; ")
        else:
            overrides.set(place, options.points, options.reason.strip(), options.tell)
            overrides.apply()
            much = " (more than it is worth)" if options.points > cell.max_points else ""
            print(f"{student}, {cell.grade_id}: {options.points:g} points{much}", end="; ")
    print("run grade again to have it in all tables")
    return 0
