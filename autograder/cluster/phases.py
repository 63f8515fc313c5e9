"""The phases of grading, for any scheduler that can start a command on several machines.

Collect once, examine every slice wherever there is room, report whenever you like: ``grade`` is
all three in a row. Collecting and reporting are grading, too, with an examiner that runs nothing.
"""

from __future__ import annotations

import argparse
import traceback
from collections.abc import Generator, Sequence
from contextlib import nullcontext
from pathlib import Path

from autograder.classroom.command import carried_out, ordered
from autograder.classroom.examiner import Kept
from autograder.classroom.grade import Order
from autograder.classroom.home import Home
from autograder.classroom.pool import Examined
from autograder.cluster.examine import examined, node, note_refusal
from autograder.cluster.work import Refused, Work, work_file
from autograder.collect import read_roster
from autograder.grading.sandbox import Isolation, Reached
from lab_utils.kit.commands import DIFFERENT, OK
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT


class Posted:
    """An examiner that only notes what is to be examined."""

    def __init__(self, order: Order, roster: Path | None) -> None:
        """``roster`` is the file of the class list."""
        self._order, self._roster = order, roster
        self.left: int | None = None
        """How many are to be examined, once it is noted."""

    def each(self, students: Sequence[str]) -> Generator[Examined]:
        """Nobody. Who has a verdict that holds need not be examined."""
        order = self._order
        _, left = Kept(order).sorted_out(students)
        Work.of(order, left, self._roster).write(work_file(order.home, order.lab))
        self.left = len(left)
        yield from ()


class Shelved:
    """An examiner that takes what others have examined."""

    def __init__(self, order: Order) -> None:
        """Nothing is read yet."""
        self._order, self.left = order, 0

    def each(self, students: Sequence[str]) -> Generator[Examined]:
        """Those whose verdict is there and holds; the others are counted in ``left``."""
        kept = Kept(self._order)
        for student in students:
            if kept.has(student):
                yield student, None
            else:
                self.left += 1


def collect(options: argparse.Namespace) -> int:
    """Collect a class, note what is to be examined, and tell what the collector has to say."""
    order = ordered(options)
    posted = Posted(order, options.roster)
    code = carried_out(order, lambda _: nullcontext(posted), title="examined")
    if posted.left is None:
        list(posted.each([]))  # an earlier list is over
    place = f" --into {order.home.path}" if order.home.path != ROOT / "autograder" else ""
    print(f"{posted.left} to examine: python -m autograder examine {order.lab}{place} --slice i/n")
    return code


def examine(options: argparse.Namespace) -> int:
    """Run and judge a slice, on any machine that sees the folder; touches no gradebook."""
    home = _home(options)
    path = options.work or work_file(home, options.lab)
    work = Work.read(path)
    mine, failed = work.share(*options.slice), 0

    def told(reached: Reached) -> None:
        print(f"isolation: {reached.level}", flush=True)

    try:
        each = examined(home, work, mine, options.jobs, told)
        for done, (student, error) in enumerate(each, start=1):
            print(f"{done} of {len(mine)}: {student} {error or ''}", flush=True)
            failed += error is not None
            if error is not None and not isinstance(error, LabError):
                traceback.print_exception(error)
    except Refused as refused:
        note_refusal(path, str(refused))
        raise
    number, of = options.slice
    print(f"slice {number}/{of} on {node()}: {len(mine) - failed} examined, {failed} failed")
    return DIFFERENT if failed else OK


def report(options: argparse.Namespace) -> int:
    """Store what was examined, and write grades and pages for all; as often as you like."""
    home = _home(options)
    work = Work.read(work_file(home, options.lab))
    roster = read_roster(Path(work.roster)) if work.roster else None
    require = Isolation(work.require)
    source = Path(work.source)
    times = Path(work.times) if work.times else None
    order = Order(work.lab, source, home, roster, require=require, accept=work.accept, times=times)
    shelved = Shelved(order)
    code = carried_out(order, lambda _: nullcontext(shelved), title="stored")
    if shelved.left:
        print(f"{shelved.left} not examined yet; those who were are stored")
    return code or (DIFFERENT if shelved.left else OK)


def _home(options: argparse.Namespace) -> Home:
    return Home((options.into or ROOT / "autograder").resolve())
