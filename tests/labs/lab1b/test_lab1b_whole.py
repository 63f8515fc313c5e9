"""The whole way of Lab 1B: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.whole_way import SOLVED, assert_stock_nbgrader_agrees, whole_way

LAB = "lab1b"
ANSWERS = {"q14": "Only the scores are large. With few tokens the products wait for their weights."}
TASKS = ("1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "2.5", "2.6")
POINTS = ["1.5", "0.5", "1.5", "1.5", "1", "1", "0.5", "0.5", "0.5"]


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    way = whole_way(tmp_path, LAB, ANSWERS)
    assert "traffic (Task 1.1) is still to be written" in way.idle
    assert "Question 1.4 has no answer" in way.idle
    assert "Public checks: 0 of 7.5 points and a bonus of 1. 0.5 points are graded" in way.idle
    assert "output_b1.csv is missing" in way.idle
    assert "Public checks: 8.5 of 7.5 points and a bonus of 1." in way.packed
    for name in SOLVED:
        assert way.points(name, *TASKS) == POINTS
    assert {row["q14"] for row in way.rows.values()} == {""}
    assert {row["out_of"] for row in way.rows.values()} == {"8"}
    assert "Right on 4 of 4 public cases and on 12 of 12 hidden cases." in way.page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same(tmp_path: Path) -> None:
    assert_stock_nbgrader_agrees(tmp_path, LAB)
