"""The course as ``setup/course.toml`` describes it: its name, its labs, their notebooks."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lab_utils.kit.course.late import LatePolicy, read_late
from lab_utils.kit.course.toml_table import NUMBER, BadValue, Table, line_of
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT

RELEASE_NAME = "recompute-lab"  # archives and folders of releases begin with it
START = "START.ipynb"  # the start page, beside the folders of the labs (see kit/start)
COURSE_FILE = ROOT / "setup" / "course.toml"
_NAME = r"\d\d[a-z]?_[a-z0-9_]+"  # of a notebook: 01_profiler, 05b_checkin


class CourseError(LabError):
    """The course file is missing, or does not say what it must."""


@dataclass(frozen=True)
class Notebook:
    """One notebook of a lab, named without its ending: ``01_profiler``."""

    name: str
    points: float
    """What all its graded cells are worth together, but for a bonus."""
    source: str
    """The text that it is built from, below ``solutions/`` and without its ending:
    ``mine/01_profiler``. One text may serve several assignments."""
    until: str = ""
    """The cell of the source before which the notebook ends; empty: all of it."""
    minutes: int = 0
    """How long it takes, about; 0: nobody has said."""
    bonus: float = 0
    """What can be had beyond its points."""

    @property
    def home(self) -> str:
        """The assignment in whose folder the source lies."""
        return self.source.partition("/")[0]


@dataclass(frozen=True)
class Assignment:
    """A lab: ``id`` names its folder and its sources, ``label`` its hand-in."""

    id: str
    title: str
    label: str
    notebooks: tuple[Notebook, ...]
    about: str = ""
    """What it is about, in one sentence."""
    builds_on: tuple[str, ...] = ()
    """The ids of assignments that one should know first; all of them come earlier."""
    due: datetime | None = None
    """None: it is never late."""
    open: datetime | None = None
    """No release holds it before; None: every release does."""
    extensions: Mapping[str, datetime] = field(default_factory=dict)
    """Later dates of some students, by the name that the course file calls them."""
    late: LatePolicy | None = None
    """What lateness costs; None: nothing."""
    canvas: str = ""
    """The column of Canvas' gradebook, ``Title (number)``; empty: Canvas makes one of the label."""

    @property
    def points(self) -> float:
        """What the whole lab is worth, but for a bonus."""
        return sum(notebook.points for notebook in self.notebooks)

    @property
    def bonus(self) -> float:
        """What can be had beyond its points."""
        return sum(notebook.bonus for notebook in self.notebooks)

    @property
    def minutes(self) -> int:
        """How long the whole lab takes, about; 0: nobody has said."""
        return sum(notebook.minutes for notebook in self.notebooks)

    def due_for(self, *called: str) -> datetime | None:
        """When a student must hand in, who is ``called`` one of these (an id, a name).

        The order of first and last name, capitals and commas make no difference.
        """
        wanted = {_as_words(name) for name in called}
        for name, moment in self.extensions.items():
            if _as_words(name) in wanted:
                return moment
        return self.due

    def extended_to_nobody(self, called: Iterable[str]) -> list[str]:
        """Names with a later date that are none of those by which the class is ``called``."""
        known = {_as_words(name) for name in called}
        return [name for name in self.extensions if _as_words(name) not in known]


@dataclass(frozen=True)
class Course:
    """The course, and its labs by id, in the order in which they are taught."""

    name: str
    term: str
    zip_name: str
    labs: Mapping[str, Assignment]
    share: str = ""
    """The folder on the cluster into which releases go; empty: there is none."""
    release_url: str = ""
    """Where Colab finds the newest release; empty: students upload it."""
    sample: str = ""
    """The assignment whose sample class shows what grading does; empty: the first one."""
    canvas_url: str = ""
    """Where Canvas is; empty: its API is not used."""
    canvas_course: int = 0
    """The number of the course in Canvas."""

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
    course.allow("name", "term", "zip_name", "share", "release_url", "sample")
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
    canvas = content.table("canvas", {})
    canvas.allow("url", "course")
    canvas_url = canvas.get("url", str, "")
    if canvas_url and not re.fullmatch(
        r"https://\S+|http://(127\.0\.0\.1|localhost)\S*", canvas_url
    ):
        raise canvas.bad("url", f"url = {canvas_url!r} must look like https://canvas.school.edu")
    late = read_late(content.table("late")) if "late" in content.names else None
    sample = course.get("sample", str, "")
    if sample and sample not in labs.names:
        raise course.bad("sample", f"sample = {sample!r} is no assignment of this file")
    return Course(
        name=course.get("name", str),
        term=course.get("term", str),
        zip_name=zip_name,
        labs={lab_id: _lab(lab_id, labs, late) for lab_id in labs.names},
        share=share,
        release_url=url,
        sample=sample or next(iter(labs.names), ""),
        canvas_url=canvas_url,
        canvas_course=canvas.get("course", int, 0),
    )


def _lab(lab_id: str, labs: Table, late: LatePolicy | None) -> Assignment:
    table = labs.table(lab_id)
    if not re.fullmatch("[a-z0-9]+", lab_id):
        raise table.bad(None, "must be named with a-z and 0-9 only, as in mine1")
    table.allow(
        *("title", "label", "about", "builds_on", "open", "due", "notebooks", "extensions"),
        *("late", "canvas"),
    )
    canvas = table.get("canvas", str, "")
    if canvas and not re.fullmatch(r"\S.* \(\d+\)", canvas):
        text = "must be as in Canvas' export: a title, and a number in parentheses, Lab 1 (12345)"
        raise table.bad("canvas", f"canvas = {canvas!r} {text}")
    if "late" in table.names:
        late = read_late(table.table("late"), late or LatePolicy())
    notebooks = tuple(
        _notebook(place, entry, table) for place, entry in enumerate(table.get("notebooks", list))
    )
    names = [notebook.name for notebook in notebooks]
    if twice := {name for name in names if names.count(name) > 1}:
        raise table.bad("notebooks", f"lists notebook {min(twice)} twice")
    extensions = table.table("extensions", {})
    return Assignment(
        id=lab_id,
        title=table.get("title", str),
        label=table.get("label", str),
        notebooks=notebooks,
        about=table.get("about", str, ""),
        builds_on=_earlier(lab_id, labs, table),
        due=_moment(table, "due") if "due" in table.names else None,
        open=_moment(table, "open") if "open" in table.names else None,
        extensions={student: _moment(extensions, student) for student in extensions.names},
        late=late,
        canvas=canvas,
    )


def _earlier(lab_id: str, labs: Table, table: Table) -> tuple[str, ...]:
    """What a lab builds on; as all of it stands above, nothing builds on itself in a circle."""
    builds_on: list[str] = table.get("builds_on", list, [])
    above = labs.names[: labs.names.index(lab_id)]
    for other in builds_on:
        if other not in labs.names:
            known = f"one of {', '.join(above)}" if above else "no other: it is the first"
            raise table.bad("builds_on", f"builds on {other!r}, which is no lab; write {known}")
        if other not in above:
            text = "a lab can build only on labs above it, or they would build on one another in a"
            raise table.bad("builds_on", f"builds on {other}: {text} circle")
    return tuple(builds_on)


def _notebook(place: int, entry: object, lab: Table) -> Notebook:
    where = (*lab.path, "notebooks", place)
    if not isinstance(entry, dict):
        text = f'holds {entry!r}; write {{ name = "01_profiler", points = 4, minutes = 90 }}'
        raise Table({}, where).bad(None, text)
    table = Table(entry, where)
    table.allow("name", "points", "bonus", "minutes", "source", "until")
    name = table.get("name", str)
    if not re.fullmatch(_NAME, name):
        raise table.bad("name", f"name = {name!r} must look like 01_profiler")
    source = table.get("source", str, f"{lab.path[-1]}/{name}")
    if not re.fullmatch(f"[a-z0-9]+/{_NAME}", source):
        text = "the text solutions/mine/01_profiler.py is called mine/01_profiler"
        raise table.bad("source", f"has source = {source!r}, but {text}")
    minutes = table.get("minutes", int, 0)
    if "minutes" in table.names and minutes < 1:
        raise table.bad("minutes", f"minutes = {minutes} must be a whole number above 0")
    bonus = table.get("bonus", NUMBER, 0)
    if bonus < 0:
        raise table.bad("bonus", f"bonus = {bonus:g} cannot be less than 0")
    points, until = table.get("points", NUMBER), table.get("until", str, "")
    return Notebook(name, points, source, until, minutes, bonus)


def _moment(table: Table, key: str) -> datetime:
    moment: datetime = table.get(key, datetime)
    if moment.tzinfo is None:
        text = f"{key} = {moment} needs its distance to UTC, as in {moment.isoformat()}-04:00"
        raise table.bad(key, text)
    return moment


def _as_words(name: str) -> tuple[str, ...]:
    return tuple(sorted(re.findall(r"\w+", name.casefold())))
