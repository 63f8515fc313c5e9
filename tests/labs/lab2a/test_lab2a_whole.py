"""The whole way of Lab 2A: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.release.contents import make_release
from lab_utils.kit.root import ROOT
from tests.support.whole_way import grade, pack, solve, stock_grades, unpacked

LAB = "lab2a"
ANSWERS = {
    "q29": "cycles times area: a factor of two counts the same in both, so neither drowns.",
    "q34": "Overall Util is MACs / (cycles x PEs): it is made from the answer, after the run.",
}
POINTS = {
    **{"1.1": "0.5", "1.2": "0.5", "1.3": "0.5", "1.4": "0.5", "1.5": "0.5"},
    **{"2.1": "0.25", "2.2": "0.25", "2.3": "0.5", "2.4": "0.5", "2.5": "0.5", "2.6": "0.5"},
    **{"2.7": "0.25", "2.8": "0.5", "3.1": "0.25", "3.2": "0.5", "3.3": "1"},
}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB2A_SIZE", "small")  # as the packer and the grader run it
    archive = make_release().archive
    uploads = tmp_path / "uploads"
    uploads.mkdir()

    idle = unpacked(archive, tmp_path / "home of charles")
    path, told = pack(idle, LAB, "Charles", "Babbage", "--anyway")
    assert "gemm_of (Task 1.1) is still to be written" in told
    assert "Question 2.9 has no answer" in told
    assert "Public checks: 0 of 7.5 points. 0.5 points are graded by hand." in told
    shutil.move(path, uploads)

    work = unpacked(archive, tmp_path / "home of ada")
    for name in ("01_array", "02_search", "03_predict"):
        solve(work / "notebooks" / LAB / f"{name}.ipynb", LAB, ANSWERS)
    path, told = pack(work, LAB, "Ada", "Lovelace")
    assert "FAIL" not in told
    assert "WARN" not in told
    assert "Public checks: 7.5 of 7.5 points." in told
    shutil.move(path, uploads)

    outcomes, rows = grade(ROOT, LAB, uploads, tmp_path / "grades")
    points = {name: {task: row[task] for task in POINTS} for name, row in rows.items()}
    assert points == {"Lovelace Ada": POINTS, "Babbage Charles": dict.fromkeys(POINTS, "0")}
    assert rows["Lovelace Ada"]["remarks"] == "Still to be graded by hand: q29, q34."
    page = (outcomes / "feedback" / f"{rows['Lovelace Ada']['student']}.html").read_text("utf-8")
    assert "hidden cases" in page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_whatever_saved_the_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB2A_SIZE", "small")
    assert stock_grades(tmp_path, LAB) == {"jupyter": 1, "colab": 1, "vscode": 1, "unfilled": 0}
