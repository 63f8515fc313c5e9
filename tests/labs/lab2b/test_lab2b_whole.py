"""The whole way of Lab 2B: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.release.contents import make_release
from lab_utils.kit.root import ROOT
from tests.support.whole_way import grade, hand_in_as, pack, solve, stock_grades, unpacked

LAB = "lab2b"


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    archive = make_release().archive
    uploads = tmp_path / "uploads"
    uploads.mkdir()

    idle = unpacked(archive, tmp_path / "home of charles")
    path, told = pack(idle, LAB, "Charles", "Babbage", "--anyway")
    assert "misses (Task 1.1) is still to be written" in told
    assert "Public checks: 0 of 8 points." in told
    shutil.move(path, uploads)

    work = unpacked(archive, tmp_path / "home of ada")
    for name in ("01_hierarchy", "02_dataflow"):
        solve(work / "notebooks" / LAB / f"{name}.ipynb", LAB, {})
    path, told = pack(work, LAB, "Ada", "Lovelace")
    assert "FAIL" not in told
    assert "WARN" not in told
    assert "Public checks: 8 of 8 points." in told
    shutil.move(hand_in_as(path, "colab", "Grace", "Hopper"), uploads)
    shutil.move(hand_in_as(path, "vscode", "Alan", "Turing"), uploads)
    shutil.move(path, uploads)

    outcomes, rows = grade(ROOT, LAB, uploads, tmp_path / "grades")
    tasks = ("1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.2", "2.3", "2.4")
    points = {name: [row[task] for task in tasks] for name, row in rows.items()}
    right = ["1", "1", "0.5", "0.5", "1", "0.5", "1", "1.5", "1"]
    assert points == {
        **dict.fromkeys(("Lovelace Ada", "Hopper Grace", "Turing Alan"), right),
        "Babbage Charles": ["0"] * 9,
    }
    page = (outcomes / "feedback" / f"{rows['Lovelace Ada']['student']}.html").read_text("utf-8")
    assert "Right on 4 of 4 public cases and on 10 of 10 hidden cases." in page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_whatever_saved_the_notebook(tmp_path: Path) -> None:
    assert stock_grades(tmp_path, LAB) == {"jupyter": 1, "colab": 1, "vscode": 1, "unfilled": 0}
