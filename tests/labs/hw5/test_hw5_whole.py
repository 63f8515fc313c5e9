"""The whole way of Homework 5: release, unpack, run, pack, collect, grade."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.whole_way import assert_stock_nbgrader_agrees, whole_way

LAB = "hw5"
QUESTIONS = ("q13", "q16", "q33", "q35", "q37", "q39", "q44", "q411", "q58")
ANSWERS = dict.fromkeys(QUESTIONS, "Launches cost the same for 32 and for 512 images.")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs in seconds."""
    monkeypatch.setenv("HW5_SIZE", "small")


@pytest.mark.slow
def test_release_unpack_solve_pack_collect_grade(tmp_path: Path) -> None:
    way = whole_way(tmp_path, LAB, ANSWERS, ["--no-run"])
    assert "timed_epoch (Task 1.1) is still to be written" in way.idle
    assert "Right on 5 of 5 public cases and on 12 of 12 hidden cases." in way.page
    for name in ("fashion_mnist.npz", "fashion_mnist.md"):  # pictures, and their licence
        assert any(tmp_path.glob(f"home/*/lab_utils/labs/hw5/data/{name}"))


@pytest.mark.slow
def test_stock_nbgrader_gives_the_same(tmp_path: Path) -> None:
    assert_stock_nbgrader_agrees(tmp_path, LAB)
