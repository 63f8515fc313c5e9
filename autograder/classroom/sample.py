"""Makes a small class that hands in a lab, from its solutions: what ``make grade`` grades alone.

It is the same to the byte whenever it is made. Names are as in Canvas' bulk download; the
class list is ``students.csv`` beside it. Who is in it says the lab's ``sample_class``.
"""

from __future__ import annotations

import io
import os
import shutil
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from autograder.collect import Roster, Student
from lab_utils.kit.course import read_course
from lab_utils.kit.root import ROOT

SAVED = (2025, 3, 14, 15, 9, 26)
ADDED = "added"
"""In place of a grade_id: a cell of the student's own, at the end of the first notebook."""


@dataclass(frozen=True)
class Change:
    """A piece of the solution in the cell ``grade_id`` is replaced; an empty ``old``: all of it."""

    grade_id: str
    old: str
    new: str


@dataclass(frozen=True)
class Example:
    """What one student does: the solutions with some changes, and the zip around them."""

    student: Student
    changes: tuple[Change, ...] = ()
    leave_out: tuple[str, ...] = ()
    """Names of files."""
    also: Mapping[str, str] = field(default_factory=dict)
    """Other files in the zip."""
    name: str = "{first}{last}_{number}_{file}_{zip}"
    keep: float = 1.0
    """The share of the zip's bytes that arrives."""
    is_filled: bool = True
    """Whether anything was written into the notebooks at all."""


def student(first: str, last: str) -> Student:
    """Somebody, with the id and the address that follow from the name."""
    login = f"{first[0]}{last}".lower()
    return Student(login, first, last, f"{login}@school.example")


def write_class(
    folder: Path,
    lab: str,
    hand_ins: Sequence[Example],
    absent: Iterable[Student] = (),
    files: Mapping[str, bytes] | None = None,
) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list.

    ``files`` are those that a solved ``lab`` hands in beside its notebooks.
    """
    shutil.rmtree(folder, ignore_errors=True)  # a hand-in of an earlier version is no student
    folder.mkdir(parents=True)
    course = read_course(ROOT / "setup" / "course.toml")
    students = dict.fromkeys([*(hand_in.student for hand_in in hand_ins), *absent])
    for number, hand_in in enumerate(hand_ins):
        person = hand_in.student
        zip_name = course.zip_file_name(lab, first=person.first, last=person.last)
        name = hand_in.name.format(
            **{"first": person.first.lower(), "last": person.last.lower(), "zip": zip_name},
            **{"number": 7001 + list(students).index(person), "file": 900001 + number},
            **{"course": course.name, "term": course.term, "lab": course.lab(lab).label},
        )
        data = zip_of(lab, hand_in, files or {})
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data[: int(hand_in.keep * len(data))])
        os.utime(path, (1741962566 + number, 1741962566 + number))
    rows = [f"{s.id},{s.first},{s.last},{s.email}\n" for s in students]
    text = "id,first_name,last_name,email\n" + "".join(rows)
    (folder / "students.csv").write_text(text, encoding="utf-8")
    return Roster(tuple(students))


def zip_of(lab: str, hand_in: Example, files: Mapping[str, bytes]) -> bytes:
    """The zip that a student makes."""
    inside = {name: _notebook(lab, name, hand_in) for name in _notebooks(lab)}
    inside |= {**files, **{name: text.encode() for name, text in hand_in.also.items()}}
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for name, data in inside.items():
            if name not in hand_in.leave_out:
                info = zipfile.ZipInfo(name, SAVED)
                archive.writestr(info, data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def _notebooks(lab: str) -> list[str]:
    return sorted(path.name for path in (ROOT / "notebooks" / lab).glob("*.ipynb"))


def _notebook(lab: str, name: str, hand_in: Example) -> bytes:
    """The released notebook, filled in with the changed solutions."""
    notebook = nbformat.read(ROOT / "notebooks" / lab / name, as_version=4)
    solved = nbformat.read(ROOT / "solutions" / lab / name, as_version=4)
    answers = {
        cell.metadata["nbgrader"]["grade_id"]: _without_marks(cell.source)
        for cell in solved.cells
        if cell.metadata.get("nbgrader", {}).get("solution") and hand_in.is_filled
    }
    for change in hand_in.changes:
        if change.grade_id in answers:
            old = answers[change.grade_id]
            if change.old not in old:
                raise ValueError(f"{change.old!r} is not in the solution {change.grade_id}")
            answers[change.grade_id] = (
                old.replace(change.old, change.new) if change.old else change.new
            )
        elif change.grade_id == ADDED and name == _notebooks(lab)[0]:
            notebook.cells.append(nbformat.v4.new_code_cell(change.new, id=ADDED))
    for cell in notebook.cells:
        cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT).encode()


def _without_marks(source: str) -> str:
    lines = source.splitlines(keepends=True)
    return "".join(
        line for line in lines if "### BEGIN SOLUTION" not in line and "### END" not in line
    )
