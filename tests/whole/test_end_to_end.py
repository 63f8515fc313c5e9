"""The whole way of a hand-in: release, unpack, solve, pack, collect, grade: 10 of 10."""

from __future__ import annotations

import csv
import io
import shutil
import zipfile
from pathlib import Path

import nbformat
import pytest

from lab_utils.kit.course import read_course
from lab_utils.kit.lab import handed_in
from tests.support.released import released
from tests.support.sample_course import ROOT, solved_by_a_student
from tests.support.whole_way import python

LAB = read_course().lab("lab4a")


def unpacked(folder: Path) -> Path:
    """A release in a folder of a student's; the folder of the lab's notebooks."""
    release = released()
    with zipfile.ZipFile(io.BytesIO(release.archive)) as archive:
        archive.extractall(folder)
    return folder / release.name / "notebooks" / LAB.id


def solve(work: Path) -> None:
    """Write our solutions into the student's cells, and the graphs that they write beside them."""
    for name, notebook in solved_by_a_student(LAB.id).items():
        nbformat.write(notebook, work / f"{name}.ipynb")
    for file in handed_in(LAB.id):
        shutil.copy(ROOT / "autograder" / "reference" / file.name, work)


def pack(work: Path, first: str, last: str, *options: str) -> Path:
    names = ("--first", first, "--last", last)
    printed = python("lab_utils", "pack", *names, *options, cwd=work, code=work.parents[1])
    assert "Written, opened again and compared" in printed
    (path,) = work.glob("*.zip")
    assert path.name == read_course().zip_file_name(LAB.id, first=first, last=last)
    if not options:
        assert "FAIL" not in printed
        assert "WARN" not in printed
        assert f"Public checks: {LAB.points:g} of {LAB.points:g} points." in printed
    return path


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    idle = unpacked(tmp_path / "home of charles")
    shutil.move(pack(idle, "Charles", "Babbage", "--anyway", "--no-run"), uploads)
    work = unpacked(tmp_path / "home of ada")
    solve(work)
    shutil.move(pack(work, "Ada", "Lovelace"), uploads)
    into = tmp_path / "grades"
    python(
        "autograder",
        "grade",
        LAB.id,
        "--from",
        str(uploads),
        "--into",
        str(into),
        cwd=tmp_path,
        code=ROOT,
    )
    (table,) = into.rglob("grades.csv")
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    points = {row["name"]: float(row["total"]) for row in rows}
    assert points == {"Babbage Charles": 0, "Lovelace Ada": LAB.points}
    assert [row["remarks"] for row in rows if row["name"] == "Lovelace Ada"] == [""]
