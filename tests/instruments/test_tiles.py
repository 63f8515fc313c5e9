"""The interpreter of loop nests: its counts are those of a real product; its film shows them."""

from __future__ import annotations

import random
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab_utils.instruments import tiles
from lab_utils.instruments.tiles import ATTENTION, PRODUCT, tile_film
from lab_utils.instruments.tiles.show.walk import Counts, count, walk
from lab_utils.instruments.tiles.show.walk import product as multiply
from lab_utils.kit.errors import LabError

GRID = st.tuples(*[st.integers(1, 4)] * 3)
R = range
#: Tiles of the course's example (Tm, Tn, Tk = 4, 3, 2): read of A, B, C, and written of C.
KNOWN = {
    "A": ([(m, n, k) for m in R(4) for k in R(2) for n in R(3)], (8, 24, 12, 24)),
    "B": ([(m, n, k) for n in R(3) for k in R(2) for m in R(4)], (24, 6, 12, 24)),
    "C": ([(m, n, k) for m in R(4) for n in R(3) for k in R(2)], (24, 24, 0, 12)),
}


def numbers(counts: Counts) -> tuple[int, ...]:
    return (*counts.reads.values(), *counts.writes.values())


@pytest.mark.parametrize("keep", KNOWN)
def test_the_known_table(keep: str) -> None:
    order, wanted = KNOWN[keep]
    assert numbers(count(order)) == wanted


@given(GRID, st.integers(0, 999))
def test_any_order_computes_the_product_and_moves_what_is_counted(grid: Any, seed: int) -> None:
    order = list(product(*map(range, grid)))
    random.Random(seed).shuffle(order)
    rng = np.random.default_rng(seed)
    m, n, k = (2 * many for many in grid)
    a, b = rng.integers(-9, 9, (m, k)).astype(float), rng.integers(-9, 9, (k, n)).astype(float)
    c, moved = multiply(order, a, b, grid)
    assert np.array_equal(c, a @ b)
    assert moved == count(order)


@given(GRID, st.integers(0, 999))
def test_counting_at_once_is_adding_up_the_walk(grid: Any, seed: int) -> None:
    order = random.Random(seed).choices(list(product(*map(range, grid))), k=20)
    moves = list(walk(order))
    reads = [sum(step[number].read for step in moves) for number in R(3)]
    writes = sum(step[2].written is not None for step in moves) + 1
    assert numbers(count(order)) == (*reads, writes)


def test_a_step_that_is_left_out_spoils_the_product() -> None:
    a, b = np.ones((4, 4)), np.ones((4, 4))
    order = list(product(R(2), repeat=3))[:-1]
    assert not np.array_equal(multiply(order, a, b, (2, 2, 2))[0], a @ b)


def test_nothing_moves_without_steps() -> None:
    assert count([]) == Counts({"A": 0, "B": 0, "C": 0}, {"C": 0})


def test_attention_keeps_its_output_and_its_queries() -> None:
    moved = count(list(product(R(3), R(5))), ATTENTION)
    assert moved == Counts({"Q": 3, "K": 15, "V": 15, "O": 0}, {"O": 3})
    assert moved.total == 36


def test_the_film_tells_what_has_moved() -> None:
    film = tile_film({keep: order for keep, (order, _) in KNOWN.items()})
    assert film is not None
    assert repr(film).splitlines() == [
        "A: after 24 steps, 68 tiles moved",
        "B: after 24 steps, 66 tiles moved",
        "C: after 24 steps, 60 tiles moved",
    ]
    picture = film.at(7)
    assert "A: step 8 of 24, 21 tiles moved" in picture.words
    assert "C: 3 read, 7 written" in picture.svg
    assert 'role="img"' in picture.svg
    assert "aria-label" in picture.html


def test_the_slider_moves_the_film() -> None:
    film = tile_film(KNOWN["C"][0])
    assert film is not None
    assert film.step.max == film.play.max == 24
    before = film.picture.value
    film.step.value = 5
    assert film.picture.value != before
    assert "step 6 of 24" in film.picture.value


def test_a_film_of_nothing_is_refused() -> None:
    with pytest.raises(LabError, match="at least one step"):
        tile_film([])


def test_long_orders_and_one_row_are_drawn_too() -> None:
    film = tile_film(product(R(40), R(2), R(3)))
    assert film is not None
    assert film.static.svg.count("<rect") > 40 * 3 + 40 * 2
    assert tile_film([(0, 0)], ATTENTION) is not None


def test_without_what_counts_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As in a sandbox, which has no folder called show."""
    monkeypatch.setattr(tiles, "find_spec", lambda _: None)
    assert tile_film(KNOWN["A"][0]) is None
    assert "in your own notebook" in capsys.readouterr().out


def test_operands_say_what_a_step_needs() -> None:
    (moves,) = walk([(1, 2, 3)], PRODUCT)
    assert [move.tile for move in moves] == [(1, 3), (3, 2), (1, 2)]
    assert "torch" not in vars(sys.modules["lab_utils.instruments.tiles.show.walk"])
