"""The class list: ``students.csv``, from whatever program wrote it."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.collect.records import CollectError
from autograder.collect.words import squashed, words

# What the columns are called, squashed; the first that is there counts.
COLUMNS = {
    "id": ("id", "studentid", "sisuserid", "sisloginid", "login", "loginid", "username", "userid"),
    "first": ("firstname", "first", "givenname", "given", "forename"),
    "last": ("lastname", "last", "surname", "familyname", "family"),
    "name": ("name", "student", "studentname", "fullname", "sortablename"),
    "email": ("email", "emailaddress", "mail"),
}
# Other columns that tell one student from another.
ALSO_KNOWN_BY = {"sisuserid", "sisloginid", "loginid", "login", "username", "canvasid", "userid"}
# An export of Canvas' gradebook has one of these beside ID, which there is Canvas' own number.
CANVAS_IDS = {"sisuserid", "sisloginid"}
TEST_STUDENT = "Student, Test"
TEST_LOGIN = re.compile(r"[0-9a-f]{32,}")
"""The SIS Login ID that Canvas makes up for the Test Student, if it shows any."""
NOBODY = "unmatched-"
"""How the ids of those begin who are not in the class list."""
SAFE_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@=-]{0,99}")


class RosterError(CollectError):
    """The class list cannot be used; the message names file and line."""


@dataclass(frozen=True)
class CanvasIds:
    """The columns of Canvas' gradebook that tell who a row is about; each may be empty."""

    number: str
    """Column ``ID``: Canvas' own number."""
    sis_user: str = ""
    login: str = ""
    """Column ``SIS Login ID``."""
    section: str = ""


@dataclass(frozen=True)
class Student:
    """One line of the class list."""

    id: str
    first: str
    last: str
    email: str = ""
    also: frozenset[str] = frozenset()
    """Other ids: the LMS' number, the login."""
    canvas: CanvasIds | None = None
    """What Canvas calls them, if the list is an export of its gradebook."""

    @property
    def name(self) -> str:
        """For people to read."""
        return f"{self.first} {self.last}".strip() or self.id

    @property
    def ids(self) -> frozenset[str]:
        """All that is this student's alone, squashed."""
        known = {self.id, self.email, self.email.partition("@")[0], *self.also}
        return frozenset(squashed(text) for text in known if text)


@dataclass(frozen=True)
class Roster:
    """The class."""

    students: tuple[Student, ...]

    def __iter__(self) -> Iterator[Student]:
        """In the order of the file."""
        return iter(self.students)


def read_roster(path: Path) -> Roster:
    """Read a class list: a header, then a line for each student.

    Wanted are an id and a name, as ``first name`` and ``last name`` or in one column as
    ``Doe, Jane`` or ``Jane Doe``. Comma, semicolon and tab separate; other columns are ignored.
    An export of Canvas' gradebook will do: then a student's id is the SIS Login ID, and Canvas'
    own number is kept apart.

    Raises:
        RosterError: the file cannot be read, lacks a column, or has an id twice.
    """
    rows = read_table(path)
    if not rows:
        raise RosterError(f"{path} is empty; its first line must be: id,first_name,last_name,email")
    header = [squashed(text) for text in rows[0]]
    column = {
        field: next((header.index(name) for name in names if name in header), None)
        for field, names in COLUMNS.items()
    }
    if column["id"] is None or (column["last"] is None and column["name"] is None):
        raise RosterError(
            f"{path}:1: needs columns id, first_name and last_name; has: {', '.join(rows[0])}"
        )
    students: dict[str, Student] = {}
    is_canvas = "id" in header and not CANVAS_IDS.isdisjoint(header)
    for line, row in enumerate(rows[1:], start=2):
        texts = {
            field: row[at].strip() if at is not None and at < len(row) else ""
            for field, at in column.items()
        }
        if not any(cell.strip() for cell in row) or not (texts["id"] or texts["email"]):
            continue  # as the line "Points Possible" in Canvas' export
        also = {
            text.strip()
            for name, text in zip(header, row, strict=False)
            if name in ALSO_KNOWN_BY and text.strip()
        }
        canvas = _canvas(header, row) if is_canvas else None
        if canvas and canvas.number.isdigit():
            if texts["name"] == TEST_STUDENT and _is_made_up(canvas):
                continue
            also.add(canvas.number)
            texts["id"] = canvas.login or canvas.sis_user or canvas.number
        else:
            canvas = None
        student = _student(texts, frozenset(also), canvas)
        if not SAFE_ID.fullmatch(student.id) or student.id.startswith(NOBODY):
            raise RosterError(
                f"{path}:{line}: id {student.id!r} cannot name a folder; use letters, digits, "
                "and . _ - @ ="
            )
        if student.id.casefold() in students:
            raise RosterError(f"{path}:{line}: id {student.id!r} is there twice")
        students[student.id.casefold()] = student
    return Roster(tuple(students.values()))


def read_table(path: Path, what: str = "the class list") -> list[list[str]]:
    """The rows of a CSV file, whichever program wrote it.

    Raises:
        RosterError: it cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise RosterError(f"cannot read {what} {path}: {error.strerror}") from None
    if b"\0" in data:
        raise RosterError(f"{path} is not a CSV file: a spreadsheet must be saved as CSV")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:  # a spreadsheet program on Windows
        text = data.decode("cp1252", errors="replace")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    try:
        return list(csv.reader(text.splitlines(), delimiter=delimiter))
    except csv.Error as error:
        raise RosterError(f"{path} is not a CSV file: {error}") from None


def _canvas(header: list[str], row: list[str]) -> CanvasIds:
    texts = {name: text.strip() for name, text in zip(header, row, strict=False)}
    parts = ("id", "sisuserid", "sisloginid", "section")
    return CanvasIds(*(texts.get(part, "") for part in parts))


def _is_made_up(canvas: CanvasIds) -> bool:
    return not canvas.sis_user and (not canvas.login or bool(TEST_LOGIN.fullmatch(canvas.login)))


def _student(texts: dict[str, str], also: frozenset[str], canvas: CanvasIds | None) -> Student:
    first, last = texts["first"], texts["last"]
    if not last and texts["name"]:
        if "," in texts["name"]:
            last, _, first = texts["name"].partition(",")
        else:
            first, _, last = texts["name"].rpartition(" ")
    if not words(first) and not words(last):
        last = texts["id"] or texts["email"]
    student = texts["id"] or texts["email"]
    return Student(student, first.strip(), last.strip(), texts["email"], also, canvas)
