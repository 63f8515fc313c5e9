"""The whole way of Lab 1B: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.release.contents import make_release
from lab_utils.kit.lab import lab_called
from lab_utils.kit.root import ROOT
from tests.support.whole_way import grade, hand_in_as, pack, solve, stock_grades, unpacked

LAB = "lab1b"
ANSWERS = {"q14": "Only the scores are large. With few tokens the products wait for their weights."}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    archive = make_release().archive
    uploads = tmp_path / "uploads"
    uploads.mkdir()

    idle = unpacked(archive, tmp_path / "home of charles")
    path, told = pack(idle, LAB, "Charles", "Babbage", "--anyway")
    assert "traffic (Task 1.1) is still to be written" in told
    assert "Question 1.4 has no answer" in told
    assert "Public checks: 0 of 7.5 points and a bonus of 1. 0.5 points are graded" in told
    assert "output_b1.csv is missing" in told
    shutil.move(path, uploads)

    work = unpacked(archive, tmp_path / "home of ada")
    for name in ("01_fusion", "02_tiling"):
        solve(work / "notebooks" / LAB / f"{name}.ipynb", LAB, ANSWERS)
    path, told = pack(work, LAB, "Ada", "Lovelace")
    assert "FAIL" not in told
    assert "WARN" not in told
    assert "Public checks: 8.5 of 7.5 points and a bonus of 1." in told
    for file in lab_called(LAB).files:
        assert f"{file.name} is what the notebooks write" in told
    shutil.move(hand_in_as(path, "colab", "Grace", "Hopper"), uploads)
    shutil.move(hand_in_as(path, "vscode", "Alan", "Turing"), uploads)
    shutil.move(path, uploads)

    outcomes, rows = grade(ROOT, LAB, uploads, tmp_path / "grades")
    tasks = ("1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6", "q14")
    points = {name: [row[task] for task in tasks] for name, row in rows.items()}
    right = ["1.5", "0.5", "1.5", "1.5", "1", "1", "0.5", "0.5", "0.5", ""]
    assert points == {
        **dict.fromkeys(("Lovelace Ada", "Hopper Grace", "Turing Alan"), right),
        "Babbage Charles": [*["0"] * 9, ""],
    }
    assert {row["out_of"] for row in rows.values()} == {"8"}
    assert rows["Lovelace Ada"]["remarks"] == "Still to be graded by hand: q14."
    page = (outcomes / "feedback" / f"{rows['Lovelace Ada']['student']}.html").read_text("utf-8")
    assert "Right on 4 of 4 public cases and on 12 of 12 hidden cases." in page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_whatever_saved_the_notebook(tmp_path: Path) -> None:
    assert stock_grades(tmp_path, LAB) == {"jupyter": 1, "colab": 1, "vscode": 1, "unfilled": 0}
