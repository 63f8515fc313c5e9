"""Lab 3B, notebook 3: PyTorch, simulations and the solution agree; mistakes are named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.hidden import hidden_of
from autograder.labs.lab3b.cases import time_slips
from autograder.labs.lab3b.cases.memory_slips import Kept, Parameters
from autograder.labs.lab3b.cases.model_settings import TINY
from autograder.reference.training import blocks, memory, search, time
from lab_utils.instruments.parallel import RECOMPUTE, Cluster, Job, Plan
from lab_utils.instruments.roofline import H100
from lab_utils.instruments.shapes import GPT_2560, Transformer
from lab_utils.kit.errors import LabError
from lab_utils.kit.parts import PARTS
from lab_utils.labs.lab3b import LAB
from lab_utils.labs.lab3b.ask.models import cluster_data, cluster_of
from lab_utils.labs.lab3b.h100 import ALL_REDUCES, CLUSTER, GPT_JOB, MIB, TABLE
from lab_utils.labs.lab3b.judge.models import LOOK
from lab_utils.labs.lab3b.judge.plans import LARGEST
from lab_utils.labs.lab3b.show.models import SHOW
from tests.labs.lab3b.solved import solution, space_of, verdict
from tests.support.judged import points_of


@pytest.mark.parametrize(
    ("task", "earlier"),
    [
        ("3.3", "rank_parameters"),
        ("3.3", "layer_bytes"),
        ("3.5", "rank_work"),
        ("3.6", "peak_memory"),
        ("3.6", "step_time"),
        ("3.7", "peak_memory"),
    ],
)
def test_a_mistake_is_paid_for_once(task: str, earlier: str) -> None:
    """Who has an earlier function wrong is lent a right one."""
    asked = LAB.task_called(task)
    space = space_of(f"def {earlier}(*_):\n    return 7\n")
    function = _again(space, asked.asks)
    assert not verdict(task, {asked.asks: function}).passed
    assert points_of("lab3b", task, function) == asked.points


def _again(space: dict[str, Any], name: str) -> Any:
    """The solution's function, in a namespace that has another version of an earlier one."""
    from types import FunctionType

    own = space[name]
    return FunctionType(own.__code__, space, name, own.__defaults__, own.__closure__)


def test_lending_refuses_what_no_honest_call_asks() -> None:
    lend, case = hidden_of("lab3b").lend, LAB.public_cases("3.3")[0]
    data = dict(case.given["model"])
    for arguments in (
        [{**data, "layers": 10**9}, 1, 1],
        [data, 3, 1],
        [data, 1, 10**9],
        [{**data, "width": "x"}, 1, 1],
    ):
        with pytest.raises((LabError, TypeError, ValueError, KeyError)):
            lend("rank_parameters", case, arguments)
    with pytest.raises(LabError):
        lend("anything", case, [data, {"tokens": 1, "batch": 1}, {}])


def test_every_sentence_can_be_heard() -> None:
    """Each slip that has a sentence is in some case, and each slip in a case has a sentence."""
    for task, looks in LOOK.items():
        known = {name for wanted in _wanted(task) for name, _ in wanted["slips"]}
        assert known | {""} == set(looks), task
    known = {name for wanted in _wanted("3.7") for name in wanted["slips"]}
    assert known == set(LARGEST)


def _wanted(task: str) -> Iterator[Mapping[str, Any]]:
    for case in hidden_of("lab3b").graded_cases(task):
        yield from case.wanted[PARTS] if PARTS in case.given else [case.wanted]


degrees = st.sampled_from([1, 2, 4])


@st.composite
def situations(draw: Any) -> tuple[Transformer, Job, Plan]:
    """Any small model, and a job and plan that cut it evenly."""
    tp, pp, dp = draw(degrees), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    heads, head = tp * draw(st.integers(1, 3)), draw(st.integers(1, 5))
    hidden, layers = tp * draw(st.integers(1, 20)), pp * draw(st.integers(1, 3))
    vocab, context = draw(st.integers(1, 600)), draw(st.integers(1, 40))
    model = Transformer(
        "m", layers, heads * head, heads, heads, head, hidden, False, vocab, context
    )
    parts, tokens = draw(st.integers(1, 6)), tp * draw(st.integers(1, 6))
    dtype = draw(st.sampled_from(["fp32", "bf16", "fp16"]))
    job = Job(tokens, dp * parts * draw(st.integers(1, 3)), parts, dtype)
    return model, job, Plan(tp, pp, dp, draw(st.sampled_from(RECOMPUTE)), draw(st.booleans()))


@settings(max_examples=40, deadline=None)
@given(situations())
def test_autograd_and_the_solution_agree(at: tuple[Transformer, Job, Plan]) -> None:
    model, job, plan = at
    names = solution()
    parameters = memory.stage_parameters(model, plan.tp, plan.pp)
    assert names["rank_parameters"](model, plan.tp, plan.pp) == parameters
    assert Parameters().count(model, plan.tp, plan.pp) == parameters
    kept = blocks.layer_bytes(memory.share_of(model, plan), job.tokens, job.batch, job.dtype)
    one = (model, job.tokens, job.batch, job.dtype, plan)
    assert names["layer_bytes"](*one) == Kept().count(*one) == kept
    assert names["peak_memory"](*at) == memory.stage_memory(*at)


@settings(max_examples=25, deadline=None)
@given(situations(), st.floats(0, 1e-2), st.floats(1e6, 1e12))
def test_a_run_and_the_models_of_time_agree(at: Any, latency: float, link: float) -> None:
    model, job, plan = at
    cluster = Cluster(H100, plan.cards, latency, link, 0.6, 0.2)
    names = solution()
    assert names["rank_work"](*at) == time.stage_work(*at)
    right = time.step_seconds(model, job, plan, cluster)
    assert names["step_time"](*at, cluster) == pytest.approx(right, rel=1e-9)
    assert time_slips.Clock().seconds(model, job, plan, cluster) == pytest.approx(right, rel=1e-9)


@given(st.integers(1, 9), st.integers(0, 10**6))
def test_a_ring_that_is_gone_round_takes_as_long_as_its_formula(ranks: int, nbytes: int) -> None:
    cluster = Cluster(H100, ranks, 1e-5, 1e9)
    right = 2 * (ranks - 1) * (1e-5 + nbytes / ranks / 1e9)
    assert time.all_reduce(nbytes, ranks, cluster) == pytest.approx(right, rel=1e-12, abs=1e-20)


@given(st.integers(1, 5), st.integers(1, 6), st.integers(1, 9))
def test_the_ideal_speed_up_is_that_of_a_line(dp: int, pp: int, micro_batches: int) -> None:
    line = time.through_the_line([1 / pp] * pp, micro_batches, 0.0)
    mine = solution()["ideal_speedup"](dp, pp, micro_batches)
    assert mine == pytest.approx(dp * micro_batches / line)


@pytest.mark.parametrize("recompute", RECOMPUTE)
def test_tensors_with_data_are_kept_like_those_without(recompute: str) -> None:
    """A real layer on the processor, run forward and backward."""
    share = blocks.Share(24, 4, 60, 2, True, recompute)
    run, parameters, x = blocks.run_layer(share, 8, 3, "fp32", device="cpu")
    torch.nn.init.normal_(x.detach())
    assert blocks.saved_bytes(run, parameters) == blocks.layer_bytes(share, 8, 3, "fp32")
    run().sum().backward()
    assert x.grad is not None
    assert x.grad.isfinite().all()


def test_what_is_shared_is_all_of_it() -> None:
    """The shares of the matrices and of the words add up to the whole."""
    whole, half = (
        sum(p.numel() for p in blocks.Block(blocks.Share(16, 4, 64, tp)).parameters())
        for tp in (1, 2)
    )
    on_both = 4 * 16 + 2 * 16  # norms, and biases that are added once
    assert 2 * half - on_both == whole


def test_figures_of_the_trace() -> None:
    assert memory.stage_parameters(GPT_2560, 1, 1) == [291_379_200]
    assert memory.stage_parameters(GPT_2560, 2, 1) == [148_492_800]
    flops = sum(time.stage_work(GPT_2560, GPT_JOB, Plan())[0])
    assert flops == pytest.approx(15.1e12, rel=1e-2)


def test_the_peaks_are_near_those_of_real_cards() -> None:
    """Within 6 % for single, TP2 and DP2, where one constant was fitted; others are shown."""
    for row in TABLE:
        stages = memory.stage_memory(GPT_2560, GPT_JOB, row.plan)
        mine = max(stage.total for stage in stages) / MIB
        near = 0.06 if str(row.plan) in ("single", "TP2", "DP2") else 0.07
        assert abs(mine / row.peak - 1) < near, row
    by_plan = {str(row.plan): row for row in TABLE}
    for name in ("TP2", "DP2"):  # the saving of recomputation is not fitted
        real = by_plan[name].peak - by_plan[f"{name}+AR"].peak
        plans = (by_plan[name].plan, by_plan[f"{name}+AR"].plan)
        ours = [memory.stage_memory(GPT_2560, GPT_JOB, plan)[0].total / MIB for plan in plans]
        assert ours[0] - ours[1] == pytest.approx(real, rel=0.04)


def test_the_times_are_near_those_of_real_cards() -> None:
    for row in TABLE:
        mine = 1e3 * time.step_seconds(GPT_2560, GPT_JOB, row.plan, CLUSTER)
        assert abs(mine / row.iteration - 1) < 0.09, row
    (small, quick), (large, slow), (gradients, seen) = ALL_REDUCES
    for nbytes, milliseconds in ((small, quick), (large, slow), (gradients, seen)):
        mine = 1e3 * time.all_reduce(nbytes, 2, CLUSTER)
        assert mine == pytest.approx(milliseconds, rel=0.03)


def test_the_published_largest_model() -> None:
    """72 layers on two cards, and two plans hold them."""
    layers, plans = search.largest(GPT_2560, Job(1024, 4), CLUSTER, 24)
    assert layers == 72
    assert {str(plan) for plan in plans} == {"PP2+AR", "TP2+AR"}
    found = solution()["largest_model"](GPT_2560, Job(1024, 4), CLUSTER, 24)
    assert found[0] == layers
    assert found[1] in plans


@pytest.mark.parametrize("stages", [1, 2, 5])
def test_the_schedule_is_1f1b(stages: int) -> None:
    for stage in range(stages):
        for micro_batches in (1, 2, 7):
            steps = memory.schedule(stage, stages, micro_batches)
            flying = most = 0
            for kind, _ in steps:
                flying += 1 if kind == "F" else -1
                most = max(most, flying)
            assert flying == 0
            assert len(steps) == 2 * micro_batches
            assert most == min(micro_batches, stages - stage)


def test_a_cluster_survives_as_plain_data() -> None:
    assert cluster_of(cluster_data(CLUSTER)) == replace(
        CLUSTER, machine=replace(CLUSTER.machine, source="")
    )


def test_no_plan_is_made_of_nonsense() -> None:
    for make in (
        lambda: Plan(tp=0),
        lambda: Plan(recompute="some"),
        lambda: Job(0, 1),
        lambda: Cluster(H100, 2, -1, 1),
        lambda: Cluster(H100, 0, 1, 1),
    ):
        with pytest.raises(LabError):
            make()
    words = {str(Plan()), str(Plan(2, 2, 2, "selective")), str(Plan(recompute="full"))}
    assert words == {"single", "TP2+PP2+DP2+AR", "single+full AR"}


@pytest.mark.parametrize("task", SHOW)
def test_a_picture_marks_what_is_wrong(task: str) -> None:
    case = LAB.public_cases(task)[0]
    right = case.wanted["parts"]
    off = {part: [2 * value + 1 for value in values] for part, values in right.items()}
    assert "✗" in SHOW[task](case, off).words


def test_every_task_has_a_model_whose_hidden_part_is_not_four_times_as_wide() -> None:
    """Public as well, so that nobody meets it first where it counts."""
    assert TINY.hidden != 4 * TINY.width
