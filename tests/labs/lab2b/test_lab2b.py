"""Lab 2B: oracles, solution and cases agree; mistakes are named, other ways are right."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.hidden import hidden_of
from autograder.grading.sandbox.host.cut import Cut
from autograder.grading.sandbox.host.house import House
from autograder.labs.lab2b.build import derived_files
from autograder.labs.lab2b.clockwork import cycles_by_clock
from autograder.labs.lab2b.oracles import (
    best_by_definition,
    laws_broken,
    levels_missed,
    places_missed,
    product_of,
    row_stationary_cycles,
    systolic_cycles,
)
from lab_utils.instruments.systolic.designs import DATAFLOWS, Conv
from lab_utils.kit.root import ROOT
from lab_utils.labs.lab2b import (
    FAR,
    LAB,
    LAWS,
    LENET,
    LINE,
    NEAR,
    WORD,
    Claim,
    Point,
    design_chart,
    layer_stages,
    stalls_behind,
)
from lab_utils.labs.lab2b.judge.laws import LAW, broken
from lab_utils.labs.lab2b.judge.rows import parts_of
from lab_utils.labs.lab2b.show.space import every_design
from tests.labs.lab2b.catalogue import RIGHT, WRONG
from tests.support.catalogue import Catalogue, NamedOnHidden, assert_hidden_cases_are_other

NAMES = {
    "LINE": LINE,
    "LAWS": LAWS,
    "Point": Point,
    "Claim": Claim,
    "Conv": Conv,
    "math": math,
    "random": random,
}
CATALOGUE = Catalogue("lab2b", WRONG, RIGHT, NAMES)
OURS, space_of, verdict = CATALOGUE.solution, CATALOGUE.space_of, CATALOGUE.verdict


class TestCatalogue(NamedOnHidden):
    catalogue = CATALOGUE


def test_points_are_eight() -> None:
    assert sum(task.points for task in LAB.tasks) == 8


# Buffers

TRACES = st.lists(st.integers(0, 12), min_size=1, max_size=60)


@given(TRACES, st.integers(0, 9), st.sampled_from(["LRU", "FIFO"]))
def test_pythons_own_caches_and_the_solution_agree(
    trace: list[int], size: int, policy: str
) -> None:
    assert places_missed(trace, size, policy) == OURS["misses"](trace, size, policy)


@given(st.lists(st.integers(0, 300), min_size=1, max_size=80), st.integers(0, 6), st.integers(0, 9))
def test_two_caches_of_pythons_own_and_the_solution_agree(
    words: list[int], first: int, second: int
) -> None:
    lines = [word // LINE for word in words]
    assert levels_missed(lines, first, second) == list(OURS["two_levels"](words, first, second))


STAGES = st.lists(
    st.tuples(st.integers(1, 30), st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=9
)


@given(STAGES, st.integers(1, 4), st.integers(1, 8))
def test_the_clock_and_the_solution_agree(stages: Any, near: int, far: int) -> None:
    compute, first, second = (list(one) for one in zip(*stages, strict=True))
    ours = OURS["total_cycles"](compute, first, second, near, far)
    assert cycles_by_clock(compute, first, second, near, far) == ours


POINTS = st.lists(
    st.builds(
        Point,
        st.integers(3, 5),
        st.integers(3, 5),
        st.just("os"),
        st.integers(5, 7),
        st.integers(5, 7),
        st.sampled_from([50.0, 60.5, 71.25, 80.0]),
        st.integers(20_000, 20_010),
    ),
    min_size=1,
    max_size=25,
)


@given(POINTS, st.sampled_from(["efficiency", "combined"]))
def test_the_definition_and_the_solution_agree(points: list[Point], goal: str) -> None:
    ours = OURS["top_ten"](points, goal)

    def area(p: Point) -> float:
        return 525 * p.height * p.width + 1015.7 * 3 * (p.ifmap + p.filter)

    worth = {
        p: p.efficiency if goal == "efficiency" else 17500 / p.cycles + 15000 / area(p)
        for p in ours
    }
    told = [[round(worth[p], 6), round(area(p), 1)] for p in ours]
    assert told == best_by_definition(points, goal)


# Whole designs

SOME = [("ws", 5, 4), ("os", 10, 8), ("is", 7, 3), ("ws", 10, 8)]


@pytest.mark.parametrize("array", SOME, ids=str)
def test_the_search_finds_what_plain_caches_and_a_clock_find(array: Any) -> None:
    """Every access of every layer, by Python's own caches; every cycle, by a clock."""
    dataflow, height, width = array
    (points,) = every_design([array])
    point = points[7 if height == 10 else 16]
    total = 0
    for layer in LENET:
        stages = layer_stages(layer, dataflow, height, width)
        first, second = [0] * len(stages), [0] * len(stages)
        for operand, kilobytes in (("ifmap", point.ifmap), ("filter", point.filter)):
            parts = enumerate(getattr(stage, operand) for stage in stages)
            asked = [(n, line) for n, part in parts for line in part]
            size = kilobytes * 1024 // (LINE * WORD)
            missed = [asked[p] for p in places_missed([line for _, line in asked], size, "LRU")]
            far = places_missed([line for _, line in missed], 2 * size, "LRU")
            for n, _ in missed:
                first[n] += 1
            for p in far:
                second[missed[p][0]] += 1
        compute = [stage.cycles for stage in stages]
        total += cycles_by_clock(compute, first, second, NEAR, FAR)
    assert point.cycles == total


@pytest.mark.parametrize("dataflow", DATAFLOWS)
@pytest.mark.parametrize("layer", LENET[1:], ids=lambda layer: layer.name)
def test_without_waiting_a_layer_takes_the_cycles_of_the_array(layer: Any, dataflow: str) -> None:
    """Stages together are what the register-level array of Lab 2A takes, and every word comes."""
    stages = layer_stages(layer, dataflow, 4, 5)
    m, n, k = product_of(layer) if isinstance(layer, Conv) else layer[1:]
    assert sum(stage.cycles for stage in stages) == OURS["latency"]((m, n, k), dataflow, 4, 5)
    words = layer.height * layer.width * layer.channels if isinstance(layer, Conv) else m * k
    assert {line for stage in stages for line in stage.ifmap} == set(range(-(-words // LINE)))
    assert {line for stage in stages for line in stage.filter} == set(range(-(-n * k // LINE)))
    longest = max(max(len(stage.ifmap), len(stage.filter)) for stage in stages)
    assert 2 * longest <= 5 * 1024 // (LINE * WORD), "two stages fit into the smallest buffer"


def test_every_design_obeys_the_law_of_operations() -> None:
    macs = sum(
        math.prod(product_of(layer) if isinstance(layer, Conv) else layer[1:]) for layer in LENET
    )
    for points in every_design(SOME):
        assert all(point.cycles * point.height * point.width >= macs for point in points)


def test_behind_lab_2as_buffers_a_second_level_of_0_changes_nothing() -> None:
    """123,163 is what SCALE-Sim 2.0.2 reports for this layer on this design."""
    assert stalls_behind(LENET[0], "os", 8, 8, 2, times=0) == 123_163
    assert stalls_behind(LENET[0], "os", 8, 8, 2, times=2) == 123_163
    everything = stalls_behind(LENET[0], "os", 8, 8, 2, times=20)
    assert everything is not None
    assert everything < 30_000


def test_efficiency_is_that_of_lab_2a() -> None:
    """The known best of Lab 2A: 97.86 per cent on 5 x 4, then 97.2 on 10 x 4."""
    arrays = [("ws", 5, 4), ("ws", 10, 4)]
    found = [points[0].efficiency for points in every_design(arrays)]
    assert found == pytest.approx([97.862069, 97.2], abs=1e-6)


# Dataflows

_SIZE = st.integers(1, 4)


@settings(deadline=None, max_examples=60)
@given(
    st.tuples(_SIZE, _SIZE, st.integers(0, 6), st.integers(0, 6)),
    st.integers(1, 3),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(1, 9),
    st.integers(1, 5),
)
def test_the_register_level_array_and_the_solution_agree(
    sizes: Any, channels: int, filters: int, stride: int, height: int, width: int
) -> None:
    """The oracle itself sees to it that the outputs are those of PyTorch."""
    r, s, more, wide = sizes
    conv = Conv("", r + more, s + wide, r, s, channels, filters, stride)
    cycles = row_stationary_cycles(conv, height, width)
    assert OURS["row_stationary"](conv, height, width) == cycles
    assert parts_of(conv, height, width).cycles == cycles
    m, n, k = product_of(conv)
    assert OURS["as_product"](conv) == (m, n, k)
    assert cycles * height * width >= m * n * k


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(DATAFLOWS),
    st.tuples(*[st.integers(1, 9)] * 3),
    st.integers(1, 5),
    st.integers(1, 5),
)
def test_the_systolic_array_and_the_solution_agree(
    dataflow: str, product: Any, height: int, width: int
) -> None:
    cycles = systolic_cycles(product, dataflow, height, width)
    assert OURS["latency"](product, dataflow, height, width) == cycles


def test_the_famous_answer_is_impossible() -> None:
    conv = Conv("", 40, 40, 3, 3, 1, 1)
    famous = math.ceil(40 / 5) * (3 + 3 + 3 + 40 - 2)
    macs = math.prod(product_of(conv))
    assert (famous, macs, macs / 9) == (376, 12_996, 1_444)
    assert OURS["row_stationary"](conv, 3, 3) == row_stationary_cycles(conv, 3, 3) == 1_511
    assert "macs" in broken(Claim(macs, 9, famous, 300, 160, 900, 410))
    assert "macs" in broken(Claim(macs, 27, famous, 300, 160, 900, 410))


NUMBERS = st.integers(0, 12)


CLAIMS = st.builds(Claim, NUMBERS, st.integers(1, 4), *[NUMBERS] * 5)


@given(CLAIMS)
def test_laws_by_two_authors_agree(claim: Claim) -> None:
    assert sorted(OURS["broken_laws"](claim)) == laws_broken(claim) == sorted(broken(claim))


@given(st.lists(st.integers(0, 12), min_size=1, max_size=80), st.integers(1, 6), st.integers(0, 14))
def test_what_really_happened_breaks_no_law(trace: list[int], l1: int, l2: int) -> None:
    first, second = levels_missed(trace, l1, l2)
    claim = Claim(9, 3, 3, len(set(trace)), l2, first, second)
    assert not broken(claim)
    assert set(LAW) == set(LAWS)


# The lab as a whole


def test_what_is_derived_is_up_to_date() -> None:
    for path, text in derived_files().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run make notebooks"


def test_hidden_cases_are_other_cases() -> None:
    assert_hidden_cases_are_other("lab2b")


def test_hidden_layers_have_the_corners() -> None:
    """Strides, arrays and inputs that are not square, K > width, C different from K."""
    cases = hidden_of("lab2b").graded_cases("2.3")[len(LAB.public_cases("2.3")) :]
    parts = [part for case in cases for part in case.given["parts"]]
    convs = [(Conv("", *p["conv"]), p["height"], p["width"]) for p in parts]
    assert sum(conv.stride > 1 for conv, _, _ in convs) >= 10
    assert sum(h != w for _, h, w in convs) >= 14
    assert sum(conv.filters > w for conv, _, w in convs) >= 8
    assert all(conv.channels != conv.filters for conv, _, _ in convs)
    assert all(conv.height != conv.width for conv, _, _ in convs)


def test_what_counts_is_not_in_the_sandbox(tmp_path: Any) -> None:
    """Simulators and buffers answer tasks: where student code runs they are not there."""
    kit = House(tmp_path).add_kit("2b", Cut())
    there = {str(path.relative_to(kit)) for path in kit.rglob("*.py")}
    assert "lab_utils/instruments/buffers/__init__.py" in there
    assert "lab_utils/labs/lab2b/ask.py" in there
    texts = "\n".join((kit / path).read_text() for path in there)
    for ours in (
        "class Buffer",
        "def lru_missed",
        "class RowArray",
        "def total_cycles",
        "def area(",
    ):
        assert ours not in texts, ours


def test_the_chart_of_designs_marks_what_was_chosen() -> None:
    points = [point for one in every_design(SOME) for point in one]
    chosen = OURS["top_ten"](points, "combined")
    picture = design_chart(points, chosen)
    assert picture is not None
    assert "4 arrays; chosen: 10 x 8 ws (6+5 kB)" in picture.words
    assert picture.svg.count('r="7"') == len(chosen)
