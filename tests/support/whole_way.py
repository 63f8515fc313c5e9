"""A student's way from a release to a zip, and an instructor's to a table of grades."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.notebooknode import NotebookNode

from lab_utils.kit.lab import lab_called
from lab_utils.kit.root import ROOT
from tests.support.released import released
from tests.support.sample_course import (
    as_colab,
    as_vscode,
    autograde,
    copy_course,
    fill,
    folder_of,
    full_marks,
    submit,
)
from tests.support.solved_cells import solution_cells

Save = Callable[[NotebookNode], NotebookNode]
DIALECTS: Mapping[str, Save] = {"jupyter": deepcopy, "colab": as_colab, "vscode": as_vscode}
"""How front ends save a notebook."""


def python(*arguments: str, cwd: Path, code: Path) -> str:
    """Run Python as a student or an instructor would, with the ``code`` of their folder."""
    result = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env=_environment(cwd, code),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def _environment(cwd: Path, code: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(code), "XDG_CONFIG_HOME": str(cwd / ".config")}


def unpacked(archive: bytes, folder: Path) -> Path:
    """A release in a student's folder."""
    with zipfile.ZipFile(io.BytesIO(archive)) as zipped:
        zipped.extractall(folder)
    (release,) = folder.iterdir()
    return release


def solve(notebook: Path, lab: str, answers: Mapping[str, str]) -> None:
    """Fill in the cells, put ``answers`` (by ``grade_id``) below their questions, and run it."""
    book = fill(nbformat.read(notebook, as_version=4), solution_cells(lab))
    for question, text in answers.items():
        ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in book.cells]
        if question in ids:
            book.cells.insert(ids.index(question) + 1, nbformat.v4.new_markdown_cell(text))
    here = notebook.parent
    client = NotebookClient(book, timeout=None, resources={"metadata": {"path": str(here)}})
    client.execute(env=_environment(here, notebook.parents[2]))
    nbformat.write(book, notebook)


def pack(release: Path, lab: str, first: str, last: str, *options: str) -> tuple[Path, str]:
    """The zip that the packer writes, and what it tells."""
    work = release / "notebooks" / lab
    names = ("--first", first, "--last", last)
    told = python("lab_utils", "pack", lab, *names, *options, cwd=work, code=release)
    (path,) = work.glob("*.zip")
    return path, told


def hand_in_as(packed: Path, dialect: str, first: str, last: str) -> Path:
    """The same hand-in by somebody whose front end saves notebooks in its own ``dialect``."""
    save = DIALECTS[dialect]
    owner = packed.stem.split()[:2]
    path = packed.with_name(packed.name.replace(" ".join(owner), f"{last} {first}"))
    with zipfile.ZipFile(packed) as read, zipfile.ZipFile(path, "w") as written:
        for name in read.namelist():
            content = read.read(name)
            if name.endswith(".ipynb"):
                book = nbformat.reads(content.decode(), as_version=nbformat.NO_CONVERT)
                text = nbformat.writes(save(book), version=nbformat.NO_CONVERT)
                content = text.encode()
            written.writestr(name, content)
    return path


def stock_grades(course: Path, lab: str, dialects: Sequence[str]) -> dict[str, float]:
    """The share of the points that plain ``nbgrader autograde`` gives, by hand-in.

    The solved notebooks are handed in as these front ends save them, and the unfilled ones;
    ``course`` is an empty folder.
    """
    copy_course(course)
    for name in ("solutions", "notebooks"):
        shutil.copytree(ROOT / name, course / name, dirs_exist_ok=True)
    solved, unfilled = (folder_of(course / step, lab) for step in ("solutions", "notebooks"))
    for dialect in dialects:
        saved = {name: DIALECTS[dialect](book) for name, book in solved.items()}
        submit(course, lab, dialect, saved)
    submit(course, lab, "unfilled", unfilled)
    wanted = full_marks(solved)
    return {
        student: sum(scores[name] or 0 for name in wanted) / sum(wanted.values())
        for student, scores in autograde(course, lab).items()
    }


def grade(
    repository: Path, lab: str, uploads: Path, into: Path
) -> tuple[Path, dict[str, dict[str, str]]]:
    """Grade what was uploaded; the folder of the outcomes, and the rows of grades.csv by name."""
    options = ("--from", str(uploads), "--into", str(into), "--jobs", "1")
    python("autograder", "grade", lab, *options, cwd=into.parent, code=repository)
    (table,) = into.rglob("grades.csv")
    with table.open(encoding="utf-8") as file:
        return table.parent, {row["name"]: row for row in csv.DictReader(file)}


class WholeWay(NamedTuple):
    """What was told and written on the way from a release to a table of grades."""

    idle: str
    """What the packer tells Charles Babbage, who has filled in nothing."""
    packed: str
    """What it tells Ada Lovelace, who has filled in everything."""
    rows: dict[str, dict[str, str]]
    """Rows of grades.csv by name; Grace Hopper hands in what Ada wrote, as Colab saves it."""
    page: str
    """Ada's feedback."""

    def points(self, name: str, *tasks: str) -> list[str]:
        """What somebody has for some tasks, as it stands in the table."""
        return [self.rows[name][task] for task in tasks]


SOLVED = ("Lovelace Ada", "Hopper Grace")


def whole_way(
    folder: Path, lab: str, answers: Mapping[str, str], idle_options: Sequence[str] = ()
) -> WholeWay:
    """Release, unpack, solve, pack, collect, grade, with what must hold for every lab.

    Who has filled in everything has all points, in Jupyter and in Colab; who has not, none. (As
    VS Code saves it, it goes through stock nbgrader: ``assert_stock_nbgrader_agrees``.)
    ``answers`` are those to questions that a person grades, by ``grade_id``; ``idle_options``
    are for the packer of who has filled in nothing.
    """
    uploads = folder / "uploads"
    uploads.mkdir()

    release = unpacked(released().archive, folder / "home")
    path, idle = pack(release, lab, "Charles", "Babbage", "--anyway", *idle_options)
    shutil.move(path, uploads)

    for notebook in sorted((release / "notebooks" / lab).glob("*.ipynb")):
        solve(notebook, lab, answers)
    path, packed = pack(release, lab, "Ada", "Lovelace")
    assert "FAIL" not in packed
    assert "WARN" not in packed
    for file in lab_called(lab).files:
        state = "is there" if file.measured else "is what the notebooks write"
        assert f"{file.name} {state}" in packed
    shutil.move(hand_in_as(path, "colab", "Grace", "Hopper"), uploads)
    shutil.move(path, uploads)

    outcomes, rows = grade(ROOT, lab, uploads, folder / "grades")
    for task in lab_called(lab).tasks:
        for name in SOLVED:
            assert float(rows[name][task.id]) == task.points, (name, task.id)
        assert float(rows["Babbage Charles"][task.id]) == 0, task.id
    by_hand = f"Still to be graded by hand: {', '.join(answers)}." if answers else ""
    for name in SOLVED:
        assert rows[name]["remarks"] == by_hand, name
    student = rows["Lovelace Ada"]["student"]
    page = (outcomes / "feedback" / f"{student}.html").read_text("utf-8")
    return WholeWay(idle, packed, rows, page)


def assert_stock_nbgrader_agrees(
    course: Path, lab: str, dialects: Sequence[str] = ("vscode",)
) -> None:
    """Plain ``nbgrader autograde`` gives solved notebooks all points, and unfilled ones none.

    But for those of tables that somebody measured: only notebooks are handed in here.
    """
    tasks = lab_called(lab).tasks
    measured = {file.name for file in lab_called(lab).files if file.measured}
    lost = sum(task.points for task in tasks if task.asks in measured)
    share = 1 - lost / sum(task.points for task in tasks)
    wanted = {**dict.fromkeys(dialects, share), "unfilled": 0}
    assert stock_grades(course, lab, dialects) == pytest.approx(wanted)
