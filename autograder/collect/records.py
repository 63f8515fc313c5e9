"""What collecting gives: one submission for each student, with remarks; and its limits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from autograder.remark import Remark
from lab_utils.kit.errors import LabError

MB = 1_000_000


class CollectError(LabError):
    """The class cannot be collected at all; a bad hand-in never raises this."""


class RemarkKind(StrEnum):
    """What a remark is about."""

    # the file that was handed in
    NOT_A_ZIP = "not a zip"
    TRUNCATED = "truncated"
    ENCRYPTED = "encrypted"
    UNREADABLE = "unreadable"
    TOO_BIG = "too big"
    ZIP_BOMB = "zip bomb"
    UNSAFE_PATH = "unsafe path"
    NOT_A_FILE = "not a file"
    NESTED_ZIP = "nested zip"
    EXTRA_FILES = "extra files"
    NOTHING_TO_GRADE = "nothing to grade"
    FAILED = "collector failed"
    # whose it is
    CLOSE_MATCH = "close match"
    AMBIGUOUS = "ambiguous"
    NOT_IN_ROSTER = "not in roster"
    SEVERAL_UPLOADS = "several uploads"
    HELD_BACK = "held back"
    OTHER_ORIGIN = "other origin"
    # its notebooks and files
    MISSING_NOTEBOOK = "missing notebook"
    EXTRA_NOTEBOOK = "extra notebook"
    RENAMED_FILE = "renamed file"
    DUPLICATED_FILE = "duplicated file"
    BROKEN_NOTEBOOK = "broken notebook"
    OUTPUTS_DROPPED = "outputs dropped"
    NOT_FILLED_IN = "not filled in"
    # their cells
    DUPLICATED_CELL = "duplicated cell"
    MISSING_LOCKED = "missing locked cell"
    MISSING_SOLUTION = "missing solution"
    CHANGED_LOCKED = "changed locked cell"
    CHANGED_MARKS = "changed marks"
    OTHER_RELEASE = "another release"
    RECOGNISED = "recognised"
    RETYPED = "retyped cell"
    MOVED = "moved cell"
    # what became of it here
    EDITED_HERE = "edited here"


@dataclass(frozen=True)
class HandIn:
    """What one student handed in."""

    student: str
    """The id in the roster, or one that is made from the name: safe as a folder's name."""
    name: str
    """For people to read."""
    late: bool
    uploaded: datetime
    original: Path
    """The file that is graded, as it was handed in; the first of several loose files."""
    folder: Path | None
    """Where nbgrader finds what can be graded; None if there is nothing."""
    remarks: tuple[Remark, ...]
    perhaps: tuple[str, ...] = ()
    """Ids of students whose it may be, if that is not clear."""
    release: str = ""
    """The release that it was made from, as the packer noted it; empty: nobody knows."""

    @property
    def is_stranger(self) -> bool:
        """Whether there is a class list, and nobody in it has such a name."""
        return any(remark.kind == RemarkKind.NOT_IN_ROSTER for remark in self.remarks)


@dataclass(frozen=True)
class Bounds:
    """How much of a hand-in is read; sizes in bytes, after unpacking."""

    directory: int = 8 * MB
    """The table of contents of one zip."""
    entries: int = 10_000
    """Entries in one zip."""
    ratio: int = 100
    """A zip that unpacks to more than ``total`` and to this many times its size is a bomb."""
    total: int = 250 * MB
    """All that is read of one hand-in."""
    upload: int = 300 * MB
    """One hand-in inside a bulk download."""
    nested: int = 100 * MB
    notebook: int = 120 * MB
    file: int = 20 * MB
    """A file that the lab asks for."""
    json_objects: int = 500_000
    """Lists and objects in a notebook's JSON: it may be small on disk and huge in memory."""
    json_values: int = 10_000_000
    """All values in a notebook's JSON: a million lines of output are as many values."""
    cells: int = 2_000
    source: int = 5 * MB
    """All that is written in the cells of one notebook."""
    attachments: int = 10 * MB
    """Pictures that are pasted into one text cell."""


def shown(name: str, longest: int = 60) -> str:
    """A name from outside, safe to show in one line of text."""
    clean = "".join(char if char.isprintable() else "?" for char in name)
    if len(clean) <= longest:
        return clean
    tail = longest // 4
    return f"{clean[: longest - tail - 1]}…{clean[-tail:]}"


class Notes:
    """Gathers what happened to things, so that each kind becomes one sentence and not fifty."""

    def __init__(self) -> None:
        """Nothing has happened yet."""
        # A dict keeps the order, and does not slow down with ten thousand things.
        self._things: defaultdict[RemarkKind, dict[str, None]] = defaultdict(dict)

    def add(self, kind: RemarkKind, thing: str) -> None:
        """Note that this has happened to ``thing``, which is safe to show; once is enough."""
        self._things[kind][thing] = None

    def remarks(self, sentences: Mapping[RemarkKind, str], **also: str) -> tuple[Remark, ...]:
        """One remark for each kind; ``{things}`` in its sentence stands for all of them."""
        return tuple(
            Remark(kind, sentences[kind].format(things=listed(things), **also))
            for kind, things in self._things.items()
        )


def listed(things: Iterable[str], most: int = 5) -> str:
    """``a, b and c``; no more than ``most`` by name."""
    names = list(things)
    if len(names) > most:
        names[most:] = [f"{len(names) - most} more"]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
