"""Numbers that count."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab_utils.instruments.counting import Tally, added_up, exp, sqrt


@given(st.integers(1, 30))
def test_a_dot_product(length: int) -> None:
    tally = Tally()
    a, b = tally.array("a", length), tally.array("b", length)
    made = added_up(x * y for x, y in zip(a, b, strict=True))
    assert tally.counts["mul"] == length
    assert tally.counts["add"] == length - 1
    assert tally.operations() == 2 * length - 1
    wanted = sum(float(x) * float(y) for x, y in zip(a, b, strict=True))
    assert float(made) == pytest.approx(wanted)
    assert (tally.read("a"), tally.read("b"), tally.read("c")) == (length, length, 0)


def test_the_sum_of_python_adds_once_more() -> None:
    tally = Tally()
    sum(tally.array("x", 5))
    assert tally.counts["add"] == 5


def test_heavy_operations_weigh_w() -> None:
    tally = Tally()
    (x,) = tally.array("x", 1)
    made = 1 / sqrt(exp(x) - 2) + (3 - x) * 2 / x
    assert repr(tally) == (
        "1 additions, 2 subtractions, 1 multiplications, 2 divisions, 1 exponentials, "
        "1 square roots"
    )
    assert tally.operations(10) == 4 + 4 * 10
    value = float(x)
    assert float(made) == pytest.approx(1 / math.sqrt(math.e**value - 2) + (3 - value) * 2 / value)


def test_an_element_is_read_once_however_often_it_is_used() -> None:
    tally = Tally()
    grid = tally.array("grid", 2, 3)
    assert tally.read("grid") == 0
    _ = grid[0][0] * grid[0][0] + grid[1][2]
    assert tally.read("grid") == 2
    assert repr(Tally()) == "nothing counted"
