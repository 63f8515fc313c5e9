"""What has been graded already: one small file for each student, written when all else is done."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from autograder.classroom.home import Home
from autograder.collect.shelf import digest
from autograder.grading.plan import read_plan
from autograder.grading.verdict import write_private


@dataclass(frozen=True)
class Entry:
    """A student who was graded."""

    key: str
    """Digest of what was graded and of what it was graded by."""
    trouble: str = ""
    """Why it could not be graded, though there was something to grade."""
    rules: str = ""
    """Digest of tests, cases and judges alone."""


class Ledger:
    """The entries of one lab. Whenever the work is cut off, an entry is whole or not there."""

    def __init__(self, home: Home, lab: str) -> None:
        """Nothing is written yet."""
        self._root, self._lab = home.root, lab
        self._folder = home.grades(lab) / "graded"

    def key(self, folder: Path) -> str:
        """What the grade of the submission in ``folder`` depends on."""
        return digest((self.rules + _digest_of(folder)).encode())

    def entry(self, student: str) -> Entry | None:
        """What is noted about a student."""
        try:
            return Entry(**json.loads(self._path(student).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def note(self, student: str, entry: Entry) -> None:
        """Write an entry: the last thing that is done for a student."""
        write_private(self._path(student), json.dumps(asdict(entry)))

    def forget(self, student: str) -> None:
        """Grade this student anew."""
        self._path(student).unlink(missing_ok=True)

    def _path(self, student: str) -> Path:
        return self._folder / f"{student}.json"

    @cached_property
    def rules(self) -> str:
        """If tests, cases or judges change, everybody is graded by the new ones.

        Those of other labs count too: a lab may borrow their notebooks.
        """
        return read_plan(self._lab, self._root / "solutions" / self._lab).digest


def _digest_of(folder: Path) -> str:
    """Digest of names and contents of all files below a folder, caches left out."""
    files = sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    lines = [f"{path.relative_to(folder)} {digest(path.read_bytes())}\n" for path in files]
    return digest("".join(lines).encode())
