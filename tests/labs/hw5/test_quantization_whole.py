"""The whole way of Homework 5's part B: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.release.contents import make_release
from lab_utils.kit.root import ROOT
from lab_utils.labs.hw5.tasks import integers, weights
from tests.support.whole_way import grade, hand_in_as, pack, solve, stock_grades, unpacked

LAB = "hw5"
NOTEBOOKS = ("04_weights", "05_integers")
ANSWERS = {
    "q43": "fc1 with 4 bits: 30.8 % at the largest weight, 16.3 % at 40 %. For 8 bits the largest.",
    "q410": "The range is learned too. It saturates; twice the range makes all steps coarser.",
    "q58": "Biases of a hundred beside sums of 30,000. Compare integers, layer by layer.",
}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    release = make_release()
    assert "lab_utils/labs/hw5/data/fashion_mnist.npz" in release.files
    assert "lab_utils/labs/hw5/data/fashion_mnist.md" in release.files
    uploads = tmp_path / "uploads"
    uploads.mkdir()

    idle = unpacked(release.archive, tmp_path / "home of manuel")
    path, told = pack(idle, LAB, "Manuel", "Blum", "--anyway")
    assert "weight_range (Task 4.1) is still to be written" in told
    shutil.move(path, uploads)

    work = unpacked(release.archive, tmp_path / "home of leslie")
    for name in NOTEBOOKS:
        solve(work / "notebooks" / LAB / f"{name}.ipynb", LAB, ANSWERS)
    path, _ = pack(work, LAB, "Leslie", "Valiant", "--anyway")
    shutil.move(hand_in_as(path, "colab", "Shafi", "Goldwasser"), uploads)
    shutil.move(hand_in_as(path, "vscode", "Adi", "Shamir"), uploads)
    shutil.move(path, uploads)

    _, rows = grade(ROOT, LAB, uploads, tmp_path / "grades")
    for task in (*weights.TASKS, *integers.TASKS):
        for name in ("Valiant Leslie", "Goldwasser Shafi", "Shamir Adi"):
            assert float(rows[name][task.id]) == task.points, (name, task.id)
        assert float(rows["Blum Manuel"][task.id]) == 0, task.id
    for question in ANSWERS:
        assert question in rows["Valiant Leslie"]["remarks"]


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_whatever_saved_the_notebook(tmp_path: Path) -> None:
    assert stock_grades(tmp_path, LAB) == {"jupyter": 1, "colab": 1, "vscode": 1, "unfilled": 0}
