"""A solver proves that there is no plan where ours finds none."""

from __future__ import annotations

from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from torch import fx

from autograder.reference.analysis import step_of
from autograder.reference.planner.costs import estimated_seconds
from autograder.reference.planner.floor import lowest_peak
from autograder.reference.planner.search import Search
from tests.benchmarks.optimum import optimal_seconds
from tests.support.strategies import random_step_graph


@settings(max_examples=40, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(random_step_graph(max_operators=50, clones=False, control=False), st.floats(0, 1))
def test_a_feasible_budget_is_met(graph: fx.Graph, share: float) -> None:
    """Budgets close to the floor; CP-SAT lets each value be rebuilt once, at any moment."""
    step = step_of(graph, estimated_seconds(graph))
    floor = lowest_peak(step).nbytes
    search = Search(step, 0)
    peak = search.simulated(search.simulator.default()).result.peak
    assume(peak > floor)
    search.budget = int(floor + share**4 * (peak - floor))
    if search.run().result.peak > search.budget:
        assert optimal_seconds(step, search.budget, 30, unit=1, workers=1) is None


@settings(max_examples=40, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(random_step_graph(max_operators=50, clones=False, control=False))
def test_no_plan_is_below_the_floor(graph: fx.Graph) -> None:
    step = step_of(graph, estimated_seconds(graph))
    certificate = lowest_peak(step)
    floor = certificate.nbytes
    assert floor == sum(held.nbytes for held in certificate.held)
    assert optimal_seconds(step, floor - 1, 30, unit=1, workers=1) is None
    assert Search(step, floor - 1).run().result.peak >= floor
