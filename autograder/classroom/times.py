"""Reads when a class uploaded its files: a table with a student and a moment in each row."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from autograder.classroom.chosen import Named
from autograder.collect import Roster
from autograder.collect.roster import read_table
from autograder.collect.words import squashed, words
from lab_utils.kit.errors import LabError

WHO = ("id", "sisloginid", "sisuserid", "login", "loginid", "username", "email", "student", "name")
WHEN = ("submittedat", "uploaded", "uploadedat", "submitted", "time", "timestamp", "date")


def read_times(path: Path, people: Sequence[Named], roster: Roster | None) -> dict[str, datetime]:
    """The latest moment of each student in a CSV file.

    A column says who it is (id, login, email or name), another when: ``submitted_at``, as Canvas
    writes it, or ``time``; as in 2025-04-11T23:59:00-04:00. Rows of others are left out.

    Raises:
        LabError: the file cannot be read, lacks a column, or no row is of this class.
    """
    header, *rows = read_table(path, "the upload times") or [[]]
    names = [squashed(text) for text in header]
    when = next((names.index(name) for name in WHEN if name in names), None)
    who = [at for at, name in enumerate(names) if name in WHO]
    if when is None or not who:
        raise LabError(
            f"{path}:1: needs columns student and submitted_at; has: {', '.join(header)}"
        )
    known = _known(people, roster)
    found: dict[str, datetime] = {}
    for line, row in enumerate(rows, start=2):
        keys = [key for at in who if at < len(row) for key in _keys(row[at])]
        student = next((known[key] for key in keys if known.get(key)), "")
        if student and when < len(row) and row[when].strip():
            moment = _moment(row[when].strip(), f"{path}:{line}")
            found[student] = max(found.get(student, moment), moment)
    if not found:
        raise LabError(f"{path}: no row is of a student who handed something in")
    return found


def _known(people: Sequence[Named], roster: Roster | None) -> dict[str, str]:
    """Students by all that they are called; nobody where two are called the same."""
    ids = {student.id: student.ids for student in roster or ()}
    known: dict[str, str] = {}
    for who in people:
        for key in {*_keys(who.student), *_keys(who.name), *ids.get(who.student, ())}:
            known[key] = who.student if known.get(key, who.student) == who.student else ""
    return known


def _keys(text: str) -> list[str]:
    """A text in one piece, and its words in order: ``Doe, Jane`` is ``Jane Doe``."""
    return [key for key in (squashed(text), " ".join(sorted(words(text)))) if key]


def _moment(text: str, where: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise LabError(f"{where}: {text!r} is no moment, as in 2025-04-11T23:59:00-04:00") from None
    if moment.tzinfo is None:
        raise LabError(f"{where}: {text!r} needs its distance to UTC, as in {text}-04:00")
    return moment
