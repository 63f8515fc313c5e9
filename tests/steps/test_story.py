"""The story of the lab in four numbers, and the engine that tells it."""

from __future__ import annotations

import pytest
import torch
from torch import fx

from autograder.reference.rewrite import block_activations, rewrite
from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import Phase, control_dependencies, kind, phase
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.run import example_values, measured_peak, run
from lab_utils.steps.schedule import Schedule, as_soon_as_possible, program_order, random_order
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import attention, gelu_mlp, llm_mlp
from tests.steps.test_schedule import assert_same
from tests.support.workloads import CASES


def peak(graph: fx.Graph, schedule: Schedule) -> int:
    simulated = live_bytes(graph, schedule).peak
    assert simulated == measured_peak(graph, example_values(graph), schedule)
    return simulated


def test_recomputation_saves_only_with_control_edges() -> None:
    """Six blocks, 512 x 64 input, hidden size 256: four peaks, in this order."""
    graph = trace_workload(llm_mlp(layers=6, width=64, hidden=256, batch=512))
    drop = block_activations(graph)
    free = rewrite(graph, drop, control=False).graph
    waiting = rewrite(graph, drop).graph
    none = peak(graph, program_order(graph))
    in_program_order = peak(waiting, program_order(waiting))
    without_control = peak(free, as_soon_as_possible(free))
    with_control = peak(waiting, as_soon_as_possible(waiting))
    assert in_program_order < with_control < none < without_control
    assert with_control < none / 2


@pytest.mark.parametrize("build", [llm_mlp, gelu_mlp, attention])
@pytest.mark.parametrize("layers", [1, 3])
def test_rewriting_changes_no_value(build: object, layers: int) -> None:
    graph = trace_workload(build(layers))  # type: ignore[operator]
    rewritten = rewrite(graph, block_activations(graph))
    values = example_values(graph)
    expected = run(graph, values)
    for schedule in (
        program_order(rewritten.graph),
        as_soon_as_possible(rewritten.graph),
        random_order(rewritten.graph, layers),
    ):
        assert_same(expected, run(rewritten.graph, values, schedule))
    assert rewritten.clones
    for clone in rewritten.clones.values():
        assert phase(clone) is Phase.RECOMPUTE
        assert clone.name.endswith("_recomp")
        assert control_dependencies(clone)


def test_the_original_graph_is_untouched() -> None:
    graph = trace_workload(llm_mlp(2, 8, 16, 4))
    before = str(graph)
    rewrite(graph, block_activations(graph))
    assert str(graph) == before
    assert not any(phase(n) is Phase.RECOMPUTE for n in graph.nodes)


def test_what_cannot_run_twice_is_refused() -> None:
    torch.manual_seed(0)
    case = CASES["bert_dropout"]()
    masks = [n for n in case.graph.nodes if n.target is torch.ops.aten.empty_like.default]
    with pytest.raises(LabError, match="overwrites it in place"):
        rewrite(case.graph, [masks[0].name])
    weight = next(n for n in case.graph.nodes if kind(n) == "WEIGHT")
    with pytest.raises(LabError, match="not a stored activation"):
        rewrite(case.graph, [weight.name])
    with pytest.raises(LabError, match="no such node"):
        rewrite(case.graph, ["nobody"])
