"""The whole way of Lab 0: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.whole_way import DIALECTS, SOLVED, assert_stock_nbgrader_agrees, whole_way

LAB = "lab0"
ANSWERS = {"q13": "700 GB, 350 GB and 175 GB: 9, 5 and 3 GPUs. Training also holds activations."}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    way = whole_way(tmp_path, LAB, ANSWERS)
    assert "tensor_bytes (Task 1.1) is still to be written" in way.idle
    assert "Question 1.3 has no answer" in way.idle
    assert "bytes.csv is missing" in way.idle
    assert "Public checks: 0 of 0.75 points. 0.25 points are graded by hand." in way.idle
    assert "Public checks: 0.75 of 0.75 points." in way.packed
    for name in SOLVED:
        assert way.points(name, "1.1", "1.2", "q13") == ["0.5", "0.25", ""]
    assert way.points("Babbage Charles", "1.1", "1.2", "q13") == ["0", "0", ""]
    assert "Right on 4 of 4 public tensors and on 6 of 6 hidden tensors." in way.page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same_whatever_saved_the_notebook(tmp_path: Path) -> None:
    assert_stock_nbgrader_agrees(tmp_path, LAB, list(DIALECTS))
