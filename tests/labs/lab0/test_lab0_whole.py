"""The whole way of Lab 0: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.release.contents import make_release
from lab_utils.kit.root import ROOT
from tests.support.whole_way import grade, pack, solve, unpacked

LAB = "lab0"
ANSWERS = {"q13": "700 GB, 350 GB and 175 GB: 9, 5 and 3 GPUs. Training also holds activations."}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    archive = make_release().archive
    uploads = tmp_path / "uploads"
    uploads.mkdir()

    idle = unpacked(archive, tmp_path / "home of charles")
    path, told = pack(idle, LAB, "Charles", "Babbage", "--anyway")
    assert "tensor_bytes (Task 1.1) is still to be written" in told
    assert "Question 1.3 has no answer" in told
    assert "bytes.csv is missing" in told
    assert "Public checks: 0 of 0.75 points. 0.25 points are graded by hand." in told
    shutil.move(path, uploads)

    work = unpacked(archive, tmp_path / "home of ada")
    solve(work / "notebooks" / LAB / "01_first_steps.ipynb", LAB, ANSWERS)
    path, told = pack(work, LAB, "Ada", "Lovelace")
    assert "FAIL" not in told
    assert "WARN" not in told
    assert "bytes.csv is what the notebooks write" in told
    assert "Public checks: 0.75 of 0.75 points." in told
    shutil.move(path, uploads)

    outcomes, rows = grade(ROOT, LAB, uploads, tmp_path / "grades")
    points = {name: [row["1.1"], row["1.2"], row["q13"]] for name, row in rows.items()}
    assert points == {"Lovelace Ada": ["0.5", "0.25", ""], "Babbage Charles": ["0", "0", ""]}
    assert rows["Lovelace Ada"]["remarks"] == "Still to be graded by hand: q13."
    page = (outcomes / "feedback" / f"{rows['Lovelace Ada']['student']}.html").read_text("utf-8")
    assert "Right on 4 of 4 public tensors and on 9 of 9 hidden tensors." in page
