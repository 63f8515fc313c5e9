"""The whole way of Homework 5: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.release.contents import make_release
from lab_utils.kit.course import read_course
from lab_utils.kit.root import ROOT
from lab_utils.labs.hw5 import LAB as TASKS
from tests.support.whole_way import grade, hand_in_as, pack, solve, stock_grades, unpacked

LAB = "hw5"
NOTEBOOKS = [part.name for part in read_course().labs[LAB].notebooks]
QUESTIONS = ("q13", "q16", "q33", "q35", "q37", "q39", "q44", "q411", "q58")
ANSWERS = dict.fromkeys(QUESTIONS, "Launches cost the same for 32 and for 512 images.")
DATA = "lab_utils/labs/hw5/data/fashion_mnist"


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HW5_SIZE", "small")
    release = make_release()
    archive = release.archive
    assert {f"{DATA}.npz", f"{DATA}.md"} <= set(release.files)
    uploads = tmp_path / "uploads"
    uploads.mkdir()

    idle = unpacked(archive, tmp_path / "home of charles")
    path, told = pack(idle, LAB, "Charles", "Babbage", "--anyway")
    assert "timed_epoch (Task 1.1) is still to be written" in told
    shutil.move(path, uploads)

    work = unpacked(archive, tmp_path / "home of ada")
    for name in NOTEBOOKS:
        solve(work / "notebooks" / LAB / f"{name}.ipynb", LAB, ANSWERS)
    path, told = pack(work, LAB, "Ada", "Lovelace")
    assert "FAIL" not in told
    shutil.move(hand_in_as(path, "colab", "Grace", "Hopper"), uploads)
    shutil.move(path, uploads)

    outcomes, rows = grade(ROOT, LAB, uploads, tmp_path / "grades")
    for task in TASKS.tasks:
        for name in ("Lovelace Ada", "Hopper Grace"):
            assert float(rows[name][task.id]) == task.points, (name, task.id)
        assert float(rows["Babbage Charles"][task.id]) == 0, task.id
    page = (outcomes / "feedback" / f"{rows['Lovelace Ada']['student']}.html").read_text("utf-8")
    assert "Right on 5 of 5 public cases and on 12 of 12 hidden cases." in page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HW5_SIZE", "small")
    measured = sum(task.points for task in TASKS.tasks if task.is_of_file)  # not handed in here
    share = 1 - measured / sum(task.points for task in TASKS.tasks)
    wanted = {"vscode": share, "unfilled": 0}
    assert stock_grades(tmp_path, LAB, ["vscode"]) == pytest.approx(wanted)
