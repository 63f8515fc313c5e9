"""The whole way of Lab 3A: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.whole_way import assert_stock_nbgrader_agrees, whole_way

LAB = "lab3a"
ANSWERS = {"q18": "gelu, 0.8 of 0.1 ms: it is many instructions. view: a call. Fuse gelu with up."}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    way = whole_way(tmp_path, LAB, ANSWERS)
    assert "transform (Task 1.1) is still to be written" in way.idle
    assert "nodes.csv is missing" in way.idle
    assert "Public checks: 0 of 7.75 points. 0.25 points are graded by hand." in way.idle
    assert "Public checks: 7.75 of 7.75 points." in way.packed
    assert "Right on 4 of 4 public cases and on 6 of 6 hidden cases." in way.page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same(tmp_path: Path) -> None:
    assert_stock_nbgrader_agrees(tmp_path, LAB)
