"""The whole way of Lab 3B: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.whole_way import assert_stock_nbgrader_agrees, whole_way

LAB = "lab3b"
ANSWERS = {"q310": "TP ranks run the same operators on other weights; stages run other layers."}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    way = whole_way(tmp_path, LAB, ANSWERS, ["--no-run"])
    assert "ring_reduce_scatter (Task 1.1) is still to be written" in way.idle
    assert {row["out_of"] for row in way.rows.values()} == {"10"}
    assert "Right on 2 of 2 public cases and on 3 of 3 hidden cases." in way.page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same(tmp_path: Path) -> None:
    assert_stock_nbgrader_agrees(tmp_path, LAB)
