"""The benchmark runner: verdicts, and a results file that partial runs add to."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lab_utils.kit.root import ROOT
from tests.benchmarks import Row, timed
from tests.benchmarks.__main__ import known_names, measure, save
from tests.benchmarks.steps import Seconds, Timed, ratios, take_turns


def row(name: str, ours: float, goal: float = 1.0, higher_is_better: bool = False) -> Row:
    return Row(name, ours, "peer", 2.0, "s", goal, higher_is_better)


@pytest.mark.parametrize(
    ("ours", "goal", "higher_is_better", "met"),
    [
        (3.0, 1.5, False, True),  # a goal that is just reached is met
        (3.1, 1.5, False, False),
        (2.9, 1.5, False, True),
        (3.0, 1.5, True, True),
        (2.9, 1.5, True, False),
        (3.1, 1.5, True, True),
    ],
)
def test_goal_bounds_the_ratio(ours: float, goal: float, higher_is_better: bool, met: bool) -> None:
    assert row("r", ours, goal, higher_is_better).met is met


def test_partial_run_replaces_only_its_rows(tmp_path: Path) -> None:
    results = tmp_path / "build" / "bench.json"
    save([row("a", 1), row("b", 2)], results, keep_others=False)
    save([row("b", 8)], results, keep_others=True)
    assert {r["name"]: r["ours"] for r in json.loads(results.read_text())} == {"a": 1, "b": 8}


def test_full_run_forgets_rows_that_are_gone(tmp_path: Path) -> None:
    results = tmp_path / "bench.json"
    save([row("a", 1), row("b", 2)], results, keep_others=False)
    save([row("b", 8)], results, keep_others=False)
    (only,) = json.loads(results.read_text())
    assert only == {
        "name": "b",
        "ours": 8,
        "peer_name": "peer",
        "peer": 2.0,
        "ratio": 4.0,
        "unit": "s",
        "goal": 1.0,
        "met": False,
        "note": "",
    }


def test_timed_takes_the_best_call() -> None:
    ticks = iter([0.0, 5.0, 10.0, 12.0, 20.0, 29.0])
    assert timed(lambda: None, repeat=3, clock=lambda: next(ticks)) == 2.0


def test_steps_take_turns_and_tell_their_spread() -> None:
    order: list[str] = []
    ours, peer = Timed(lambda: order.append("ours")), Timed(lambda: order.append("peer"))
    take_turns([ours, peer], rounds=2)
    assert order == ["ours", "peer"] * 3  # the first turn is not counted
    assert len(ours.rounds) == len(peer.rounds) == 2
    ours.rounds = [Seconds(1.0, 0.0), Seconds(2.0, 1.0), Seconds(9.0, 0.0)]
    peer.rounds = [Seconds(1.0, 1.0), Seconds(1.0, 1.0), Seconds(1.0, 1.0)]
    assert ours.seconds == 3.0
    assert ratios(ours, peer) == (1.5, 1.0, 3.0)
    assert ours.told() == "user 2.00 + system 0.00 s, half of them 2.00 to 6.00"


def test_unknown_name_is_answered_with_the_known_ones() -> None:
    command = [sys.executable, "-m", "tests.benchmarks", "nonsense"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert "nonsense" in line
    assert all(name in line for name in known_names())


@pytest.mark.slow
def test_import_benchmark_measures() -> None:
    (only,) = measure("import")
    assert only.ours > 0
    assert only.peer > 0
