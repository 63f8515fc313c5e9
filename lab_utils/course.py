"""The course as ``setup/course.toml`` describes it: its name, its labs, their notebooks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab_utils.graph import LabError

COURSE_FILE = Path(__file__).parents[1] / "setup" / "course.toml"

_EXAMPLES: dict[type | tuple[type, ...], str] = {
    str: 'a text, as in {key} = "…"',
    list: "a list, as in {key} = [ … ]",
    dict: "a table, as in [{key}]",
    (int, float): "a number, as in {key} = 4",
}
_NUMBER = (int, float)


class CourseError(LabError):
    """The course file is missing, or does not say what it must."""


@dataclass(frozen=True)
class Notebook:
    """One notebook of a lab, named without its ending: ``01_profiler``."""

    name: str
    points: float
    """What all its graded cells are worth together."""


@dataclass(frozen=True)
class Lab:
    """A lab: ``id`` names its folder and its sources, ``label`` its hand-in."""

    id: str
    title: str
    label: str
    notebooks: tuple[Notebook, ...]


@dataclass(frozen=True)
class Course:
    """The course, and its labs by id."""

    name: str
    term: str
    zip_name: str
    labs: Mapping[str, Lab]

    def lab(self, lab_id: str) -> Lab:
        """The lab with this id.

        Raises:
            CourseError: there is none; the message lists those that there are.
        """
        if lab_id not in self.labs:
            raise CourseError(f"there is no lab {lab_id!r}; there is: {', '.join(self.labs)}")
        return self.labs[lab_id]

    def zip_file_name(self, lab_id: str, *, first: str, last: str) -> str:
        """What the hand-in of a student for a lab is called."""
        label = self.lab(lab_id).label
        return self.zip_name.format(
            first=first, last=last, course=self.name, term=self.term, lab=label
        )


def read_course(path: Path = COURSE_FILE) -> Course:
    """Read the course file.

    Raises:
        CourseError: it is missing, is not TOML, or lacks an entry; the message says which.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(f"cannot read the course file {path}: {error.strerror}") from None
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path} is not TOML: {error}") from None
    try:
        return _course(content)
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from None


def _course(content: dict[str, Any]) -> Course:
    course = _entry(content, "course", dict)
    labs = _entry(content, "labs", dict)
    result = Course(
        name=_entry(course, "name", str, "course"),
        term=_entry(course, "term", str, "course"),
        zip_name=_entry(course, "zip_name", str, "course"),
        labs={lab_id: _lab(lab_id, _entry(labs, lab_id, dict, "labs")) for lab_id in labs},
    )
    try:
        ending = result.zip_name.format(first="", last="", course="", term="", lab="")[-4:]
    except (KeyError, IndexError, ValueError, AttributeError):
        ending = ""
    if ending != ".zip":
        raise CourseError(
            f"[course] zip_name = {result.zip_name!r} must end in .zip, and may hold only "
            "{first}, {last}, {course}, {term} and {lab}"
        )
    return result


def _lab(lab_id: str, table: dict[str, Any]) -> Lab:
    where = f"labs.{lab_id}"
    if not re.fullmatch("[a-z0-9]+", lab_id):
        raise CourseError(f"[{where}] must be named with a-z and 0-9 only, as in lab4a")
    notebooks = tuple(_notebook(entry, where) for entry in _entry(table, "notebooks", list, where))
    names = [notebook.name for notebook in notebooks]
    if twice := {name for name in names if names.count(name) > 1}:
        raise CourseError(f"[{where}] lists notebook {min(twice)} twice")
    return Lab(
        id=lab_id,
        title=_entry(table, "title", str, where),
        label=_entry(table, "label", str, where),
        notebooks=notebooks,
    )


def _notebook(entry: object, where: str) -> Notebook:
    where = f"{where}.notebooks"
    if not isinstance(entry, dict):
        raise CourseError(
            f'[{where}] holds {entry!r}; write {{ name = "01_profiler", points = 4 }}'
        )
    name = _entry(entry, "name", str, where)
    if not re.fullmatch(r"\d\d_[a-z0-9_]+", name):
        raise CourseError(f"[{where}] name = {name!r} must look like 01_profiler")
    return Notebook(name, _entry(entry, "points", _NUMBER, where))


def _entry(table: dict[str, Any], key: str, kind: type | tuple[type, ...], where: str = "") -> Any:
    value = table.get(key)
    if not isinstance(value, kind) or isinstance(value, bool):
        what = "lacks" if value is None else f"has {key} = {value!r}, but needs"
        example = _EXAMPLES[kind].format(key=key)
        raise CourseError(f"{f'[{where}] ' if where else ''}{what} {example}")
    return value
