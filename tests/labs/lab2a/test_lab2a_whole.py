"""The whole way of Lab 2A: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.whole_way import SOLVED, assert_stock_nbgrader_agrees, whole_way

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
    way = whole_way(tmp_path, LAB, ANSWERS)
    assert "gemm_of (Task 1.1) is still to be written" in way.idle
    assert "Question 2.9 has no answer" in way.idle
    assert "Public checks: 0 of 7.5 points. 0.5 points are graded by hand." in way.idle
    assert "Public checks: 7.5 of 7.5 points." in way.packed
    for name in SOLVED:
        assert way.points(name, *POINTS) == list(POINTS.values())
    assert {row["out_of"] for row in way.rows.values()} == {"8"}
    assert "Right on 3 of 3 public cases and on 7 of 7 hidden cases." in way.page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB2A_SIZE", "small")
    assert_stock_nbgrader_agrees(tmp_path, LAB)
