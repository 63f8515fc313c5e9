"""A student's way from a release to a zip, and an instructor's to a table of grades."""

from __future__ import annotations

import csv
import io
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path

import nbformat
from nbformat.notebooknode import NotebookNode

from lab_utils.kit.root import ROOT
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


def python(*arguments: str, cwd: Path, code: Path) -> str:
    """Run Python as a student or an instructor would, with the ``code`` of their folder."""
    result = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(code), "XDG_CONFIG_HOME": str(cwd / ".config")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


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
    nbformat.write(book, notebook)
    command = ("nbconvert", "--to", "notebook", "--execute", "--inplace", notebook.name)
    python(*command, cwd=notebook.parent, code=notebook.parents[2])


def pack(release: Path, lab: str, first: str, last: str, *options: str) -> tuple[Path, str]:
    """The zip that the packer writes, and what it tells."""
    work = release / "notebooks" / lab
    names = ("--first", first, "--last", last)
    told = python("lab_utils", "pack", lab, *names, *options, cwd=work, code=release)
    (path,) = work.glob("*.zip")
    return path, told


def hand_in_as(packed: Path, dialect: str, first: str, last: str) -> Path:
    """The same hand-in by somebody whose front end saves notebooks in its own ``dialect``."""
    save = {"colab": as_colab, "vscode": as_vscode}[dialect]
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


def stock_grades(course: Path, lab: str) -> dict[str, float]:
    """The share of the points that plain ``nbgrader autograde`` gives, by hand-in.

    The solved notebooks are handed in as three front ends save them, and the unfilled ones;
    ``course`` is an empty folder.
    """
    copy_course(course)
    for name in ("solutions", "notebooks"):
        shutil.copytree(ROOT / name, course / name, dirs_exist_ok=True)
    solved, unfilled = (folder_of(course / step, lab) for step in ("solutions", "notebooks"))
    dialects: dict[str, Callable[[NotebookNode], NotebookNode]] = {
        "jupyter": deepcopy,
        "colab": as_colab,
        "vscode": as_vscode,
    }
    for dialect, save in dialects.items():
        submit(course, lab, dialect, {name: save(book) for name, book in solved.items()})
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
    names = ("--from", str(uploads), "--into", str(into))
    python("autograder", "grade", lab, *names, cwd=into.parent, code=repository)
    (table,) = into.rglob("grades.csv")
    with table.open(encoding="utf-8") as file:
        return table.parent, {row["name"]: row for row in csv.DictReader(file)}
