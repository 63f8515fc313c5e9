"""What is to be examined, and by which rules: one file, written by whoever collects a class.

A worker compares it with what it finds on its own machine. What differs there (the checkout, a
library, a hand-in as its file system shows it) would give a verdict that does not count.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from autograder.classroom.grade import Order
from autograder.classroom.home import Home
from autograder.classroom.ledger import Ledger
from autograder.grading.grader import kit_of
from autograder.grading.plan import LabPlan, read_plan
from autograder.grading.sandbox import Isolation
from autograder.grading.sandbox.host.pool import libraries_of
from autograder.grading.verdict import write_private
from lab_utils.kit.errors import LabError


class Refused(LabError):
    """This machine must not examine the work: its verdicts would not count."""


@dataclass(frozen=True)
class Work:
    """Students whose hand-ins are to be examined, and all that a verdict depends on."""

    lab: str
    students: dict[str, str]
    """By id: the ledger's key, which stands for the hand-in and the rules."""
    rules: str
    """Digest of the code and the cases by which the lab is graded."""
    versions: dict[str, str]
    """Of Python, and of the libraries that the lab's notebooks find loaded."""
    source: str
    """What was handed in; no sandbox may show this folder."""
    require: str = Isolation.NONE
    roster: str = ""
    accept: tuple[str, ...] = ()
    times: str = ""
    """The table that says when each student uploaded."""

    @classmethod
    def of(cls, order: Order, students: Iterable[str], roster: Path | None = None) -> Work:
        """The work that is left of an order."""
        home, lab = order.home, order.lab
        ledger, plan = Ledger(home, lab), _plan(home, lab)
        keys = {student: ledger.key(home.submitted / student / lab) for student in students}
        tables = [str(path.resolve()) if path else "" for path in (roster, order.times)]
        about = (versions(plan), str(order.source), str(order.require))
        return cls(lab, keys, plan.digest, *about, tables[0], order.accept, tables[1])

    def write(self, path: Path) -> None:
        """Keep it, whole or not at all."""
        write_private(path, json.dumps(asdict(self), indent=1))

    @classmethod
    def read(cls, path: Path) -> Work:
        """The work that was kept.

        Raises:
            LabError: there is none that can be read.
        """
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            return cls(**{**data, "accept": tuple(data["accept"])})
        except FileNotFoundError:
            text = f"{path} is not there: python -m autograder collect writes it, and workers"
            raise LabError(f"{text} must see the same folder") from None
        except (ValueError, TypeError, KeyError):
            raise LabError(f"{path} cannot be read: collect again") from None

    def order(self, home: Home, jobs: int = 1) -> Order:
        """The same for an examiner."""
        require = Isolation(self.require)
        return Order(self.lab, Path(self.source), home, jobs=jobs, require=require)

    def share(self, number: int, of: int) -> list[str]:
        """The students of one slice, from 1; together the slices are all of them, each once."""
        return sorted(self.students)[number - 1 :: of]

    def refusal(self, home: Home) -> str:
        """Why this machine must not examine it; empty if it may."""
        plan = _plan(home, self.lab)
        here = versions(plan)
        for name, wanted in self.versions.items():
            if here.get(name) != wanted:
                has = here.get(name) or "not installed"
                return f"{name} is {has} here and {wanted} where the class was collected"
        if plan.digest != self.rules:
            return f"{home.root} is another version than where the class was collected"
        return ""


def versions(plan: LabPlan) -> dict[str, str]:
    """Of Python, and of what the notebooks of a lab find loaded; a build's own mark left out."""
    names = {name.partition(".")[0] for name in libraries_of(map(kit_of, plan.notebooks))}
    found = {"Python": ".".join(map(str, sys.version_info[:2]))}
    for name in sorted({"numpy", *names}):
        try:
            found[name] = version(name).partition("+")[0]
        except PackageNotFoundError:
            found[name] = ""
    return found


def sliced(students: Sequence[str], size: int, most: int) -> int:
    """How many slices to make of them: each has ``size`` if ``most`` slices are enough for that."""
    return max(1, min(most, len(students), -(-len(students) // size)))


def work_file(home: Home, lab: str) -> Path:
    """Where ``collect`` leaves the work of a lab."""
    return home.grades(lab) / "work.json"


def _plan(home: Home, lab: str) -> LabPlan:
    return read_plan(lab, home.root / "solutions" / lab)
