"""The whole way of Lab 4B: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.whole_way import assert_stock_nbgrader_agrees, whole_way

LAB = "lab4b"
ANSWERS = {"q213": "I predicted tp = 8, the size of a box. It came out so with 141 GB."}


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    way = whole_way(tmp_path, LAB, ANSWERS, ["--no-run"])
    assert "connect (Task 1.1) is still to be written" in way.idle
    assert {row["out_of"] for row in way.rows.values()} == {"10"}
    assert "Right on 3 of 3 public cases and on 4 of 4 hidden cases." in way.page


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same(tmp_path: Path) -> None:
    assert_stock_nbgrader_agrees(tmp_path, LAB)
