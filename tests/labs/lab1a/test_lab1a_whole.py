"""The whole way of Lab 1A: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.whole_way import assert_stock_nbgrader_agrees, whole_way

LAB = "lab1a"
ANSWERS = {
    "q28": "Hardly: the ridges are 161 and 147. At batch 1 bandwidth; later operations, and memory."
}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    way = whole_way(tmp_path, LAB, ANSWERS)
    assert "elements (Task 1.1) is still to be written" in way.idle
    assert "output_a3i.csv is missing" in way.idle
    assert "Public checks: 0 of 7.5 points. 0.5 points are graded by hand." in way.idle
    assert "Public checks: 7.5 of 7.5 points." in way.packed
    assert "Right on 3 of 3 public cases and on 7 of 7 hidden cases." in way.page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same(tmp_path: Path) -> None:
    assert_stock_nbgrader_agrees(tmp_path, LAB)
