"""A solver proves that there is no plan where ours finds none."""

from __future__ import annotations

from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from torch import fx

from autograder.reference.analysis import step_of
from autograder.reference.planner.costs import estimated_seconds
from autograder.reference.planner.floor import lowest_peak
from autograder.reference.planner.reach import best_choice
from autograder.reference.simulate import Simulator
from tests.benchmarks.optimum import optimal_seconds
from tests.support.strategies import random_step_graph


@settings(max_examples=40, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(random_step_graph(max_operators=50, clones=False, control=False), st.floats(0, 1))
def test_a_feasible_budget_is_met_and_a_missed_one_refuted(graph: fx.Graph, share: float) -> None:
    """Budgets close to the floor; CP-SAT lets each value be rebuilt once, at any moment."""
    step = step_of(graph, estimated_seconds(graph))
    floor = lowest_peak(step).nbytes
    simulator = Simulator(step)
    peak = simulator.simulate(simulator.default()).peak
    assume(peak > floor)
    budget = int(floor + share**4 * (peak - floor))
    choice, certificate = best_choice(step, budget)
    if choice.result.peak > budget:
        assert certificate.nbytes == choice.result.peak
        assert optimal_seconds(step, certificate.nbytes - 1, 30, unit=1, workers=1) is None


@settings(max_examples=40, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(random_step_graph(max_operators=50, clones=False, control=False))
def test_no_plan_is_below_the_floor(graph: fx.Graph) -> None:
    """The lowest peak is reached, and what its certificate names adds up to it."""
    step = step_of(graph, estimated_seconds(graph))
    choice, certificate = best_choice(step, 0)
    assert choice.result.peak == certificate.nbytes == sum(h.nbytes for h in certificate.held)
    assert optimal_seconds(step, certificate.nbytes - 1, 30, unit=1, workers=1) is None
