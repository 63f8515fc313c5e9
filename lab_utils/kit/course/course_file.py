"""The course as ``setup/course.toml`` describes it: its name, its labs, their notebooks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lab_utils.kit.course.toml_table import NUMBER, BadValue, Table, line_of
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT

RELEASE_NAME = "recompute-lab"  # archives and folders of releases begin with it
COURSE_FILE = ROOT / "setup" / "course.toml"


class CourseError(LabError):
    """The course file is missing, or does not say what it must."""


@dataclass(frozen=True)
class Notebook:
    """One notebook of a lab, named without its ending: ``01_profiler``."""

    name: str
    points: float
    """What all its graded cells are worth together."""
    source: str = ""
    """The source in ``solutions/``, without its ending; it may serve several labs."""
    until: str = ""
    """The cell of the source before which the notebook ends; empty: all of it."""


@dataclass(frozen=True)
class Assignment:
    """A lab: ``id`` names its folder and its sources, ``label`` its hand-in."""

    id: str
    title: str
    label: str
    notebooks: tuple[Notebook, ...]
    files: tuple[str, ...] = ()
    """What is handed in beside the notebooks."""
    due: datetime | None = None
    """None: it is never late."""
    extensions: Mapping[str, datetime] = field(default_factory=dict)
    """Later dates of some students, by the name that the course file calls them."""

    @property
    def points(self) -> float:
        """What the whole lab is worth."""
        return sum(notebook.points for notebook in self.notebooks)

    def due_for(self, *called: str) -> datetime | None:
        """When a student must hand in, who is ``called`` one of these (an id, a name).

        The order of first and last name, capitals and commas make no difference.
        """
        wanted = {_as_words(name) for name in called}
        for name, moment in self.extensions.items():
            if _as_words(name) in wanted:
                return moment
        return self.due


@dataclass(frozen=True)
class Course:
    """The course, and its labs by id."""

    name: str
    term: str
    zip_name: str
    labs: Mapping[str, Assignment]
    share: str = ""
    """The folder on the cluster into which releases go; empty: there is none."""
    release_url: str = ""
    """Where Colab finds the newest release; empty: students upload it."""

    def lab(self, lab_id: str) -> Assignment:
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
        CourseError: it is missing, is not TOML, or has a bad entry; the message says in which
            line.
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
        return _course(Table(content))
    except BadValue as error:
        raise CourseError(f"{path}:{line_of(text, error.path)}: {error}") from None


def _course(content: Table) -> Course:
    course, labs = content.table("course"), content.table("labs")
    course.allow("name", "term", "zip_name", "share", "release_url")
    zip_name = course.get("zip_name", str)
    try:
        ending = zip_name.format(first="", last="", course="", term="", lab="")[-4:]
    except (KeyError, IndexError, ValueError, AttributeError):
        ending = ""
    if ending != ".zip" or "/" in zip_name:
        allowed = "must end in .zip, and may hold only {first}, {last}, {course}, {term} and {lab}"
        raise course.bad("zip_name", f"zip_name = {zip_name!r} {allowed}")
    share, url = course.get("share", str, ""), course.get("release_url", str, "")
    if share and not share.startswith("/"):
        raise course.bad("share", f"share = {share!r} must be a whole path, as in /shared/course")
    if url and not re.fullmatch(r"https://\S+\.zip", url):
        raise course.bad("release_url", f"release_url = {url!r} must look like https://….zip")
    return Course(
        name=course.get("name", str),
        term=course.get("term", str),
        zip_name=zip_name,
        labs={lab_id: _lab(lab_id, labs) for lab_id in labs.names},
        share=share,
        release_url=url,
    )


def _lab(lab_id: str, labs: Table) -> Assignment:
    table = labs.table(lab_id)
    if not re.fullmatch("[a-z0-9]+", lab_id):
        raise table.bad(None, "must be named with a-z and 0-9 only, as in lab4a")
    table.allow("title", "label", "due", "notebooks", "files", "extensions")
    notebooks = tuple(
        _notebook(place, entry, table) for place, entry in enumerate(table.get("notebooks", list))
    )
    names = [notebook.name for notebook in notebooks]
    if twice := {name for name in names if names.count(name) > 1}:
        raise table.bad("notebooks", f"lists notebook {min(twice)} twice")
    files = table.get("files", list, [])
    for name in files:
        if not isinstance(name, str) or not re.fullmatch(r"\w[\w.-]*", name):
            raise table.bad("files", f'files holds {name!r}; write a name, as in "llm_mlp.dot"')
    extensions = table.table("extensions", {})
    return Assignment(
        id=lab_id,
        title=table.get("title", str),
        label=table.get("label", str),
        notebooks=notebooks,
        files=tuple(files),
        due=_moment(table, "due") if "due" in table.names else None,
        extensions={student: _moment(extensions, student) for student in extensions.names},
    )


def _notebook(place: int, entry: object, lab: Table) -> Notebook:
    where = (*lab.path, "notebooks", place)
    if not isinstance(entry, dict):
        text = f'holds {entry!r}; write {{ name = "01_profiler", points = 4 }}'
        raise Table({}, where).bad(None, text)
    table = Table(entry, where)
    name = table.get("name", str)
    if not re.fullmatch(r"\d\d[a-z]?_[a-z0-9_]+", name):
        raise table.bad("name", f"name = {name!r} must look like 01_profiler")
    own = f"{lab.path[-1]}_{name}"
    source, until = table.get("source", str, own), table.get("until", str, "")
    return Notebook(name, table.get("points", NUMBER), source, until)


def _moment(table: Table, key: str) -> datetime:
    moment: datetime = table.get(key, datetime)
    if moment.tzinfo is None:
        text = f"{key} = {moment} needs its distance to UTC, as in {moment.isoformat()}-04:00"
        raise table.bad(key, text)
    return moment


def _as_words(name: str) -> tuple[str, ...]:
    return tuple(sorted(re.findall(r"\w+", name.casefold())))
