"""``python -m autograder collect | examine | report``: the phases of grading, one by one."""

from __future__ import annotations

import argparse
from typing import Any

from autograder.classroom.command import add_class, at_least_one, cores
from lab_utils.kit.commands import as_path


def add_phases(commands: Any) -> None:
    """Add the three commands to the subcommands of a parser."""
    collect = commands.add_parser(
        "collect", help="grading, first phase: collect a class, and note what is to be examined"
    )
    add_class(collect)
    collect.set_defaults(run=_collect, jobs=1)

    examine = commands.add_parser(
        "examine", help="grading, second phase: run and judge a slice of what was collected"
    )
    _add_place(examine)
    examine.add_argument(
        "--slice", type=_slice, default=(1, 1), metavar="i/n", help="of n slices, the i-th; from 1"
    )
    examine.add_argument("--jobs", type=at_least_one, default=cores(), help="submissions at a time")
    examine.add_argument(
        "--work", type=as_path, help=argparse.SUPPRESS
    )  # another list, by an engine
    examine.set_defaults(run=_examine)

    report = commands.add_parser(
        "report", help="grading, last phase: store what was examined; write grades and pages"
    )
    _add_place(report)
    report.set_defaults(run=_report)


def _add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lab", help="its id in setup/course.toml")
    parser.add_argument("--into", type=as_path, help="the folder that collect was given")


def _slice(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r} is not i/n with i from 1 to n")
    return int(number), int(of)


def _collect(options: argparse.Namespace) -> int:
    from autograder.cluster import phases

    return phases.collect(options)


def _examine(options: argparse.Namespace) -> int:
    from autograder.cluster import phases

    return phases.examine(options)


def _report(options: argparse.Namespace) -> int:
    from autograder.cluster import phases

    return phases.report(options)
