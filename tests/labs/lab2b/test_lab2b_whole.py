"""The whole way of Lab 2B: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.whole_way import SOLVED, assert_stock_nbgrader_agrees, whole_way

LAB = "lab2b"
POINTS = {
    **{"1.1": "1", "1.2": "1", "1.3": "0.5", "1.4": "0.5", "1.5": "1"},
    **{"2.1": "0.5", "2.2": "1", "2.3": "1.5", "2.4": "1"},
}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    way = whole_way(tmp_path, LAB, {})
    assert "misses (Task 1.1) is still to be written" in way.idle
    assert "Public checks: 0 of 8 points." in way.idle
    assert "Public checks: 8 of 8 points." in way.packed
    for name in SOLVED:
        assert way.points(name, *POINTS) == list(POINTS.values())
    assert "Right on 4 of 4 public cases and on 10 of 10 hidden cases." in way.page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same(tmp_path: Path) -> None:
    assert_stock_nbgrader_agrees(tmp_path, LAB)
