"""Every schedule is legal, and every legal order computes the same values."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import (
    CycleError,
    add_control_dependency,
    check_acyclic,
    control_dependencies,
    copy_graph,
)
from lab_utils.steps.run import StepResult, example_values, run
from lab_utils.steps.schedule import (
    as_soon_as_possible,
    check_order,
    program_order,
    random_order,
    runnable,
)
from lab_utils.steps.storage import dependencies, is_operation
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import llm_mlp
from tests.support.strategies import random_step_graph
from tests.support.workloads import CASES


def assert_same(one: StepResult, other: StepResult) -> None:
    for mine, theirs in ((one.outputs, other.outputs), (one.state, other.state)):
        assert mine.keys() == theirs.keys()
        for name, value in mine.items():
            torch.testing.assert_close(theirs[name], value, rtol=0, atol=0, equal_nan=True)


@given(random_step_graph(random_numbers=True), st.integers(0, 1000), st.integers(1, 4))
def test_every_legal_order_gives_the_same_values(graph: fx.Graph, seed: int, workers: int) -> None:
    values = example_values(graph)
    torch.manual_seed(0)
    expected = run(graph, values)
    for schedule in (
        as_soon_as_possible(graph),
        as_soon_as_possible(graph, workers),
        random_order(graph, seed),
    ):
        check_order(graph, schedule.order)
        torch.manual_seed(0)
        assert_same(expected, run(graph, values, schedule))


@pytest.mark.parametrize("name", CASES)
def test_real_steps_give_the_same_values_in_every_order(name: str) -> None:
    torch.manual_seed(0)
    case = CASES[name]()
    torch.manual_seed(1)
    expected = run(case.graph, case.values)
    for schedule in (
        as_soon_as_possible(case.graph),
        random_order(case.graph, 1),
        random_order(case.graph, 2),
    ):
        torch.manual_seed(1)
        assert_same(expected, run(case.graph, case.values, schedule))


def test_running_does_not_change_what_it_was_given() -> None:
    case = CASES["resnet"]()
    before = {name: value.clone() for name, value in case.values.items()}
    run(case.graph, case.values)
    for name, value in before.items():
        assert torch.equal(case.values[name], value), name


@given(random_step_graph(), st.integers(1, 4))
def test_as_soon_as_possible_waits_for_nothing_else(graph: fx.Graph, workers: int) -> None:
    """Without a bound on workers, a node runs one step after the last thing that it needs."""
    schedule = as_soon_as_possible(graph)
    step_of = schedule.step_of()
    for node, before in dependencies(graph).items():
        if node in step_of and is_operation(node):
            ready = max((step_of[n] for n in before if n in step_of), default=-1)
            views_first = [n for n in before if n in step_of and step_of[n] == step_of[node]]
            assert step_of[node] == ready + 1 or not any(map(is_operation, views_first))
    bounded = as_soon_as_possible(graph, workers)
    assert all(sum(map(is_operation, step)) <= workers for step in bounded.steps)
    assert len(bounded) >= len(schedule)
    assert sorted(n.name for n in bounded.order) == sorted(n.name for n in runnable(graph))


def test_a_control_dependency_delays() -> None:
    graph = trace_workload(llm_mlp(2, 8, 16, 4))
    named = {node.name: node for node in graph.nodes}
    early, late = named["l0_up_proj"], named["l0_gate_proj_act"]
    assert as_soon_as_possible(graph).step_of()[early] == 0
    add_control_dependency(early, late)
    assert control_dependencies(early) == (late,)
    step_of = as_soon_as_possible(graph).step_of()
    assert step_of[early] == step_of[late] + 1


def test_a_cycle_is_printed() -> None:
    graph = trace_workload(llm_mlp(2, 8, 16, 4))
    named = {node.name: node for node in graph.nodes}
    add_control_dependency(named["l0_gate_proj"], named["l0_gate_up_proj"])
    with pytest.raises(CycleError) as error:
        check_acyclic(graph)
    message = str(error.value)
    chain = message.rpartition(": ")[2].split(" -> ")
    assert chain[0] == chain[-1]
    assert set(chain) == {"l0_gate_proj", "l0_gate_proj_act", "l0_gate_up_proj"}
    after = dict(pairwise(chain))
    assert after["l0_gate_up_proj"] == "l0_gate_proj"  # each one runs before the next
    for schedule in (program_order, as_soon_as_possible):
        with pytest.raises(CycleError):
            schedule(graph)


def test_control_dependencies_stay_inside_one_graph() -> None:
    graph = trace_workload(llm_mlp(2, 8, 16, 4))
    copy, new = copy_graph(graph)
    nodes = runnable(graph)
    add_control_dependency(nodes[-1], nodes[0])
    with pytest.raises(LabError, match="different graphs"):
        add_control_dependency(nodes[-1], new[nodes[0]])
    with pytest.raises(LabError, match="itself"):
        add_control_dependency(nodes[-1], nodes[-1])
    assert not control_dependencies(new[nodes[-1]])
    again, map_again = copy_graph(graph)
    assert control_dependencies(map_again[nodes[-1]]) == (map_again[nodes[0]],)
    assert str(again) == str(graph) == str(copy)


def test_a_copied_node_does_not_share_its_control_dependencies() -> None:
    graph = trace_workload(llm_mlp(2, 8, 16, 4))
    first, second, *_, last = runnable(graph)
    add_control_dependency(last, first)
    with graph.inserting_before(last.next):
        copied = graph.node_copy(last)
    add_control_dependency(copied, second)
    assert control_dependencies(last) == (first,)
    assert control_dependencies(copied) == (first, second)


def test_workers_must_be_positive() -> None:
    with pytest.raises(LabError, match="at least 1"):
        as_soon_as_possible(trace_workload(llm_mlp(1, 4, 4, 2)), workers=0)
