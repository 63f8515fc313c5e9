"""Notebook 1 of Lab 4B: oracles, solution and cases agree; mistakes are named, other ways right."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import networkx as nx
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.labs.lab4b.build import derived_files
from autograder.labs.lab4b.cases.mesh import PUBLISHED
from autograder.labs.lab4b.mesh_oracles import (
    arrivals_by_clock,
    can_stand_still,
    grid,
    links,
    row_first,
)
from lab_utils.instruments.network.mesh import LINK, MIB, Link, Message
from lab_utils.instruments.network.show.routes import xy
from lab_utils.kit.judge import Verdict
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab4b import LAB
from lab_utils.labs.lab4b.tasks import mesh
from tests.labs.lab4b.catalogue.mesh import RIGHT, WRONG
from tests.support.catalogue import Catalogue, NamedOnHidden, assert_hidden_cases_are_other
from tests.support.judged import points_of, verdict_of
from tests.support.solved_cells import run_cell, solved_space

SIZES = st.tuples(st.integers(1, 6), st.integers(1, 6))


def ours() -> dict[str, Any]:
    """What the solved notebooks import and define."""
    return solved_space("lab4b")


def space_of(code: str) -> dict[str, Any]:
    """What is defined once a cell with ``code`` has run after the solution's cells."""
    space = dict(ours())
    for name, value in ours().items():  # each looks names up in its own cells
        if hasattr(value, "__code__") and value.__globals__ is ours():
            space[name] = type(value)(value.__code__, space, name, value.__defaults__)
    run_cell(code, space)
    return space


def verdict(task: str, space: dict[str, Any]) -> Verdict:
    return verdict_of("lab4b", task, space[LAB.task_called(task).asks])


class TestCatalogue(NamedOnHidden):
    catalogue = Catalogue("lab4b", WRONG, RIGHT, part=mesh.TASKS)


def test_a_mistake_is_paid_for_once() -> None:
    """Own routes that call a wrong route of task 1.2 are judged with a right one."""
    wrong = next(cell.code for cell in WRONG if (cell.task, cell.name) == ("1.2", "backwards"))
    space = space_of(wrong)
    assert not verdict("1.5", space).passed
    assert points_of("lab4b", "1.5", space["my_routes"]) == 0.5


def test_hidden_cases_are_other_cases() -> None:
    assert_hidden_cases_are_other("lab4b", 4)


def test_what_is_derived_is_up_to_date() -> None:
    for path, text in derived_files().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run make notebooks"


def test_the_published_arrivals_to_the_nanosecond() -> None:
    routes = [ours()["route"](src, dst, 4, 4) for src, dst in PUBLISHED]
    assert [routes[0], routes[3]] == [[1, 2, 3, 7], [15, 14, 13, 12, 8, 4]]
    times = ours()["arrivals"]([Message(0, MIB, route) for route in routes], LINK)
    assert times == [60_093, 60_093, 60_093, 100_155]


@given(SIZES)
@settings(max_examples=25, deadline=None)
def test_networkx_and_the_solution_agree_on_links(size: tuple[int, int]) -> None:
    assert sorted(ours()["connect"](*size)) == links(*size)
    assert {degree for _, degree in grid(*size).degree} <= {0, 1, 2, 3, 4}


@given(SIZES, st.integers(0, 999), st.integers(0, 999))
@settings(max_examples=60, deadline=None)
def test_networkx_and_the_solution_agree_on_routes(size: tuple[int, int], a: int, b: int) -> None:
    width, height = size
    src, dst = a % (width * height), b % (width * height)
    way = ours()["route"](src, dst, width, height)
    assert way == row_first(src, dst, width, height) == xy(src, dst, width)
    assert len(way) - 1 == nx.shortest_path_length(grid(width, height), src, dst)


ROUTES = st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=5, unique=True), max_size=8)


@given(ROUTES)
@settings(max_examples=80, deadline=None)
def test_networkx_and_the_solution_agree_on_circles(routes: list[list[int]]) -> None:
    found = ours()["waiting_cycle"](routes)
    assert bool(found) is can_stand_still(routes)
    waits = {wait for way in routes for wait in pairwise(pairwise(way))}
    assert all(pair in waits for pair in zip(found, [*found[1:], *found[:1]], strict=True))


def test_xy_alone_is_free_of_circles_and_mixed_it_is_not() -> None:
    for width, height in ((2, 2), (4, 3), (3, 5)):
        nodes = range(width * height)
        pairs = [(a, b) for a in nodes for b in nodes]
        rows = [ours()["route"](a, b, width, height) for a, b in pairs]
        columns = [ours()["route"](b, a, width, height)[::-1] for a, b in pairs]
        assert ours()["waiting_cycle"](rows) == ours()["waiting_cycle"](columns) == []
        assert ours()["waiting_cycle"](rows + columns)
        assert can_stand_still(rows + columns)


MESSAGES = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 99), st.integers(0, 5), st.integers(0, 5)),
    min_size=1,
    max_size=9,
)


@given(MESSAGES, st.integers(1, 20), st.sampled_from([0.5, 1, 4]))
@settings(max_examples=40, deadline=None)
def test_the_clock_and_the_solution_agree(told: Any, latency: int, bandwidth: float) -> None:
    messages = [Message(start, nbytes, xy(a, b, 3)) for start, nbytes, a, b in told]
    link = Link(latency, bandwidth)
    assert ours()["arrivals"](messages, link) == arrivals_by_clock(messages, link)
