"""The row-stationary array: its outputs are those of a convolution, its film shows them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab_utils.instruments.systolic import rows
from lab_utils.instruments.systolic.designs import Conv
from lab_utils.instruments.systolic.rows import row_film
from lab_utils.instruments.systolic.show.rows import RowArray, convolve
from lab_utils.kit.errors import LabError

_SMALL = st.integers(1, 4)


def by_windows(image: np.ndarray, filters: np.ndarray, stride: int) -> np.ndarray:
    """A convolution by numpy's windows."""
    views = np.lib.stride_tricks.sliding_window_view(image, filters.shape[2:], axis=(1, 2))
    return np.einsum("cyxrs,kcrs->kyx", views[:, ::stride, ::stride], filters)


@settings(deadline=None, max_examples=60)
@given(_SMALL, _SMALL, st.integers(0, 6), st.integers(1, 3), st.integers(1, 9), st.integers(1, 4))
def test_the_outputs_are_right_and_every_product_is_made_once(
    r: int, s: int, more: int, stride: int, height: int, width: int
) -> None:
    rng = np.random.default_rng(r + 10 * s + 100 * more)
    image = rng.integers(-9, 10, (2, r + more, s + more + 1))
    filters = rng.integers(-9, 10, (3, 2, r, s))
    array = RowArray(image, filters, stride, height, width)
    macs = sum(
        element.product is not None
        for _ in array.run()
        for line in array.elements
        for element in line
    )
    wanted = by_windows(image, filters, stride)
    assert np.array_equal(array.outputs, wanted)
    assert macs == wanted.size * 2 * r * s


def test_an_input_row_is_fetched_once_for_a_whole_diagonal() -> None:
    """A strip of W output rows needs W + R - 1 input rows, each from the buffer once."""
    image, filters = np.ones((1, 5, 8), dtype=np.int64), np.ones((1, 1, 3, 3), dtype=np.int64)
    array = RowArray(image, filters, 1, 3, 3)
    assert Counter(moment.phase for moment in array.run()) == {"load": 3, "stream": 18, "drain": 2}
    assert array.fetched == image.size


def test_cycles_counted_by_hand() -> None:
    """6 x 7 pixels, 3 x 3: two strips; 3 to load, twice 15 to stream and 2 to drain."""
    outputs, cycles = convolve(np.ones((1, 6, 7), int), np.ones((1, 1, 3, 3), int), 1, 3, 3)
    assert cycles == 3 + 2 * (15 + 2)
    assert (outputs == 9).all()


def test_the_film_shows_what_each_cycle_pays() -> None:
    film = row_film(Conv("small", 6, 7, 3, 3, 1, 1), 3, 3)
    assert film is not None
    assert len(film.frames) == film.step.max + 1 == 37
    assert "cycle 3 of 37: filter rows are loaded" in film.at(2).words
    assert "paid so far: load 3, stream 15, drain 2" in film.at(19).words
    picture = film.at(8)
    assert "stream 3 · 5" in picture.svg
    assert "aria-label" in picture.html
    before = film.picture.value
    film.step.value = 8
    assert film.picture.value != before


def test_larger_arrays_and_empty_elements_are_drawn_too() -> None:
    film = row_film(Conv("", 9, 8, 3, 2, 2, 3, 2), 7, 2)
    assert film is not None
    assert "outputs of filter 1" in film.at(20).svg
    assert "unused" in film.at(20).svg


@pytest.mark.parametrize(
    ("conv", "array", "words"),
    [
        (Conv("", 6, 7, 3, 3, 1, 1), (9, 3), "cannot be read"),
        (Conv("", 60, 60, 3, 3, 4, 4), (3, 3), "take a smaller layer"),
        (Conv("", 2, 7, 3, 3, 1, 1), (3, 3), "no output"),
    ],
)
def test_what_makes_no_film_is_told(conv: Conv, array: tuple[int, int], words: str) -> None:
    with pytest.raises(LabError, match=words):
        row_film(conv, *array)


def test_without_what_simulates_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(rows, "find_spec", lambda _: None)
    assert row_film(Conv("", 6, 7, 3, 3, 1, 1), 3, 3) is None
    assert "in your own notebook" in capsys.readouterr().out
