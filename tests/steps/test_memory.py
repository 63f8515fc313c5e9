"""Simulated bytes are the bytes that tensors really hold, in every legal order."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import fx

from lab_utils.steps.graph import Kind, kind
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.run import example_values, measured_peak
from lab_utils.steps.schedule import (
    OrderError,
    Schedule,
    as_soon_as_possible,
    program_order,
    random_order,
    runnable,
)
from lab_utils.steps.storage import nbytes, owns_memory, storages
from tests.support.strategies import random_step_graph
from tests.support.workloads import CASES, Case


@pytest.fixture(scope="module", params=CASES, ids=str)
def case(request: pytest.FixtureRequest) -> Case:
    torch.manual_seed(0)
    return CASES[request.param]()


def schedules(graph: fx.Graph) -> list[Schedule]:
    return [
        program_order(graph),
        as_soon_as_possible(graph),
        as_soon_as_possible(graph, workers=1),
        as_soon_as_possible(graph, workers=3),
        random_order(graph, seed=7),
    ]


def test_simulated_peak_is_the_measured_peak(case: Case) -> None:
    for schedule in schedules(case.graph):
        simulated = live_bytes(case.graph, schedule).peak
        measured = measured_peak(case.graph, case.values, schedule)
        assert simulated == pytest.approx(measured, rel=0.001), schedule.name


@given(random_step_graph(random_numbers=True), st.integers(0, 1000))
def test_simulated_peak_is_the_measured_peak_on_random_graphs(graph: fx.Graph, seed: int) -> None:
    values = example_values(graph)
    for schedule in (program_order(graph), as_soon_as_possible(graph), random_order(graph, seed)):
        assert live_bytes(graph, schedule).peak == measured_peak(graph, values, schedule)


@given(random_step_graph())
def test_kinds_add_up_to_the_total(graph: fx.Graph) -> None:
    line = live_bytes(graph, program_order(graph))
    assert len(line.total) == len(runnable(graph))
    for step, total in enumerate(line.total):
        alive = line.alive(step)
        assert total == sum(life.nbytes for life in alive)
        assert [x.nbytes for x in alive] == sorted((x.nbytes for x in alive), reverse=True)
    assert sum(line.breakdown.values()) == line.peak == line.total[line.peak_step]


def test_storages_are_those_of_the_real_tensors(case: Case) -> None:
    """Two nodes share a storage here if and only if their tensors do when the graph runs."""
    memory = storages(case.graph)
    real: dict[fx.Node, object] = {}

    class Recorder(fx.Interpreter):
        def run_node(self, n: fx.Node) -> object:
            result = super().run_node(n)
            if isinstance(result, torch.Tensor):
                real[n] = result  # held, so that no storage is used twice
            return result

    module = fx.GraphModule(torch.nn.Module(), case.graph)
    copies = {name: value.clone() for name, value in case.values.items()}
    Recorder(module).run(*copies.values())
    owner_of: dict[int, object] = {}
    for node, tensor in real.items():
        if node.op == "output":
            continue
        assert isinstance(tensor, torch.Tensor)
        (storage,) = memory[node]
        address = tensor.untyped_storage()._cdata
        assert owner_of.setdefault(address, storage) == storage, node
    assert len(set(owner_of.values())) == len(owner_of)


def test_a_view_keeps_alive_what_it_looks_at() -> None:
    graph = fx.Graph()
    x = graph.placeholder("x")
    made = graph.call_function(torch.ops.aten.relu.default, (x,))
    view = graph.call_function(torch.ops.aten.view.default, (made, [-1]))
    other = graph.call_function(torch.ops.aten.neg.default, (x,))
    last = graph.call_function(torch.ops.aten.sum.default, (view,))
    graph.output({"loss": last, "grad:x": other})
    sizes = {x: (4, 8), made: (4, 8), view: (32,), other: (4, 8), last: ()}
    for node, shape in sizes.items():
        node.meta |= {"val": torch.empty(shape, device="meta"), "kind": Kind.ACTIVATION}
    line = live_bytes(graph, program_order(graph))
    assert line.total == [256, 256, 384, 388]  # relu's 128 bytes live until sum has read the view


@pytest.mark.parametrize("given", [0, 2])
def test_where_nothing_runs_one_step_shows_what_is_given(given: int) -> None:
    graph = fx.Graph()
    for place in range(given):
        node = graph.placeholder(f"x{place}")
        node.meta |= {"val": torch.empty(4, 8, device="meta"), "kind": Kind.INPUT}
    graph.output({})
    for schedule in (program_order(graph), as_soon_as_possible(graph)):
        line = live_bytes(graph, schedule)
        assert line.total == [128 * given]
        assert line.peak == sum(line.breakdown.values()) == line.static == 128 * given
        assert line.peak_step == 0
        assert len(line.alive(0)) == given


def test_weights_stay_and_activations_go(case: Case) -> None:
    line = live_bytes(case.graph, program_order(case.graph))
    weights = [n for n in case.graph.nodes if n.op == "placeholder" and kind(n) is Kind.WEIGHT]
    expected = sum(n.meta["val"].nbytes for n in weights)
    assert set(line.by_kind[Kind.WEIGHT]) == {expected}
    forward_end = max(i for i, n in enumerate(runnable(case.graph)) if kind(n) is Kind.ACTIVATION)
    held = line.by_kind[Kind.ACTIVATION]
    assert max(held) >= held[forward_end] > held[-1]


def test_an_illegal_order_is_named() -> None:
    graph = CASES["llm_mlp"]().graph
    order = runnable(graph)
    with pytest.raises(OrderError, match=f"{order[-1].name} is missing"):
        live_bytes(graph, order[:-1])
    with pytest.raises(OrderError, match=f"{order[0].name} is in the order twice"):
        live_bytes(graph, [*order, order[0]])
    with pytest.raises(OrderError, match="runs before .*, which it depends on"):
        live_bytes(graph, order[::-1])
    with pytest.raises(OrderError, match="x is not a node that runs"):
        live_bytes(graph, [*order, next(iter(graph.nodes))])


def test_a_node_that_only_looks_owns_nothing(case: Case) -> None:
    memory = storages(case.graph)
    for node in case.graph.nodes:
        own = [s for s in memory[node] if s.owner is node]
        assert nbytes(node) == sum(s.nbytes for s in own), node
        if node.op == "call_function":
            assert bool(own) == owns_memory(node), node
