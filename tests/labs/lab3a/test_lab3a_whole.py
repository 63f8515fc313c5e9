"""The whole way of Lab 3A: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.release.contents import make_release
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab3a import LAB
from tests.support.whole_way import grade, hand_in_as, pack, solve, stock_grades, unpacked

ANSWERS = {"q18": "gelu, 0.8 of 0.1 ms: it is many instructions. view: a call. Fuse gelu with up."}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    archive = make_release().archive
    uploads = tmp_path / "uploads"
    uploads.mkdir()

    idle = unpacked(archive, tmp_path / "home of charles")
    path, told = pack(idle, "lab3a", "Charles", "Babbage", "--anyway")
    assert "transform (Task 1.1) is still to be written" in told
    assert "nodes.csv is missing" in told
    assert "Public checks: 0 of 7.75 points. 0.25 points are graded by hand." in told
    shutil.move(path, uploads)

    work = unpacked(archive, tmp_path / "home of ada")
    solve(work / "notebooks" / "lab3a" / "01_graph.ipynb", "lab3a", ANSWERS)
    path, told = pack(work, "lab3a", "Ada", "Lovelace")
    assert "FAIL" not in told
    assert "WARN" not in told
    for file in LAB.files:
        assert f"{file.name} is what the notebooks write" in told
    assert "Public checks: 7.75 of 7.75 points." in told
    shutil.move(hand_in_as(path, "colab", "Grace", "Hopper"), uploads)
    shutil.move(hand_in_as(path, "vscode", "Alan", "Turing"), uploads)
    shutil.move(path, uploads)

    outcomes, rows = grade(ROOT, "lab3a", uploads, tmp_path / "grades")
    for task in LAB.tasks:
        for name in ("Lovelace Ada", "Hopper Grace", "Turing Alan"):
            assert float(rows[name][task.id]) == task.points, (name, task.id)
        assert float(rows["Babbage Charles"][task.id]) == 0
    assert rows["Lovelace Ada"]["remarks"] == "Still to be graded by hand: q18."
    page = (outcomes / "feedback" / f"{rows['Lovelace Ada']['student']}.html").read_text("utf-8")
    assert "Right on 4 of 4 public cases and on 6 of 6 hidden cases." in page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_whatever_saved_the_notebook(tmp_path: Path) -> None:
    wanted = {"jupyter": 1, "colab": 1, "vscode": 1, "unfilled": 0}
    assert stock_grades(tmp_path, "lab3a") == wanted
