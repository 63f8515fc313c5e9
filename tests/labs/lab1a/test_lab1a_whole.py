"""The whole way of Lab 1A: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.release.contents import make_release
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab1a import LAB
from tests.support.whole_way import grade, hand_in_as, pack, solve, stock_grades, unpacked

ANSWERS = {
    "q28": "Hardly: the ridges are 161 and 147. At batch 1 bandwidth; later operations, and memory."
}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    archive = make_release().archive
    uploads = tmp_path / "uploads"
    uploads.mkdir()

    idle = unpacked(archive, tmp_path / "home of charles")
    path, told = pack(idle, "lab1a", "Charles", "Babbage", "--anyway")
    assert "elements (Task 1.1) is still to be written" in told
    assert "output_a3i.csv is missing" in told
    assert "Public checks: 0 of 7.5 points. 0.5 points are graded by hand." in told
    shutil.move(path, uploads)

    work = unpacked(archive, tmp_path / "home of ada")
    for notebook in sorted((work / "notebooks" / "lab1a").glob("0*.ipynb")):
        solve(notebook, "lab1a", ANSWERS)
    path, told = pack(work, "lab1a", "Ada", "Lovelace")
    assert "FAIL" not in told
    assert "WARN" not in told
    for file in LAB.files:
        assert f"{file.name} is what the notebooks write" in told
    assert "Public checks: 7.5 of 7.5 points." in told
    shutil.move(hand_in_as(path, "colab", "Grace", "Hopper"), uploads)
    shutil.move(hand_in_as(path, "vscode", "Alan", "Turing"), uploads)
    shutil.move(path, uploads)

    outcomes, rows = grade(ROOT, "lab1a", uploads, tmp_path / "grades")
    for task in LAB.tasks:
        for name in ("Lovelace Ada", "Hopper Grace", "Turing Alan"):
            assert float(rows[name][task.id]) == task.points, (name, task.id)
        assert float(rows["Babbage Charles"][task.id]) == 0
    assert rows["Lovelace Ada"]["remarks"] == "Still to be graded by hand: q28."
    page = (outcomes / "feedback" / f"{rows['Lovelace Ada']['student']}.html").read_text("utf-8")
    assert "Right on 3 of 3 public cases and on 7 of 7 hidden cases." in page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_whatever_saved_the_notebook(tmp_path: Path) -> None:
    assert stock_grades(tmp_path, "lab1a") == {"jupyter": 1, "colab": 1, "vscode": 1, "unfilled": 0}
