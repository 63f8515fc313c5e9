"""The curve of notebook 05: what PyTorch's own ways reach was measured, and says how."""

from __future__ import annotations

import json

import pytest
import torch

from autograder.labs.project import reference
from autograder.labs.project.build import tradeoff_workload
from lab_utils.labs.project.tradeoff import (
    known_points,
    plot_tradeoff,
    recomputed_seconds,
    tradeoff_graph,
)
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.estimate import estimated_seconds
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp
from tests.benchmarks.models import blocks
from tests.benchmarks.opponents import eager_step
from tests.benchmarks.tradeoff import FILE, NAMES, estimated_work, point
from tests.support.workloads import make_case


def test_no_way_is_better_than_the_optimum() -> None:
    """Up to 0.1 %: eager PyTorch holds a number or two that the traced step does not."""
    known = known_points()
    optimum = known.pop("optimum (each value at most once)")
    assert set(known) == set(NAMES)
    for points in known.values():
        for work, peak in points:
            assert 1.001 * peak >= min(held for again, held in optimum if again <= work + 1e-6)


@pytest.mark.parametrize("share", [0.9, 0.8, 0.7, 0.6])
def test_the_greedy_is_not_better_than_the_optimum(share: float) -> None:
    graph = tradeoff_graph()
    seconds = estimated_seconds(graph)
    peak = reference.simulate(graph, []).nbytes
    plan = reference.choose(graph, seconds, round(share * peak))
    work = recomputed_seconds(graph, plan.drop, seconds)
    optimum = known_points()["optimum (each value at most once)"]
    assert plan.nbytes >= min(held for again, held in optimum if again <= work + 1e-9)


def test_estimates_survive_a_file() -> None:
    graph = trace_workload(llm_mlp(2, 8, 16, 4))
    again = read_dot(write_dot(graph))
    found, wanted = (
        {node.name: time for node, time in estimated_seconds(g).items()} for g in (again, graph)
    )
    assert {name: found[name] for name in wanted} == pytest.approx(wanted)


def test_the_file_says_how_it_was_made() -> None:
    table = json.loads(FILE.read_text(encoding="utf-8"))
    assert table["made by"] == "python -m tests.benchmarks.tradeoff"
    assert {name: [tuple(p) for p in points] for name, points in table["points"].items()} == {
        name: known_points()[name] for name in NAMES
    }


def test_checkpoint_reaches_what_was_measured() -> None:
    torch.manual_seed(0)
    case = make_case(tradeoff_workload(), torch.optim.SGD)
    wrapped = eager_step(case, blocks(case.work.model))
    measured = point(case, wrapped, estimated_work(eager_step(case)))
    assert measured == pytest.approx(known_points()[NAMES[0]][0], rel=1e-3)


def test_all_ways_are_on_the_curve() -> None:
    (axes,) = plot_tradeoff({"your plans": [(0.0, 10**7)]}).axes
    labels = {line.get_label() for line in axes.get_lines()}
    assert labels == {"your plans", *known_points()}
