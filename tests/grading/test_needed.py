"""Cells that only show something are left out, unless another one may read what they define."""

from __future__ import annotations

import pytest

from autograder.grading.needed import left_out

GIVEN = "import math\ntotal = 1"
SHOWS = "total = 2\npicture = [total]\npicture"
LATER = "print(len(picture))"


def out(*cells: str) -> set[int]:
    showing = frozenset({SHOWS, LATER})
    return left_out(cells, showing, showing | {GIVEN})


def test_a_cell_that_nobody_edited_is_left_out_with_those_that_need_it() -> None:
    assert out(GIVEN, SHOWS, LATER, "mine = 3") == {1, 2}


def test_a_cell_that_somebody_edited_runs_and_so_does_what_it_needs() -> None:
    assert out(GIVEN, SHOWS, LATER + "  # mine") == set()
    assert out(GIVEN, SHOWS + "  # mine", LATER) == {2}


@pytest.mark.parametrize(
    "cell",
    [
        "print(picture)",
        "picture.append(3)",
        "def f():\n    return picture",
        "f = lambda: total",
        "[x for x in picture]",
        "class C:\n    size = len(picture)",
        "%timeit len(picture)",
        "def f():\n    global total\n    total += 1",
        "print(globals()['picture'])",
        "_",
        "print(Out)",
        "_12",
        "%%capture\nOut[1]",
        "import sys\nsys.modules['__main__'].picture",
        "get_ipython().user_ns['picture']",
    ],
)
def test_who_may_read_what_it_defines_has_it(cell: str) -> None:
    assert 1 not in out(GIVEN, SHOWS, cell)


@pytest.mark.parametrize(
    "cell",
    [
        "def f(total):\n    return total",
        "def f():\n    picture = 1\n    return picture",
        "other = 'picture'",
        "[total for total in range(3)]",
        "mine.picture = 3",
    ],
)
def test_names_that_are_the_cells_own_do_not_count(cell: str) -> None:
    assert out(GIVEN, SHOWS, cell) == {1}


def test_only_functions_of_an_earlier_cell_may_read_it() -> None:
    assert out("print(total)", SHOWS) == {1}
    assert out("def f():\n    return total", SHOWS) == set()


def test_our_own_cells_may_name_what_could_read_anything() -> None:
    ours = "import sys\nsys.version"
    assert left_out([ours, SHOWS], frozenset({SHOWS}), frozenset({SHOWS, ours})) == {1}
    assert left_out([ours, SHOWS], frozenset({SHOWS}), frozenset({SHOWS})) == set()
