"""The reference engine: plans, simulated peaks, and rewritten steps with the same bits."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
import torch
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from torch import fx, nn

from autograder.labs.project import reference
from autograder.reference.analysis import step_of
from autograder.reference.apply import rewrite_by, rewrite_with
from autograder.reference.planner.backwards import Backwards
from autograder.reference.planner.costs import estimated_seconds
from autograder.reference.planner.floor import lowest_peak
from autograder.reference.planner.plan import apply, plan
from autograder.reference.planner.search import Search
from autograder.reference.planner.shed import shed_plan
from autograder.reference.simulate import Fate, Simulator
from autograder.reference.timetable import Timetable, cheaper, simulate_table
from autograder.reference.values import Step
from lab_utils.labs.project.ask.candidates import fields_of
from lab_utils.steps import estimate as costs
from lab_utils.steps.graph import copy_graph
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.run import StepResult, example_values, measured_peak, run
from lab_utils.steps.schedule import Schedule, as_soon_as_possible, program_order, random_order
from lab_utils.steps.workloads import Workload
from tests.labs.lab4a.solved import functions
from tests.support.strategies import random_step_graph
from tests.support.workloads import (
    CASES,
    Case,
    distilbert_small,
    make_case,
    mamba_small,
    mobilenet_small,
)

# Shrinking a whole graph takes minutes and says little more.
WITHOUT_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)


@cache
def case(name: str) -> Case:
    torch.manual_seed(0)
    return CASES[name]()


def seeded_run(graph: fx.Graph, values: dict[str, torch.Tensor], order: Schedule) -> StepResult:
    torch.manual_seed(7)
    return run(graph, values, order)


def assert_same(wanted: StepResult, got: StepResult) -> None:
    for before, after in ((wanted.outputs, got.outputs), (wanted.state, got.state)):
        assert before.keys() == after.keys()
        for name, value in before.items():
            torch.testing.assert_close(
                after[name], value, rtol=0, atol=0, equal_nan=True, msg=f"{name} differs"
            )


def some_fates(step: Step, draw: random.Random) -> list[int]:
    """Any choice that is allowed, sensible or not."""
    share = draw.random()
    fates: list[int] = []
    for value in step.values:
        options = [Fate.DROPPED]
        if step.makers[value.maker].draw is not None:
            options.append(Fate.PACKED)
        dropped = value.pinned is None and draw.random() < share
        fates.append(draw.choice(options) if dropped else Fate.KEPT)
    for maker in step.makers:
        free = all(step.values[v].pinned is None for v in maker.values)
        if free and maker.draw is None and draw.random() < share / 2:
            for v in maker.values:
                fates[v] = Fate.REPEATED
    return fates


def peak_in_program_order(graph: fx.Graph) -> int:
    return live_bytes(graph, program_order(graph)).peak


def assert_sound(graph: fx.Graph, values: dict[str, torch.Tensor], fates: list[int]) -> None:
    """The rewritten step computes the same bits in every order; its peak was foretold."""
    step = step_of(graph, {})
    rewritten = rewrite_with(step, fates).graph
    rewritten.lint()
    wanted = seeded_run(graph, values, program_order(graph))
    orders = (program_order, as_soon_as_possible, lambda g: random_order(g, 1))
    for order in orders:
        assert_same(wanted, seeded_run(rewritten, values, order(rewritten)))
    assert Simulator(step).simulate(fates).peak == peak_in_program_order(rewritten)


@settings(max_examples=100, phases=WITHOUT_SHRINKING)
@given(random_step_graph(clones=False, control=False, random_numbers=True), st.integers(0, 2**32))
def test_any_choice_computes_the_same_bits_with_the_simulated_peak(
    graph: fx.Graph, seed: int
) -> None:
    step = step_of(graph, {})
    assert_sound(graph, example_values(graph), some_fates(step, random.Random(seed)))


@pytest.mark.parametrize("name", CASES)
def test_any_choice_on_real_models(name: str) -> None:
    step = step_of(case(name).graph, {})
    for seed in range(3):
        fates = some_fates(step, random.Random(seed))
        assert_sound(case(name).graph, case(name).values, fates)
    graph = rewrite_with(step, fates).graph
    assert measured_peak(graph, case(name).values) == peak_in_program_order(graph)


def some_table(step: Step, draw: random.Random) -> Timetable:
    """Any timetable that is allowed, sensible or not, without what nobody reads."""
    late = min([v.first_late for v in step.values] + [len(step.order)])
    found = []
    for index, maker in enumerate(step.makers):
        last = min(maker.deadline, len(step.order) - 1)
        if last >= late and all(step.values[v].pinned is None for v in maker.values):
            found += [(draw.randint(late, last), index) for _ in range(draw.randint(0, 3))]
    return cheaper(Simulator(step), tuple(sorted(set(found))), 0, tries=0)


@settings(max_examples=100, phases=WITHOUT_SHRINKING)
@given(random_step_graph(clones=False, control=False, random_numbers=True), st.integers(0, 2**32))
def test_any_timetable_computes_the_same_bits_with_the_simulated_peak(
    graph: fx.Graph, seed: int
) -> None:
    assert_table_is_sound(graph, example_values(graph), seed)


@pytest.mark.parametrize("name", CASES)
def test_any_timetable_on_real_models(name: str) -> None:
    assert_table_is_sound(case(name).graph, case(name).values, seed=1)


def assert_table_is_sound(graph: fx.Graph, values: dict[str, torch.Tensor], seed: int) -> None:
    step = step_of(graph, {})
    table = some_table(step, random.Random(seed))
    rewritten = rewrite_by(step, table).graph
    wanted = seeded_run(graph, values, program_order(graph))
    for order in (program_order, as_soon_as_possible):
        assert_same(wanted, seeded_run(rewritten, values, order(rewritten)))
    assert simulate_table(Simulator(step), table).peak == peak_in_program_order(rewritten)


@pytest.mark.parametrize("name", ["llm_mlp", "attention", "bert_dropout", "resnet", "in_place"])
def test_a_budget_is_met_or_refuted(name: str) -> None:
    """From what one node needs alone up to the peak, closer where it is narrow."""
    graph = case(name).graph
    seconds = estimated_seconds(graph)
    floor, peak = lowest_peak(step_of(graph, seconds)).nbytes, peak_in_program_order(graph)
    for share in (0, 0.02, 0.06, 0.2):
        found = plan(graph, int(floor + share * (peak - floor)), seconds)
        assert found.peak == peak_in_program_order(apply(found))
        assert found.fits or found.peak == found.floor.nbytes > found.budget, str(found)
        assert found.floor.nbytes == sum(held.nbytes for held in found.floor.held)


@pytest.mark.parametrize("name", ["llm_mlp", "bert_dropout", "resnet"])
@pytest.mark.parametrize("share", [0.7, 0.4])
def test_plan_meets_its_budget(name: str, share: float) -> None:
    graph, values = case(name).graph, case(name).values
    seconds = estimated_seconds(graph)
    floor = lowest_peak(step_of(graph, seconds)).nbytes
    budget = int(floor + share * (peak_in_program_order(graph) - floor))
    made = plan(graph, budget, seconds)
    assert made.fits
    rewritten = apply(made)
    assert made.peak == measured_peak(rewritten, values)
    wanted = seeded_run(graph, values, program_order(graph))
    assert_same(wanted, seeded_run(rewritten, values, as_soon_as_possible(rewritten)))


@pytest.mark.parametrize(
    ("work", "share"),
    [
        (distilbert_small, 0.6),
        (distilbert_small, 0.27),
        (mobilenet_small, 0.45),
        (mobilenet_small, 0.33),
        (mamba_small, 0.6),
        (mamba_small, 0.45),
        (mamba_small, 0.39),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_tight_budgets_are_met(work: Callable[[], Workload], share: float) -> None:
    """Shares of the peak above static memory, near the floor. Every bit stays the same."""
    torch.manual_seed(0)
    made = make_case(work(), torch.optim.SGD)
    line = live_bytes(made.graph, program_order(made.graph))
    budget = int(line.static + share * (line.peak - line.static))
    found = plan(made.graph, budget, estimated_seconds(made.graph))
    assert found.fits, str(found)
    rewritten = apply(found)
    assert measured_peak(rewritten, made.values) == found.peak
    wanted = seeded_run(made.graph, made.values, program_order(made.graph))
    assert_same(wanted, seeded_run(rewritten, made.values, as_soon_as_possible(rewritten)))


def test_a_scan_is_met_down_to_its_floor_and_refuted_below() -> None:
    """Mamba a little below its lowest peak: no search ends there, yet floor and plan meet."""
    torch.manual_seed(0)
    graph = make_case(mamba_small(), torch.optim.SGD).graph
    line = live_bytes(graph, program_order(graph))
    budget = int(line.static + 0.38 * (line.peak - line.static))
    found = plan(graph, budget, estimated_seconds(graph))
    assert budget < found.peak == found.floor.nbytes == sum(h.nbytes for h in found.floor.held)
    assert "is below the floor of" in str(found)
    assert re.search(r"to keep [\w, ]*l0_mixer_add_\d+ over d_backbone_l0_mixer_zeros", str(found))


@settings(max_examples=60, phases=WITHOUT_SHRINKING)
@given(
    random_step_graph(max_operators=40, clones=False, control=False, random_numbers=True),
    st.floats(0, 1),
)
def test_a_plan_that_sheds_is_within_its_limit(graph: fx.Graph, share: float) -> None:
    """And every bit stays the same."""
    step = step_of(graph, estimated_seconds(graph))
    floor, peak = lowest_peak(step).nbytes, peak_in_program_order(graph)
    limit = int(floor + share * (peak - floor))
    everything = Backwards(step, len(step.values) + len(step.makers))
    table = shed_plan(everything, limit, runs=5_000)
    assert table is not None or limit < peak
    if table is not None:
        assert simulate_table(Simulator(step), table).peak <= limit
        rewritten = rewrite_by(step, table).graph
        assert peak_in_program_order(rewritten) <= limit
        values = example_values(graph)
        wanted = seeded_run(graph, values, program_order(graph))
        assert_same(wanted, seeded_run(rewritten, values, program_order(rewritten)))


@settings(max_examples=30, phases=WITHOUT_SHRINKING)
@given(random_step_graph(clones=False, control=False), st.floats(0.3, 1))
def test_never_worse_than_the_plain_greedy(graph: fx.Graph, share: float) -> None:
    assert_not_worse_than_the_greedy(graph, share)


def assert_not_worse_than_the_greedy(graph: fx.Graph, share: float) -> None:
    """Within the budget if μ-TWO's choices are, or as close to it, and then no more seconds."""
    step = step_of(graph, estimated_seconds(graph))
    search = Search(step, 0)
    search.budget = int(share * search.look(search.simulator.default()).result.peak)
    plain = search.plain_greedy(search.look(search.simulator.default()))
    assert search.rank(search.run()) <= search.rank(plain)


@settings(max_examples=15, phases=WITHOUT_SHRINKING)
@given(random_step_graph(max_operators=80, clones=False, control=False), st.floats(0.3, 0.9))
def test_never_worse_than_the_plain_greedy_on_larger_graphs(graph: fx.Graph, share: float) -> None:
    assert_not_worse_than_the_greedy(graph, share)


@pytest.mark.parametrize("name", ["llm_mlp", "bert", "bert_dropout", "resnet"])
def test_never_worse_than_the_plain_greedy_on_real_models(name: str) -> None:
    for share in (0.9, 0.75, 0.6):
        assert_not_worse_than_the_greedy(case(name).graph, share)


@settings(max_examples=8, phases=WITHOUT_SHRINKING)
@given(random_step_graph(max_operators=20, clones=False, control=False), st.floats(0.5, 1))
def test_brute_force_finds_nothing_better(graph: fx.Graph, share: float) -> None:
    """What is guaranteed on graphs with up to 12 candidates, by trying all 4,096 plans.

    If any plan is within the budget, the planner's is; if none is, none has a lower peak. And
    no plan with such a peak recomputes for less than 1 / 1.05 of the planner's seconds.
    """
    step = step_of(graph, estimated_seconds(graph))
    search = Search(step, 0)
    assume(len(search.free) <= 12)
    default = search.simulator.default()
    search.budget = int(share * search.look(default).result.peak)
    found = search.rank(search.run())
    for chosen in product((Fate.KEPT, Fate.DROPPED), repeat=len(search.free)):
        fates = list(default)
        for index, fate in zip(search.free, chosen, strict=True):
            fates[index] = fate
        peak, seconds = search.rank(search.look(fates))
        assert (peak, 1.05 * seconds) >= found


@settings(max_examples=60, phases=WITHOUT_SHRINKING)
@given(random_step_graph(clones=False, control=False, random_numbers=True), st.integers(0, 2**32))
def test_the_solved_notebook_and_the_engine_agree(graph: fx.Graph, seed: int) -> None:
    assert_agree(graph, seed)


@pytest.mark.parametrize("name", ["attention", "bert_dropout", "resnet"])
def test_the_solved_notebook_and_the_engine_agree_on_real_models(name: str) -> None:
    assert_agree(case(name).graph, seed=0)


def assert_agree(graph: fx.Graph, seed: int) -> None:
    """Candidates, their costs, peaks, plans, and rewritten graphs."""
    solved = functions(lab="project")
    seconds = costs.estimated_seconds(graph)
    found = reference.candidates(graph)
    assert solved["candidates"](graph) == found
    wanted = {c.node: c for c in reference.describe(graph, seconds)}
    for c in solved["describe"](graph, seconds):
        assert c.seconds == pytest.approx(wanted[c.node].seconds)
        told = fields_of(replace(c, seconds=0, total=0))
        assert told == fields_of(replace(wanted[c.node], seconds=0, total=0))
    draw = random.Random(seed)
    for share in (0, 0.2, 0.5, 1):
        drop = [node for node in found if draw.random() < share]
        simulated = solved["simulate"](graph, drop)
        assert simulated == reference.simulate(graph, drop)
        rewritten, new = copy_graph(graph)
        solved["recompute"](rewritten, [new[node] for node in drop])
        assert simulated.nbytes == peak_in_program_order(rewritten)
    # Whole seconds, so that no rounding decides between two that are as good.
    whole = {node: float(place % 61 + 3) for place, node in enumerate(graph.nodes)}
    budget = int(0.8 * peak_in_program_order(graph))
    assert solved["choose"](graph, whole, budget) == reference.choose(graph, whole, budget)


@pytest.mark.parametrize("chance", [0.5, 0.3])
def test_dropout_with_any_chance_is_recomputed(chance: float) -> None:
    """A half is the default of the operator that draws, and is not told in the graph."""
    model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Dropout(chance), nn.Linear(64, 8))
    made = make_case(
        Workload(model, torch.randn(64, 8), torch.randn(64, 8), nn.MSELoss()), torch.optim.SGD
    )
    line = live_bytes(made.graph, program_order(made.graph))
    for budget in range(line.static, line.peak, (line.peak - line.static) // 8):
        rewritten = apply(plan(made.graph, budget, estimated_seconds(made.graph)))
        wanted, got = (
            seeded_run(graph, made.values, program_order(graph))
            for graph in (made.graph, rewritten)
        )
        assert_same(wanted, got)


def test_a_step_without_forward_values_has_a_plan() -> None:
    class Alone(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.ones(()))

        def forward(self, _: torch.Tensor) -> torch.Tensor:
            return self.w

    work = Workload(Alone(), torch.zeros(()), None, lambda r, _: r)
    graph = make_case(work, torch.optim.SGD).graph
    assert plan(graph, 0, estimated_seconds(graph)).recomputed == ()
