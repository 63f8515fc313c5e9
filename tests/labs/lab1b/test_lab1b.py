"""Lab 1B: oracles, solution and cases agree; mistakes are named, other ways are right."""

from __future__ import annotations

import csv
import itertools
import math
import random
from itertools import combinations, product
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.hidden import hidden_of
from autograder.grading.sandbox.host.cut import Cut
from autograder.grading.sandbox.host.house import House
from autograder.labs.lab1b.build import derived_files, elements
from autograder.labs.lab1b.fusion import (
    fewest,
    greedy,
    joined,
    moved_by_running,
    seconds_by_clock,
    table_of_times,
)
from autograder.labs.lab1b.fusion_cases import _tree
from autograder.labs.lab1b.numbers import DTYPES, best_tiles, quantized_by_search
from autograder.labs.lab1b.orders import least, least_by_search, least_of_staying
from autograder.labs.lab1b.tables import tables
from lab_utils.instruments.roofline import A100, item_bytes
from lab_utils.instruments.tiles.show.walk import count
from lab_utils.kit.root import ROOT
from lab_utils.labs import lab1b
from lab_utils.labs.lab1b import LAB, Op, arrows_of, fusion_film, groups_of, transformer_layer
from lab_utils.labs.lab1b.ask import timer
from lab_utils.labs.lab1b.flash import attention_chart, attention_traffic
from tests.labs.lab1b.catalogue import RIGHT, WRONG
from tests.support.catalogue import Catalogue, NamedOnHidden, assert_hidden_cases_are_other

NAMES = {
    "Op": Op,
    "combinations": combinations,
    "product": product,
    "math": math,
    "np": np,
}
CATALOGUE = Catalogue("lab1b", WRONG, RIGHT, NAMES)
OURS, space_of, verdict = CATALOGUE.solution, CATALOGUE.space_of, CATALOGUE.verdict


class TestCatalogue(NamedOnHidden):
    catalogue = CATALOGUE


def test_points_are_eight_and_one() -> None:
    bonus = LAB.task_called("2.3").points
    by_hand = 0.5
    assert bonus == 1
    assert sum(task.points for task in LAB.tasks) + by_hand == 8 + bonus


# Fusion


@st.composite
def models(draw: Any) -> tuple[list[Op], dict[str, int], list[list[str]]]:
    """Any graph of operators, and groups of them."""
    many = draw(st.integers(1, 6))
    values, ops, nbytes = ["x", "w"], [], {"x": 7, "w": 11}
    for place in range(many):
        reads = draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))
        made = f"v{place}"
        ops.append(Op(f"op{place}", tuple(reads), made, float(draw(st.integers(0, 90)))))
        nbytes[made] = draw(st.integers(1, 99))
        values.append(made)
    numbers = draw(st.lists(st.integers(0, 3), min_size=many, max_size=many))
    # Number 0: in no group. Groups are stretches of the program, so that each can run at once.
    numbers = sorted(numbers)
    groups = [[op.name for op, n in zip(ops, numbers, strict=True) if n == g] for g in (1, 2, 3)]
    return ops, nbytes, [group for group in groups if group]


@given(models())
def test_running_by_demand_and_the_solution_agree(model: Any) -> None:
    ops, nbytes, groups = model
    assert moved_by_running(ops, nbytes, groups) == OURS["traffic"](ops, nbytes, groups)


@given(models(), st.integers(1, 50), st.integers(1, 50))
def test_the_clock_and_the_solution_agree(model: Any, rate: int, width: int) -> None:
    ops, nbytes, groups = model
    moved = moved_by_running(ops, nbytes, groups)
    exact = float(seconds_by_clock(ops, moved, rate, width))
    assert OURS["model_time"](ops, moved, rate, width) == pytest.approx(exact, rel=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_the_search_and_the_solution_find_equally_few(seed: int, many: int) -> None:
    ops, nbytes = _tree(random.Random(seed), many)
    arrows, times = arrows_of(ops), table_of_times(ops, nbytes, 1e6, 1e6)
    best, few, sets = fewest(arrows, times)
    ours = OURS["fewest_fusions"](arrows, timer(arrows, times))
    assert timer(arrows, times)(ours) == best
    assert len(ours) == few
    assert ours in sets
    assert sorted(map(sorted, joined(arrows))) == sorted(map(sorted, groups_of(arrows)))


def test_the_layer_needs_two_fusions() -> None:
    """The known answer for the course's layer: logit with softmax with attend, and no more."""
    ops, nbytes = transformer_layer()
    times = table_of_times(ops, nbytes, A100.rates["bf16"], A100.bandwidth)
    best, few, sets = fewest(arrows_of(ops), times)
    assert (few, sets) == (2, [[("logit", "softmax"), ("softmax", "attend")]])
    assert best == times[-1]
    assert times[0] / best == pytest.approx(1.62, abs=0.01)


def test_taking_the_best_next_arrow_is_not_enough_everywhere() -> None:
    hidden = hidden_of("lab1b").graded_cases("1.3")[len(LAB.public_cases("1.3")) :]
    beaten = [
        case.name
        for case in hidden
        if len(greedy([tuple(a) for a in case.given["arrows"]], case.given["times"]))
        > case.wanted["count"]
    ]
    assert len(beaten) >= 4


def test_models_to_be_fused_have_no_detours() -> None:
    """So that every set of arrows is a group that can run at once: the text says nothing of it."""
    for case in hidden_of("lab1b").graded_cases("1.3"):
        arrows = case.given["arrows"]
        names = {name for arrow in arrows for name in arrow}
        assert len(arrows) == len(names) - len(joined(tuple(arrow) for arrow in arrows))
        assert len(case.given["times"]) == 2 ** len(arrows) <= 256


# Tiling

TILES = st.tuples(*[st.integers(2, 5)] * 3)


@given(st.sampled_from("ABC"), TILES, TILES)
def test_the_interpreter_and_the_solution_agree(keep: str, tiles: Any, sizes: Any) -> None:
    shape = tuple(many * size for many, size in zip(tiles, sizes, strict=True))
    assert tuple(elements(keep, shape, tiles)) == OURS["stationary"](keep, shape, tiles)


GRIDS = [g for g in product(range(1, 7), repeat=3) if math.prod(g) <= 12]


@pytest.mark.parametrize("grid", [g for g in GRIDS if math.prod(g) in (4, 6, 8, 9, 12)], ids=str)
def test_no_order_moves_less_than_the_bound(grid: Any) -> None:
    assert least_by_search(grid) == least(grid)


@given(st.tuples(*[st.integers(1, 6)] * 3))
def test_the_solution_reaches_the_bound(grid: Any) -> None:
    order = OURS["tile_order"](*grid)
    assert sorted(order) == list(product(*map(range, grid)))
    moved = count(order)
    assert moved.total == least(grid) <= least_of_staying(grid)
    tm, tn, tk = grid
    steps = tm * tn * tk
    if tk > 1:  # the known closed forms
        assert moved.reads == {"A": steps - tm * (tn - 1), "B": steps - (tm - 1), "C": 0}


@pytest.mark.parametrize("task", ["2.2", "2.3"])
def test_a_better_order_exists_in_every_case(task: str) -> None:
    for case in hidden_of("lab1b").graded_cases(task):
        assert case.wanted["best"] < case.wanted["stationary"]


def test_the_text_s_formula_finds_what_the_interpreter_finds() -> None:
    for case in hidden_of("lab1b").graded_cases("2.4"):
        shape, budget = case.given["shape"], case.given["budget"]
        moved, sizes = best_tiles(shape, budget)
        assert moved == case.wanted["elements"]
        assert OURS["best_tiles"](*shape, budget) in sizes
        m, n, k = shape
        assert moved > 2 * m * n * k / math.sqrt(budget), "nobody can do better than the bound"


def test_flash_attention_moves_less_the_more_there_is_on_chip() -> None:
    moved = [attention_traffic(1024, 64, 2**power) or 0 for power in range(12, 20)]
    assert all(a >= b for a, b in itertools.pairwise(moved))
    assert moved[-1] == 4 * 1024 * 64 * 2, "all of it fits: each of Q, K, V and O once"
    picture = attention_chart(512)
    assert picture is not None
    assert "flash attention" in picture.words


# Data types


def test_the_sizes_of_types_are_pytorchs() -> None:
    assert {name: dtype.itemsize for name, dtype in DTYPES.items()} == {
        name: item_bytes(name) for name in DTYPES
    }


WEIGHTS = st.lists(
    st.lists(st.floats(-100, 100, width=32), min_size=4, max_size=4), min_size=1, max_size=4
)


@given(WEIGHTS)
def test_the_nearest_of_255_steps_and_the_solution_agree(rows: list[list[float]]) -> None:
    weight = np.array(rows)
    searched, scales = quantized_by_search(weight)
    q, scale = OURS["quantize"](weight)
    assert scale == pytest.approx(scales)
    assert q.dtype == np.int8
    errors = (
        np.abs(weight - q * scale[:, None]),
        np.abs(weight - searched * np.array(scales)[:, None]),
    )
    assert np.allclose(*errors, atol=1e-9 * (1 + np.abs(weight).max()))


def test_pytorch_rounds_to_the_same_numbers() -> None:
    import torch

    weight = np.random.default_rng(0).standard_normal((6, 9))
    q, scale = OURS["quantize"](weight)
    theirs = torch.fake_quantize_per_channel_affine(
        torch.tensor(weight).float(),
        torch.tensor(scale).float(),
        torch.zeros(6, dtype=torch.int32),
        *(0, -127, 127),
    )
    assert np.allclose(theirs.numpy(), q * scale[:, None], rtol=1e-5)


# The lab as a whole


def test_what_is_derived_is_up_to_date() -> None:
    for path, text in derived_files().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run make notebooks"


def test_hidden_cases_are_other_cases() -> None:
    assert_hidden_cases_are_other("lab1b")


def test_what_counts_is_not_in_the_sandbox(tmp_path: Any) -> None:
    """The interpreter answers tasks 2.1 to 2.4: where student code runs it is not there."""
    kit = House(tmp_path).add_kit("1b", Cut())
    there = {str(path.relative_to(kit)) for path in kit.rglob("*.py")}
    assert "lab_utils/instruments/tiles/__init__.py" in there
    assert "lab_utils/labs/lab1b/ask.py" in there
    texts = "\n".join((kit / path).read_text() for path in there)
    for ours in ("def walk(order", "def count(order", "def elements_moved", "def moved_by_running"):
        assert ours not in texts, ours


def test_the_fusion_film_tells_what_each_fusion_gains() -> None:
    ops, nbytes = transformer_layer()
    arrows = [("logit", "softmax"), ("softmax", "attend")]

    def costs(fused: list[tuple[str, str]]) -> dict[str, tuple[float, float]]:
        moved = OURS["traffic"](ops, nbytes, groups_of(fused))
        rate = A100.rates["bf16"]
        return {o.name: (o.flops / rate, sum(moved[o.name]) / A100.bandwidth) for o in ops}

    film = fusion_film(ops, arrows, costs)
    assert "0 fused: 156.3 µs, 3 of 8 operators wait for memory" in repr(film)
    assert "2 fused: 96.6 µs, 0 of 8 operators wait for memory" in repr(film)
    before = film.picture.value
    film.fused.value = 1
    assert film.picture.value != before
    assert "1 fused" in film.picture.value


def test_the_tables_of_the_course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the notebooks' own cells write is what the oracles write; odd files are told."""
    monkeypatch.chdir(tmp_path)
    space = space_of("") | {"pd": pandas, "display": print}
    for name in ("COLUMNS", "course_chain", "transformer_layer", "groups_of"):
        space[name] = getattr(lab1b, name)
    for name in ("write_fusion", "write_tiling", "write_types"):
        space[name] = getattr(lab1b, name)
    space |= {"A100": A100, "best": [("logit", "softmax"), ("softmax", "attend")]}
    space["layer"], space["layer_bytes"] = transformer_layer()
    paths = sorted((ROOT / "solutions" / "lab1b").glob("*.ipynb"))
    cells = [cell for path in paths for cell in nbformat.read(path, as_version=4).cells]
    for cell in cells:
        if cell.cell_type == "code" and '"output_b' in cell.source:
            exec(cell.source, space)
    right = tables()
    assert list(right) == [file.name for file in LAB.files]
    for file in LAB.files:
        mine = Path(file.name).read_bytes()
        assert mine == right[file.name], file.name
        assert file.problem(mine) == ""
        head, row, *rows = mine.decode().splitlines()
        assert "other columns" in file.problem(b"a,b\n1,2\n")
        assert "other columns" in file.problem(b"")
        assert f"rows of {len(rows) + 1}" in file.problem(head.encode())
        odd = "\n".join([head, row.replace(row.split(",")[-1], "x,y"), *rows])
        assert "row 1 has something" in file.problem(odd.encode())
        last = head.split(",")[-1]
        less = "\n".join([head, row.rpartition(",")[0] + ",-1", *rows])
        assert "row 1" in file.problem(less.encode()), last


def test_figures_of_the_course_are_in_its_tables() -> None:
    """C stays: A is read Tn times, B Tm times, C written once; the layer is 1.6 times as fast."""
    rows = {n: list(csv.DictReader(t.decode().splitlines())) for n, t in tables().items()}
    (c_stays,) = rows["output_b3c.csv"]
    m, n, k = 4096, 1024, 6144
    assert [int(c_stays[p]) for p in ("A read", "B read", "C read", "C written")] == [
        *(2 * m * k, 4 * k * n, 0, m * n),
    ]
    assert sum(float(row["Latency (usec)"]) for row in rows["output_b2.csv"]) == pytest.approx(
        97, abs=1
    )
    assert {row["Bound"] for row in rows["output_b5a.csv"]} == {"M"}
