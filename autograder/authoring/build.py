"""Builds notebooks from their text sources; see ``command`` for ``make notebooks``.

=======================================  ====================================================
``solutions/<lab>/01_profiler.py``       the source, edited by hand (see ``cells``)
``solutions/<lab>/01_profiler.ipynb``    derived: the solved notebook
``solutions/<lab>/images/``              pictures: .svg derived, .png taken by hand
``notebooks/<lab>/``                     derived: what students get, through nbgrader's own
                                         generate_assignment, and a copy of the pictures
=======================================  ====================================================

A notebook of one lab may be built from the source of another (``source`` in course.toml): its
title and points are then its own, and it may end early.

Nothing of a notebook is run, and no gradebook is touched. The same sources give the same
bytes, whatever the machine.
"""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbformat.notebooknode import NotebookNode
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.authoring.adapt import adapt, points_and_bonus
from autograder.authoring.cells import solved_notebook
from autograder.authoring.frame import add_frame
from lab_utils.kit.course import Course, Notebook, read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.hand_in.report import points_in_words
from lab_utils.kit.root import ROOT

EXTRAS = ("images",)  # folders of a lab, beside its notebooks, that students get as they are
DERIVED = (
    "solutions/*/*.ipynb",
    "notebooks/*/*.ipynb",
    *(f"notebooks/*/{folder}/**/*" for folder in EXTRAS),
)

Files = dict[str, bytes]
"""Contents by path below the root."""


def derive(root: Path = ROOT) -> Files:
    """Every file that is made from the sources below ``root``; nothing is written there.

    Raises:
        LabError: a source has a mistake, or a file lies where it would leak to students.
    """
    course = read_course(root / "setup" / "course.toml")
    config = _nbgrader_config(root)
    with TemporaryDirectory(prefix="notebooks-") as folder:
        copy = Path(folder).resolve()
        for path, content in (_solved(course, root) | _extras(course, root, config)).items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_bytes(content)
        config.CourseDirectory.root = str(copy)
        config.GenerateAssignment.no_database = True
        config.SaveCells.enabled = False
        for lab in course.labs:
            if any(copy.glob(f"solutions/{lab}/*.ipynb")):
                _generate_assignment(lab, config)
        return {
            path.relative_to(copy).as_posix(): path.read_bytes() for path in _derived_files(copy)
        }


def stale(root: Path, wanted: Files) -> list[str]:
    """What differs between ``wanted`` and the files below ``root``, one line for each file."""
    found = {path.relative_to(root).as_posix(): path for path in _derived_files(root)}
    return (
        [f"{path} is missing" for path in sorted(wanted.keys() - found.keys())]
        + [f"{path} has no source any more" for path in sorted(found.keys() - wanted.keys())]
        + [
            f"{path} differs from its source"
            for path in sorted(wanted.keys() & found.keys())
            if found[path].read_bytes() != wanted[path]
        ]
    )


def write(root: Path, wanted: Files) -> None:
    """Make the derived files below ``root`` what is ``wanted``; leave others alone."""
    for path in _derived_files(root):
        if path.relative_to(root).as_posix() not in wanted:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()
    for name, content in wanted.items():
        path = root / name
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def build(root: Path = ROOT, check: bool = False) -> list[str]:
    """Make the notebooks below ``root`` what their sources say; what was stale, one line each.

    With ``check`` nothing is written.

    Raises:
        LabError: a source has a mistake; nothing is written.
    """
    wanted = derive(root)
    differences = stale(root, wanted)
    if not check:
        write(root, wanted)
    return differences


def register(lab: str, root: Path = ROOT, db_url: str | None = None) -> None:
    """Tell a gradebook (that of ``root``, unless given) which cells a lab has.

    What nbgrader knows of a lab that it knew before is replaced.

    Raises:
        LabError: nbgrader refuses, as it does when submissions have other cells.
    """
    config = _nbgrader_config(root)
    if db_url:
        config.CourseDirectory.db_url = db_url
    with TemporaryDirectory(prefix="notebooks-") as folder:
        config.CourseDirectory.release_directory = folder
        _generate_assignment(lab, config)


def _solved(course: Course, root: Path) -> Files:
    solved: Files = {}
    sources = {
        path.relative_to(root / "solutions").with_suffix("").as_posix(): path
        for path in sorted((root / "solutions").glob("*/*.py"))
    }
    used = set()
    for lab in course.labs.values():
        for notebook in lab.notebooks:
            used.add(notebook.source)
            path = sources.get(notebook.source)
            if path is None:
                raise LabError(
                    f"solutions/{notebook.source}.py is not there, though setup/course.toml lists "
                    f"notebook {notebook.name} of {lab.id}: write it, or take it out of the list"
                )
            where = path.relative_to(root).as_posix()
            built = solved_notebook(path.read_text(encoding="utf-8"), where, notebook.home)
            if notebook.home != lab.id or notebook.until:
                adapt(built, lab, notebook, where)
            else:
                _check_points(built, notebook, where)
            add_frame(built, course, lab, notebook)
            text = nbformat.writes(built, version=nbformat.NO_CONVERT)
            solved[f"solutions/{lab.id}/{notebook.name}.ipynb"] = f"{text}\n".encode()
    for name in sorted(sources.keys() - used):
        if not re.match(r"\w+/\d\d[a-z]?_", name):
            continue  # no notebook's source
        raise LabError(f"solutions/{name}.py:1: setup/course.toml lists no such notebook")
    return solved


def _check_points(built: NotebookNode, notebook: Notebook, where: str) -> None:
    """A notebook is worth what the course says that it is worth, and so is its bonus."""
    worth, bonus = points_and_bonus(built)
    if abs(worth - notebook.points) > 1e-6:
        raise LabError(
            f"{where}: its graded cells are worth {points_in_words(worth)} together, but "
            f"setup/course.toml says {notebook.points:g}: make them add up"
        )
    if abs(bonus - notebook.bonus) > 1e-6:
        raise LabError(
            f"{where}: its cells with `bonus` are worth {points_in_words(bonus)} together, but "
            f"setup/course.toml says bonus = {notebook.bonus:g}: make them the same"
        )


def _extras(course: Course, root: Path, config: Config) -> Files:
    own = {lab: _extras_in(root / "solutions" / lab, root, config) for lab in course.labs}
    extras = {
        f"solutions/{lab}/{name}": c for lab, files in own.items() for name, c in files.items()
    }
    for lab in course.labs.values():  # a notebook brings its pictures along
        for home in [*(notebook.home for notebook in lab.notebooks), lab.id]:
            extras |= {f"solutions/{lab.id}/{name}": c for name, c in own.get(home, {}).items()}
    return extras


def _extras_in(folder: Path, root: Path, config: Config) -> Files:
    """The files of one lab that students get as they are, by their path in its folder."""
    extras: Files = {}
    if folder.is_dir():
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder)
            ignored = any(
                fnmatch(part, glob)
                for part in inside.parts
                for glob in config.CourseDirectory.ignore
            )
            if not path.is_file() or ignored or inside.match("*.ipynb"):
                continue
            if inside.parts[0] not in EXTRAS:
                raise LabError(
                    f"{path.relative_to(root).as_posix()}: nbgrader would give this to students; "
                    f"delete it, or move it into {' or '.join(EXTRAS)}/ if they should have it"
                )
            extras[inside.as_posix()] = path.read_bytes()
    return extras


def _derived_files(root: Path) -> list[Path]:
    found = {path for glob in DERIVED for path in root.glob(glob) if path.is_file()}
    hidden = {path for path in found if ".ipynb_checkpoints" in path.parts}
    return sorted(found - hidden)


def _nbgrader_config(root: Path) -> Config:
    return PyFileConfigLoader("nbgrader_config.py", str(root / "autograder")).load_config()


def _generate_assignment(lab: str, config: Config) -> None:
    course = CourseDirectory(config=config, assignment_id=lab)
    try:
        GenerateAssignment(coursedir=course, config=config).start()
    except NbGraderException as error:
        raise LabError(f"nbgrader cannot make a release of {lab}: {error}") from error
