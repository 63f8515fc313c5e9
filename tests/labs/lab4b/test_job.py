"""Notebook 2 of Lab 4B: oracles, solution and cases agree; mistakes are named, other ways right."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
import torch

from autograder.grading.hidden import hidden_of
from autograder.grading.sandbox.host.cut import Cut
from autograder.reference.job import held, schedules, search, sharded, stages
from lab_utils.instruments.network.astrasim import read_system
from lab_utils.instruments.network.job import simulate
from lab_utils.instruments.network.strategy import Strategy
from lab_utils.instruments.parallel import Job
from lab_utils.instruments.shapes import Transformer
from lab_utils.kit.errors import LabError
from lab_utils.labs.lab4b import LAB
from lab_utils.labs.lab4b.judge.job_numbers import by_key
from lab_utils.labs.lab4b.maps import strategy_map
from lab_utils.labs.lab4b.published import PUBLISHED, rank_correlation
from lab_utils.labs.lab4b.rows import Row
from lab_utils.labs.lab4b.show import SHOW
from lab_utils.labs.lab4b.systems import (
    GPT_175B,
    JOB,
    LLAMA_70B,
    NETWORK_1,
    SYSTEM_1,
    SYSTEM_2,
    SYSTEM_JSON,
)
from lab_utils.labs.lab4b.tasks import job
from tests.labs.lab4b.catalogue.job import RIGHT, WRONG
from tests.support.catalogue import Catalogue, NamedOnHidden
from tests.support.judged import points_of, verdict_of
from tests.support.solved_cells import solved_space

TINY = Transformer("tiny", 2, 16, 4, 2, 4, 24, True, 30, 8)


def ours() -> dict[str, Any]:
    """What the solved notebooks import and define."""
    return solved_space("lab4b")


class TestCatalogue(NamedOnHidden):
    catalogue = Catalogue("lab4b", WRONG, RIGHT, part=job.TASKS)


@pytest.mark.parametrize(
    "strategy", [Strategy(2, 2, 2), Strategy(1, 2, 4, 1, True), Strategy(4, 1, 2)], ids=str
)
def test_a_sharded_layer_has_the_gradients_of_one_device(strategy: Strategy) -> None:
    """Only what computes the right thing may say what must be sent."""
    setting = Job(8, 4, 1, "bf16")
    alone = sharded.ShardedLayer(TINY, setting, Strategy()).run()
    layer = sharded.ShardedLayer(TINY, setting, strategy)
    for name, gradient in layer.run().items():
        torch.testing.assert_close(gradient, alone[name], rtol=1e-11, atol=1e-12)
    for traffic in (search.layer_traffic, ours()["layer_traffic"]):
        assert by_key(traffic(TINY, setting, strategy)) == layer.notes.totals


def test_the_solution_counts_memory_as_autograd_does() -> None:
    for strategy in search.strategies(8):
        setting = Job(8, 16, 2, "bf16")
        if TINY.kv_heads % strategy.tp == 0:
            right = held.device_memory(TINY, setting, strategy, 16)
            for mine in (ours()["device_memory"], search.counted_memory):
                assert mine(TINY, setting, strategy, 16) == right, strategy


def test_a_pipeline_has_the_gradients_of_one_device() -> None:
    """Only what computes the right thing may say what stages send to each other."""
    deep, setting = replace(TINY, layers=4), Job(8, 8, 2, "bf16")
    alone = stages.Pipeline(deep, setting, Strategy()).run()
    pipeline = stages.Pipeline(deep, setting, Strategy(1, 2, 2, 2, True))
    for mine, right in zip(pipeline.run(), alone, strict=True):
        for name, gradient in mine.items():
            torch.testing.assert_close(gradient, right[name], rtol=1e-11, atol=1e-11)
    assert pipeline.sent == [2 * 2 * 8 * 4 * 16 // 4] * 2  # a batch of 4, half of 8 tokens, twice


@pytest.mark.parametrize("micro_batches", [1, 2, 4])
def test_the_solution_loads_a_stage_as_the_schedule_does(micro_batches: int) -> None:
    deep, setting = replace(TINY, layers=4), Job(8, 16, micro_batches, "bf16")
    for strategy in (Strategy(2, 2, 1, 4), Strategy(1, 2, 2, 2, True), Strategy(4, 1, 1, 1)):
        for stage in range(strategy.pp):
            mine = ours()["stage_load"](deep, setting, strategy, stage, 16)
            assert mine == stages.stage_load(deep, setting, strategy, stage, 16), (strategy, stage)


LAYERS = "def layer_traffic(*_):\n    return []\n"
FREE = "def collective_seconds(*_):\n    return 0.0\n"
EMPTY = "def device_memory(*_):\n    return Memory(0, 0, 0)\n"
NOTHING = "def strategies(ranks):\n    return []\n"
WORST = (
    "def best_strategy(rows, room):\n    return max(rows, key=lambda row: row.seconds).strategy\n"
)


@pytest.mark.parametrize(
    ("task", "earlier"),
    [*(("2.11", cell) for cell in (LAYERS, FREE, EMPTY, NOTHING, WORST)), ("2.12", EMPTY)],
    ids=["traffic", "seconds", "memory", "strategies", "best", "memory of a stage"],
)
def test_a_mistake_is_paid_for_once(task: str, earlier: str) -> None:
    """Who has an earlier function wrong is lent a right one."""
    asked = LAB.task_called(task)
    own, space = ours()[asked.asks], TestCatalogue.catalogue.space_of(earlier)
    function = FunctionType(own.__code__, space, asked.asks)
    assert not verdict_of("lab4b", task, function).passed
    assert points_of("lab4b", task, function) == asked.points


def test_lending_refuses_what_no_honest_call_asks() -> None:
    lend, case = hidden_of("lab4b").lend, LAB.public_cases("2.12")[0]
    setting = [case.given[name] for name in ("model", "job", "strategy")]
    dim = {"kind": "Ring", "size": 10**9, "bandwidth": 1.0, "latency": 0.0}
    for name, arguments in (
        ("strategies", [10**9]),
        ("collective_seconds", ["all_reduce", 1.0, [dim]]),
        ("device_memory", [{**setting[0], "layers": 10**9}, *setting[1:], 16]),
        ("layer_traffic", [*setting[:2], {**setting[2], "tp": 10**9}]),
        ("winner", []),
    ):
        with pytest.raises((LabError, TypeError, ValueError)):
            lend(name, case, arguments)


@cache
def _rows(name: str) -> list[Row]:
    model, system = {"Llama": (LLAMA_70B, SYSTEM_1), "GPT": (GPT_175B, SYSTEM_2)}[name]
    names, rows = ours(), []
    for strategy in names["strategies"](64):
        step = names["simulate"](
            model, JOB, strategy, system, names["layer_traffic"], names["collective_seconds"]
        )
        held_bytes = names["device_memory"](model, JOB, strategy, 16).total
        rows.append(Row(strategy, step.wall, held_bytes))
    return rows


def test_strategies_are_ranked_as_astrasim_ranks_them() -> None:
    """Nothing is fitted: shapes, data sheets and counts alone."""
    mine = {row.strategy: row.seconds for row in _rows("Llama")}
    assert len(mine) == 56
    walls = [point.wall for point in PUBLISHED]
    assert rank_correlation([mine[point.strategy] for point in PUBLISHED], walls) >= 0.9
    steps = [
        ours()["simulate"](
            LLAMA_70B, JOB, p.strategy, SYSTEM_1, search.layer_traffic, schedules.seconds
        )
        for p in PUBLISHED
    ]
    assert rank_correlation([s.comm for s in steps], [p.comm for p in PUBLISHED]) >= 0.9
    assert rank_correlation([s.gpu for s in steps], [p.gpu for p in PUBLISHED]) >= 0.9


def test_by_their_rules_the_seconds_are_near_the_published_ones() -> None:
    """One operation a multiplication with its addition, one byte a number; nothing fitted.

    Their layer lacks the matrix behind attention, and they run less of it again: compute is above.
    """
    theirs = read_system("theirs", NETWORK_1, SYSTEM_JSON, 80e9, multiply_add=1)
    found = [
        simulate(
            LLAMA_70B, replace(JOB, dtype="int8"), p.strategy, theirs, search.layer_traffic,
            schedules.seconds,
        )
        for p in PUBLISHED
    ]  # fmt: skip
    for what, low, high in (("gpu", 1.05, 1.25), ("wall", 1.0, 1.55), ("comm", 0.85, 1.95)):
        shares = [
            getattr(s, what) / getattr(p, what) for s, p in zip(found, PUBLISHED, strict=True)
        ]
        assert low < min(shares) <= max(shares) < high, what
        order = [getattr(one, what) for one in found]
        assert rank_correlation(order, [getattr(p, what) for p in PUBLISHED]) >= 0.9


def test_the_published_run_on_two_dgx_boxes() -> None:
    """Another machine, other dimensions: a 16-layer Llama, dp 4 and tp 4, recomputed."""
    network = (
        "topology: [ FullyConnected, Switch ]\nnpus_count: [ 8, 2 ]\n"
        "bandwidth: [ 128.5714, 25.0 ]\nlatency: [ 20.0, 100.0 ]\n"
    )
    told = json.loads(SYSTEM_JSON) | {"peak-perf": 900}
    for key in ("all-reduce", "all-gather", "reduce-scatter"):
        told[f"{key}-implementation"] = ["direct", "halvingDoubling"]
    boxes = read_system("DGX-16", network, json.dumps(told), 80e9, multiply_add=1)
    how = (Strategy(4, 4, recompute=True), boxes, search.layer_traffic, schedules.seconds)
    step = simulate(replace(LLAMA_70B, layers=16), replace(JOB, dtype="int8"), *how)
    assert 1.0 < step.wall / 1.830652546 < 1.3
    assert 1.0 < step.gpu / 1.633032018 < 1.3
    assert 0.7 < step.comm / 0.580435941 < 1.3


def test_ranks_are_correlated_as_statisticians_do() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert rank_correlation([1, 2, 2, 4], [1, 3, 2, 4]) == pytest.approx(0.9486833)


def test_the_published_memory_is_one_byte_for_everything() -> None:
    """The story of the notebook: 67 GB for the published winner, and what they leave out."""
    told = Strategy(8, 1, 8, 1, True)
    memory = ours()["device_memory"](LLAMA_70B, Job(1024, 512, 1, "int8"), told, 1)
    assert (memory.state + memory.kept) / 1e9 == pytest.approx(67, rel=0.03)
    honest = ours()["device_memory"](LLAMA_70B, JOB, told, 16)
    assert honest.state > 9e11


def test_winners_as_the_text_says() -> None:
    best, rows = ours()["best_strategy"], _rows("Llama")
    assert str(best(rows, None)) == "64_1_1_1_0"
    assert str(best(rows, 80)) == "4_16_1_1_1"
    assert str(best(rows, 141)) == "8_8_1_1_1"
    assert str(best(_rows("GPT"), 80)) == "1_64_1_1_1"


def test_the_map_moves_with_the_memory() -> None:
    shown = strategy_map({"System 1": _rows("Llama"), "System 2": _rows("GPT")})
    assert shown is not None
    assert "with 80 GB 6 of 56 fit, the fastest is 4_16_1_1_1" in shown.picture.value
    assert shown.picture.value.count("polygon") == 1
    shown.room.value = 160
    assert "the fastest is 8_8_1_1_1" in shown.picture.value
    shown.room.value = 10
    assert "none of 56 fits" in shown.picture.value
    assert "polygon" not in shown.picture.value
    shown.system.value = "System 2"
    assert "System 2: fastest of all 64_1_1_1_0" in shown.picture.value
    assert 'role="img" aria-label="System 1: fastest of all' in shown.static.svg
    assert "System 2" in repr(shown)


def test_who_finds_the_best_is_not_beside_student_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The map names the winner: it would answer task 2.8 for any rows."""
    Cut().copy_to(tmp_path / "lab_utils")
    texts = [file.read_text("utf-8") for file in tmp_path.rglob("*.py")]
    assert any("def strategy_map" in text for text in texts)
    assert not any("min(fits" in text or "def map_words" in text for text in texts)
    monkeypatch.setattr("lab_utils.labs.lab4b.maps.find_spec", lambda name: None)
    assert strategy_map({"System 1": _rows("Llama")}) is None
    assert "in your own notebook" in capsys.readouterr().out


@pytest.mark.parametrize("task", ["2.5", "2.6"])
def test_a_picture_shows_yours(task: str) -> None:
    asked = ours()[LAB.task_called(task).asks]
    for case in hidden_of("lab4b").graded_cases(task):
        shown: Any = SHOW[task](case, LAB.ask(task)(asked, case.given))
        assert "aria-label" in shown.svg
        assert "not as wanted" not in shown.words
