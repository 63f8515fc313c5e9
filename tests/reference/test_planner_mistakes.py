"""Mistakes that real recomputation projects made, and that the engine does not make."""

from __future__ import annotations

import operator
import re
from itertools import pairwise

import pytest
import torch
from torch import fx, nn

from autograder.reference.analysis import step_of
from autograder.reference.apply import rewrite_with
from autograder.reference.mutwo import describe, greedy
from autograder.reference.planner import descent, reach
from autograder.reference.planner.costs import estimated_seconds
from autograder.reference.planner.floor import lowest_peak
from autograder.reference.planner.plan import apply, plan
from autograder.reference.planner.search import Search
from autograder.reference.simulate import Fate, Simulator
from autograder.reference.values import Step
from lab_utils.steps.candidate import Candidate
from lab_utils.steps.graph import Kind, Phase, kind, phase
from lab_utils.steps.kept import is_early
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.run import run
from lab_utils.steps.schedule import program_order
from lab_utils.steps.trace.recorder import TraceError
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import Workload, llm_mlp
from tests.benchmarks.opponents import rewritten_by_pytorch
from tests.reference.test_planner import assert_same, case, peak_in_program_order, seeded_run
from tests.support.workloads import Case, make_case


def test_count_starts_at_one() -> None:
    """With a count of 0 every ratio is the same, and the first candidate wins."""
    small, large, late = _nodes("small", "large", "late")
    found = [_candidate(small, 1, set(), 1.0, late), _candidate(large, 10, set(), 1.0, late)]
    assert greedy(found) == [large, small]


def _nodes(*names: str) -> list[fx.Node]:
    graph = fx.Graph()
    return [graph.placeholder(name) for name in names]


def _candidate(
    node: fx.Node, nbytes: int, sources: set[fx.Node], seconds: float, late: fx.Node
) -> Candidate:
    """One that backward reads at ``late`` alone."""
    return Candidate(node, nbytes, node, late, late, sources, seconds, 1, seconds)


def test_cost_is_the_path_and_shared_operators_count_once() -> None:
    """x feeds two transient operators that both read one transient value."""
    graph = fx.Graph()
    aten = torch.ops.aten
    x = graph.placeholder("x")
    base = graph.call_function(aten.sin.default, (x,))
    left = graph.call_function(aten.cos.default, (base,))
    right = graph.call_function(aten.neg.default, (base,))
    top = graph.call_function(aten.add.Tensor, (left, right))
    loss = graph.call_function(aten.sum.default, (top,))
    grad = graph.call_function(aten.mul.Tensor, (top, top))
    end = graph.output({"loss": loss, "grad:w": grad})
    for node in graph.nodes:
        node.meta = {"phase": Phase.FORWARD, "kind": Kind.ACTIVATION, "module": ""}
        node.meta["val"] = torch.empty(() if node is loss else (4,), device="meta")
    x.meta["kind"] = Kind.INPUT
    grad.meta["phase"] = Phase.BACKWARD
    end.meta = {"phase": Phase.OPTIMIZER, "kind": Kind.OTHER}
    (found,) = describe(step_of(graph, {n.name: 1.0 for n in (base, left, right, top)}))
    assert found.node is top
    assert found.seconds == 4.0
    assert found.sources == {x}


def test_updates_read_through_what_is_dropped() -> None:
    """b is rebuilt from a; when a goes, b costs both, and a runs for b as well."""
    x, a, b, early, late = _nodes("x", "a", "b", "early", "late")
    of_a, of_b = _candidate(a, 8, {x}, 2.0, late), _candidate(b, 100, {a}, 1.0, early)
    assert greedy([of_a, of_b]) == [b, a]
    assert of_b.sources == {x}
    assert of_b.seconds == 3.0
    assert of_a.count == 2


def test_only_what_is_idle_at_the_peak_is_chosen() -> None:
    graph = case("llm_mlp").graph
    search = Search(step_of(graph, estimated_seconds(graph)), 0)
    start = search.look(search.simulator.default())
    for move in search.moves(start):
        value = search.step.values[move.value]
        assert value.last_early < start.result.places[0] < value.first_late


def test_views_are_no_candidates() -> None:
    graph = case("bert").graph
    for value in step_of(graph, {}).values:
        node = next(n for n in graph.nodes if n.name == value.name.partition(":")[0])
        assert node.op == "call_function"
        assert node.target is not operator.getitem
        assert value.nbytes > 0 or node.meta["val"] is not None


def _rewritten(of: Case, fates: list[int] | None = None) -> tuple[Step, fx.Graph]:
    step = step_of(of.graph, {})
    fates = fates or [Fate.KEPT if v.pinned else Fate.DROPPED for v in step.values]
    return step, rewrite_with(step, fates).graph


def test_batch_norm_statistics_are_updated_once() -> None:
    _, graph = _rewritten(case("resnet"))
    norms = [n for n in graph.nodes if n.target is torch.ops.aten.native_batch_norm.default]
    clones = [n for n in norms if phase(n) is Phase.RECOMPUTE]
    assert clones
    assert all(n.args[3] is None and n.args[4] is None for n in clones)
    wanted = run(case("resnet").graph, case("resnet").values)
    assert_same(wanted, run(graph, case("resnet").values))


@pytest.mark.parametrize("fate", [Fate.DROPPED, Fate.PACKED])
def test_dropout_masks_are_the_same(fate: Fate) -> None:
    of = case("bert_dropout")
    step = step_of(of.graph, {})
    fates = [
        fate if step.makers[v.maker].draw is not None else f
        for v, f in zip(step.values, Simulator(step).default(), strict=True)
    ]
    assert fate in fates
    graph = rewrite_with(step, fates).graph
    draws = [n for n in graph.nodes if n.target is torch.ops.aten.bernoulli_.float]
    assert all(phase(n) is Phase.FORWARD for n in draws)
    assert peak_in_program_order(graph) < peak_in_program_order(of.graph)
    order = program_order(of.graph)
    wanted = seeded_run(of.graph, of.values, order)
    after = torch.get_rng_state()
    assert_same(wanted, seeded_run(graph, of.values, program_order(graph)))
    assert torch.equal(after, torch.get_rng_state())


def test_in_place_chains_run_again_in_order() -> None:
    of = case("in_place")
    _, graph = _rewritten(of)
    again = [n.target for n in graph.nodes if phase(n) is Phase.RECOMPUTE]
    assert torch.ops.aten.relu_.default in again
    assert_same(run(of.graph, of.values), run(graph, of.values))


def test_no_clone_keeps_a_dropped_value_alive() -> None:
    """A clone reads placeholders, clones, and what the plan keeps."""
    graph = case("llm_mlp").graph
    step = step_of(graph, {})
    fates = [Fate.KEPT if v.pinned else Fate.DROPPED for v in step.values]
    dropped = {v.name for v, fate in zip(step.values, fates, strict=True) if fate}
    for node in rewrite_with(step, fates).graph.nodes:
        if not is_early(node):
            assert dropped.isdisjoint(n.name for n in node.all_input_nodes)


def test_clones_stand_at_their_first_reader_not_at_one_point() -> None:
    graph = case("llm_mlp").graph
    made = plan(graph, int(0.75 * peak_in_program_order(graph)), estimated_seconds(graph))
    phases = [phase(n) for n in apply(made).nodes]
    groups = sum(a is not Phase.RECOMPUTE and b is Phase.RECOMPUTE for a, b in pairwise(phases))
    assert groups > 1


def test_budget_below_the_floor_says_what_makes_it() -> None:
    graph = case("llm_mlp").graph
    made = plan(graph, 1000, estimated_seconds(graph))
    assert not made.fits
    assert made.floor.nbytes <= made.peak < made.peak_before
    assert "below the floor" in str(made)
    assert str(made.floor) in str(made)


def test_the_floor_is_a_certificate() -> None:
    """What it names is alive at its step in every plan; together it has the floor's bytes."""
    graph = case("bert_dropout").graph
    made = plan(graph, 1000, estimated_seconds(graph))
    floor = lowest_peak(made.step)
    assert sum(held.nbytes for held in floor.held) == floor.nbytes <= made.floor.nbytes
    for fates in ((Fate.DROPPED,) * len(made.fates), made.fates):
        allowed = [
            fate if value.pinned is None else Fate.KEPT
            for fate, value in zip(fates, made.step.values, strict=True)
        ]
        rewritten = rewrite_with(made.step, allowed).graph
        line = live_bytes(rewritten, program_order(rewritten))
        place = next(i for i, n in enumerate(line.schedule.order) if n.name == floor.at)
        alive = {life.storage.owner.name.removesuffix("_recomp") for life in line.alive(place)}
        assert {held.name.partition(":")[0] for held in floor.held} <= alive


def test_a_budget_that_no_plan_meets_is_refuted_in_words() -> None:
    """No node needs so much alone: what one needs, and what each way to have it there holds."""
    graph = case("llm_mlp").graph
    alone = lowest_peak(step_of(graph, {})).nbytes
    made = plan(graph, alone, estimated_seconds(graph))
    floor, text = made.floor, str(made)
    assert alone < floor.nbytes == made.peak
    assert "is below the floor of" in text
    assert f"Ways to have that there: {len(floor.ways)}, and each holds as much or more" in text
    assert re.search(r"needs l\d_add, \w+ at once\. Ways", text)
    assert re.search(r"The cheapest is to keep l\d_\w+ over d_\w+: [\d.]+ KB, where", text)
    assert re.search(r"to rebuild \w+ right before d_\w+: [\d.]+ KB", "; ".join(floor.ways))
    assert sum(held.nbytes for held in floor.held) == floor.nbytes
    rewritten = apply(made)
    line = live_bytes(rewritten, program_order(rewritten))
    at = next(i for i, n in enumerate(line.schedule.order) if n.name == floor.at)
    assert line.total[at] == floor.nbytes  # the plan takes one of the cheapest ways


def test_a_step_that_is_too_large_for_a_proof_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = case("llm_mlp").graph
    for bound in ("NEEDS", "PROOF_NEEDS", "RUNS"):
        monkeypatch.setattr(reach, bound, 0)
    monkeypatch.setattr(descent, "LOOKS", 10)
    made = plan(graph, lowest_peak(step_of(graph, {})).nbytes, estimated_seconds(graph))
    assert not made.fits
    assert "too large to prove that there is none" in str(made)
    assert made.at_peak() in str(made)


def test_gradients_at_the_optimizer_are_named() -> None:
    """A small batch: nothing can be gained, and the message says why."""
    graph = trace_workload(llm_mlp(2, 64, 256, batch=2), torch.optim.SGD)
    made = plan(graph, 1000, estimated_seconds(graph))
    assert "GRAD_WEIGHT" in str(made)


def test_what_cannot_run_twice_is_kept_with_the_reason() -> None:
    class Noise(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.layer(x) * torch.rand_like(x)

    work = Workload(Noise(), torch.randn(4, 8), torch.randn(4, 8), nn.MSELoss())
    of = make_case(work, torch.optim.SGD)
    made = plan(of.graph, 0, {})
    assert any("random numbers" in reason for reason in made.kept.values())
    order = program_order(of.graph)
    rewritten = apply(made)
    assert_same(
        seeded_run(of.graph, of.values, order),
        seeded_run(rewritten, of.values, program_order(rewritten)),
    )


def test_untraceable_model_names_operator_and_line() -> None:
    class Decides(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.layer(x)
            return y if y.sum().item() > 0 else -y  # depends on data

    work = Workload(Decides(), torch.randn(4, 8), torch.randn(4, 8), nn.MSELoss())
    with pytest.raises(TraceError, match=r"test_planner_mistakes\.py:\d+.*_local_scalar_dense"):
        trace_workload(work)


def test_rewriter_agrees_with_pytorchs_own_pass() -> None:
    """Same number of nodes, same peak, same values, for the same choice."""
    of = case("llm_mlp")
    step = step_of(of.graph, {})
    fates = [
        Fate.DROPPED if v.pinned is None and "proj" in v.name and "down" not in v.name else f
        for v, f in zip(step.values, Simulator(step).default(), strict=True)
    ]
    ours = rewrite_with(step, fates, control=False).graph
    dropped = {v.name for v, f in zip(step.values, fates, strict=True) if f}
    rewritten = rewritten_by_pytorch(of.graph, dropped)
    assert len(rewritten.nodes) == len(ours.nodes)
    assert peak_in_program_order(rewritten) == peak_in_program_order(ours)
    assert_same(run(ours, of.values), run(rewritten, of.values))


def test_kinds_are_set_on_everything_that_is_inserted() -> None:
    _, graph = _rewritten(case("bert_dropout"))
    assert all(kind(n) is Kind.RECOMP for n in graph.nodes if phase(n) is Phase.RECOMPUTE)
    live_bytes(graph, program_order(graph))
