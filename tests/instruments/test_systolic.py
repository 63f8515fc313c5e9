"""The register-level array: right products, and laws that no formula of ours is needed for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab_utils.instruments.systolic.designs import DATAFLOWS, design_space
from lab_utils.instruments.systolic.show.registers import phases, run
from lab_utils.kit.errors import LabError

_SIZE = st.integers(1, 9)


@settings(deadline=None, max_examples=60)
@given(st.sampled_from(DATAFLOWS), _SIZE, _SIZE, _SIZE, st.integers(1, 5), st.integers(1, 5))
def test_the_product_comes_out_right_and_every_mac_is_done_once(
    dataflow: str, m: int, n: int, k: int, height: int, width: int
) -> None:
    rng = np.random.default_rng(m + 10 * n + 100 * k)
    a, b = rng.integers(-9, 10, (m, k)), rng.integers(-9, 10, (k, n))
    ran = run(dataflow, a, b, height, width)
    assert np.array_equal(ran.product, a @ b)
    assert ran.busy.sum() == m * n * k
    assert ran.cycles >= m * n * k / (height * width)
    assert len(phases(ran)) == ran.cycles


@pytest.mark.parametrize(
    ("dataflow", "cycles"),
    # Drawn by hand: 2 x 2 PEs, A is 3 x 4, B is 4 x 2.
    [("os", 2 * 6), ("ws", 2 * 7), ("is", 4 * 6)],
)
def test_cycles_counted_by_hand(dataflow: str, cycles: int) -> None:
    assert run(dataflow, np.ones((3, 4)), np.ones((4, 2)), 2, 2).cycles == cycles


def test_a_wavefront_crosses_the_array_one_diagonal_a_cycle() -> None:
    ran = run("os", np.ones((4, 5)), np.ones((5, 4)), 4, 4)
    rows, columns = np.indices((4, 4))
    for cycle in range(ran.cycles):
        assert np.array_equal(
            ran.busy[cycle], (rows + columns <= cycle) & (cycle - rows - columns < 5)
        )


def test_phases_follow_each_other_in_every_fold() -> None:
    ran = run("ws", np.ones((9, 5)), np.ones((5, 4)), 3, 3)
    named = phases(ran)
    order = {"load": 0, "fill": 1, "steady": 2, "drain": 3}
    for fold in range(ran.folds.max() + 1):
        ranks = [order[name] for name, of in zip(named, ran.folds, strict=True) if of == fold]
        assert ranks == sorted(ranks)
        assert set(ranks) == {0, 1, 2, 3}


def test_mistakes_are_told() -> None:
    with pytest.raises(LabError, match="none of os, ws, is"):
        run("rs", np.ones((2, 2)), np.ones((2, 2)), 2, 2)
    with pytest.raises(LabError, match="make no product"):
        run("os", np.ones((2, 3)), np.ones((2, 2)), 2, 2)


def test_the_design_space_has_12288_points() -> None:
    assert len(set(design_space())) == 12_288
