"""What a student handed in for a lab, and the job that it makes for an executor."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from autograder.grading.hidden import hidden_of
from autograder.grading.needed import left_out
from autograder.grading.plan import LabPlan, NotebookPlan, Test, keyed_cells
from autograder.grading.sandbox import Code, Notebook, Question
from autograder.remark import Remark
from lab_utils.kit.lab import lab_called
from lab_utils.kit.task import Case

_ACTIVE = re.compile(r"<\s*(script|iframe|object|embed|svg|form)\b|\son\w+\s*=|javascript:", re.I)
_IGNORED = ("*.pyc", "__pycache__", "*_cache", ".ipynb_checkpoints", ".DS_Store", "feedback")
_MOST_FILES = 500
_MOST_BYTES = 32_000_000  # of all files together


@dataclass(frozen=True)
class Submission:
    """Notebooks by name (without ``.ipynb``), and the other files by path."""

    student: str
    books: Mapping[str, NotebookNode]
    files: Mapping[str, bytes]
    remarks: tuple[Remark, ...] = ()
    """What was found wrong with it while it was read."""


def read_submission(student: str, folder: Path) -> Submission:
    """The files in ``folder``; what cannot be read is left out, and this is said."""
    books: dict[str, NotebookNode] = {}
    files: dict[str, bytes] = {}
    remarks: list[Remark] = []
    left = _MOST_BYTES
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        try:
            if path.suffix == ".ipynb" and "/" not in name:
                books[path.stem] = nbformat.read(path, as_version=4)
                continue
            content = path.read_bytes()
        except Exception as error:  # a notebook can be wrong in many ways
            remarks.append(Remark("files", f"{name} cannot be read ({type(error).__name__})"))
            continue
        left -= len(content)
        if left < 0 or len(files) == _MOST_FILES:
            remarks.append(Remark("files", "too many or too large files: some were left out"))
            break
        files[name] = content
    return Submission(student, books, files, tuple(remarks))


def active_text(submission: Submission) -> list[Remark]:
    """Remarks on text cells that would act in a browser; they are shown as text."""
    words = "a text cell holds HTML that acts when it is opened; it is shown as text"
    return [
        Remark("markup", words, name)
        for name, book in submission.books.items()
        if any(c.cell_type != "code" and _ACTIVE.search(c.source) for c in book.cells)
    ]


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        ignored = any(fnmatch(part, glob) for part in inside for glob in _IGNORED)
        if path.is_file() and not path.is_symlink() and not ignored:
            yield path


def digest_of(plan: LabPlan, submission: Submission) -> str:
    """Stands for all that has a say in the verdict: the lab, its judge, and what was handed in."""
    digest = hashlib.sha256(plan.digest.encode())
    for name, book in sorted(submission.books.items()):
        cells = [(key, cell.source) for key, cell in keyed_cells(book)]
        digest.update(json.dumps([name, cells]).encode())
    for path, content in sorted(submission.files.items()):
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def notebooks_of(
    plan: LabPlan, submission: Submission, cases: Mapping[Test, Sequence[Case]]
) -> list[Notebook]:
    """The notebooks to run, with questions in place of the tests that a judge decides on.

    ``cases`` are those of each test. A test cell that is missing is asked for at the end.
    """
    return [
        Notebook(part.name, list(_steps(part, submission.books[part.name], cases)))
        for part in plan.notebooks
        if part.name in submission.books
    ]


def _steps(
    part: NotebookPlan, book: NotebookNode, cases: Mapping[Test, Sequence[Case]]
) -> Iterator[Code | Question]:
    met, out = set(), _needless(part, book)
    for key, cell in keyed_cells(book):
        met.add(key)
        if key in part.tests:
            yield from _test(part, key, cases)
        elif key not in out:
            yield Code(key, part.locked.get(key, cell.source))
    for key in part.tests:
        if key not in met:
            yield from _test(part, key, cases)


@cache
def _public_cases(lab: str, task: str) -> int:
    return len(lab_called(lab).public_cases(task))


def _needless(part: NotebookPlan, book: NotebookNode) -> set[str]:
    """The keys of the cells that only show something, and need not run."""
    cells = keyed_cells(book)
    return {
        cells[place][0]
        for place in left_out([c.source for _, c in cells], part.showing, part.given)
    }


def _test(
    part: NotebookPlan, key: str, cases: Mapping[Test, Sequence[Case]]
) -> Iterator[Code | Question]:
    test = part.tests[key]
    if not test.task:
        yield Code(key, test.source)
    public = _public_cases(test.lab, test.task) if test.task else 0
    for number, case in enumerate(cases.get(test, ())):
        hidden = number >= public
        aid = hidden_of(test.lab).aid.get(test.task, ()) if hidden else ()
        yield Question(
            test.lab, test.task, test.name, case.given, case=number, hidden=hidden, aid=aid
        )
