"""Buffers access by access, the fast ones, and laws that hold for every trace."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab_utils.instruments import buffers
from lab_utils.instruments.buffers import buffer_film, miss_curve
from lab_utils.instruments.buffers.show.fast import lru_curve, lru_missed, stack_distances
from lab_utils.instruments.buffers.show.stages import total_cycles
from lab_utils.instruments.buffers.show.walk import Misses, count, missed, walk
from lab_utils.kit.errors import LabError

TRACES = st.lists(st.integers(0, 12), max_size=70)
SIZES = st.integers(0, 14)
BELADY = [1, 2, 3, 4, 1, 2, 5, 1, 2, 3, 4, 5]


@given(TRACES, SIZES, SIZES)
def test_two_levels_are_two_caches_of_pythons_own(
    trace: list[int], first: int, second: int
) -> None:
    behind = lru_cache(maxsize=second)(lambda line: line)
    front = lru_cache(maxsize=first)(lambda line: behind(line))
    for line in trace:
        front(line)
    theirs = Misses(front.cache_info().misses, behind.cache_info().misses)
    assert count(trace, first, second, "LRU") == theirs


@given(TRACES, SIZES)
def test_fast_and_plain_agree(trace: list[int], size: int) -> None:
    lines = np.array(trace, dtype=np.int64)
    assert lru_missed(lines, size).tolist() == missed(trace, size, "LRU")
    assert lru_curve(trace, [size]) == [count(trace, size, 0, "LRU").first]


@given(TRACES, SIZES, SIZES, st.sampled_from(["LRU", "FIFO"]))
def test_laws(trace: list[int], first: int, second: int, policy: str) -> None:
    different = len(set(trace))
    found = count(trace, first, second, policy)
    assert different <= found.second <= found.first <= len(trace), "compulsory, and asked"
    assert count(trace, first, 0, policy) == (found.first, found.first), "one level"
    assert count(trace, first, different, policy).second == different, "all fits"


@given(TRACES)
def test_the_stack_property_of_lru(trace: list[int]) -> None:
    """What a buffer holds, the next larger one holds too; so it never misses more."""
    walks = [[set(access.first) for access in walk(trace, size, 0, "LRU")] for size in range(9)]
    for small, large in pairwise(walks):
        assert all(a <= b for a, b in zip(small, large, strict=True))
    curve = lru_curve(trace, range(9))
    assert all(a >= b for a, b in pairwise(curve))


def test_beladys_anomaly() -> None:
    """The known numbers: 9 misses with three lines, 10 with four."""
    assert [count(BELADY, size, 0, "FIFO").first for size in (3, 4)] == [9, 10]
    assert [count(BELADY, size, 0, "LRU").first for size in (3, 4)] == [10, 8]


def test_distances_count_different_lines() -> None:
    never = np.iinfo(np.int64).max
    assert stack_distances([1, 2, 1, 1, 3, 2]).tolist() == [never, never, 1, 0, never, 2]
    assert stack_distances([]).tolist() == []


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(1, 3), st.integers(3, 9))
def test_a_second_level_that_holds_nothing_changes_no_cycle(
    compute: list[int], near: int, far: int
) -> None:
    """As in a machine with one level, whose only wire is that from memory."""
    lines = np.array([3 * cycles % 7 for cycles in compute])
    two = total_cycles(np.array(compute), lines, lines, near, far)
    one = far * int(lines[0]) + sum(
        max(cycles, far * int(coming))
        for cycles, coming in zip(compute, [*lines[1:], 0], strict=True)
    )
    assert two == one


def test_the_film_tells_what_happens() -> None:
    film = buffer_film(BELADY, {"small": (3, 0, "FIFO"), "both": (3, 4, "LRU")})
    assert film is not None
    assert repr(film).splitlines() == [
        "access 12 of 12: line 5",
        "small: hit; 9 misses so far",
        "both: from the second level; 10 misses so far, 7 of them in both levels",
    ]
    before = film.picture.value
    film.step.value = 8
    assert film.picture.value != before
    assert "access 9 of 12" in film.picture.value
    assert 'role="img"' in film.static.svg


def test_the_curve_tells_where_more_is_worse() -> None:
    picture = miss_curve(BELADY, range(1, 7))
    assert picture is not None
    assert picture.words.splitlines()[-1] == "FIFO: 1 more with 4 lines than with 3"
    plain = miss_curve([1, 2, 3, 1, 2, 3], (1, 2, 3, 4))
    assert plain is not None
    assert "more with" not in plain.words


def test_nothing_to_show_is_told() -> None:
    with pytest.raises(LabError, match="needs a trace"):
        buffer_film([], {"x": (1, 0, "LRU")})
    with pytest.raises(LabError, match="at least two sizes"):
        miss_curve([1, 2], [3])


def test_without_what_counts_nothing_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(buffers, "find_spec", lambda _: None)
    assert buffer_film(BELADY, {"x": (1, 0, "LRU")}) is None
    assert miss_curve(BELADY, (1, 2)) is None
    assert "in your own notebook" in capsys.readouterr().out
