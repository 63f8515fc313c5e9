"""The oracles of notebooks 1 and 2 agree with each other, with the solution and with theory."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
import torch
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.labs.lab3b.cases.pipeline import fullest_first
from autograder.labs.lab3b.schedules import fewest_micros, gpipe, one_f_one_b
from lab_utils.instruments.ranks import Link, run_ranks
from lab_utils.instruments.ranks.show.clock import replay
from lab_utils.instruments.ranks.show.schedules import pipeline_diaries
from lab_utils.kit.errors import LabError
from lab_utils.labs.lab3b.judge.schedules import simulate
from lab_utils.labs.lab3b.numbers import heads_numbers
from lab_utils.labs.lab3b.stages import Stage
from tests.labs.lab3b.solved import solution

SIZES = st.tuples(st.integers(1, 7), st.integers(1, 9))


@settings(deadline=None)
@given(SIZES)
def test_playing_and_counting_give_the_same_schedules(size: tuple[int, int]) -> None:
    for ours, played in ((solution()["gpipe"], gpipe), (solution()["one_f_one_b"], one_f_one_b)):
        assert [[list(step) for step in steps] for steps in ours(*size)] == played(*size)


@settings(deadline=None)
@given(SIZES)
def test_schedules_take_and_hold_what_theory_says(size: tuple[int, int]) -> None:
    stages, micros = size
    for schedule in (gpipe(*size), one_f_one_b(*size)):
        assert simulate(schedule).end == 3 * (micros + stages - 1)
        times = replay(pipeline_diaries(schedule, 1, 2, 0, 1), Link(0, 1))
        assert times.end == 3 * (micros + stages - 1)
        assert times.idle_share * (micros + stages - 1) == stages - 1
    assert simulate(gpipe(*size)).most == [micros] * stages
    assert simulate(one_f_one_b(*size)).most == [min(micros, stages - r) for r in range(stages)]


def test_the_fewest_micro_batches_by_trying_and_by_the_formula() -> None:
    for stages, percent in product((1, 2, 5, 9), (3, 10, 25, 33, 50, 80)):
        assert fewest_micros(stages, percent) == solution()["fewest_micros"](stages, percent)


@settings(deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=7), st.integers(1, 20))
def test_buckets_are_the_fullest_of_all_ways_to_cut(nbytes: list[int], most: int) -> None:
    order = list(reversed(range(len(nbytes))))

    def cuts(left: list[int]) -> Any:
        if not left:
            yield []
        for many in range(1, len(left) + 1):
            if many == 1 or sum(nbytes[p] for p in left[:many]) <= most:
                for rest in cuts(left[many:]):
                    yield [left[:many], *rest]

    best = max(cuts(order), key=lambda cut: [len(bucket) for bucket in cut])
    assert fullest_first(nbytes, most) == best == solution()["buckets_of"](nbytes, most)


def test_the_heads_of_a_rank_are_rows_of_the_fused_weight() -> None:
    sizes = {"width": 12, "heads": 6, "seed": 3}
    whole = heads_numbers(sizes, range(6))
    for rank in range(3):
        mine = heads_numbers(sizes, range(2 * rank, 2 * rank + 2))
        for name, part in mine.items():
            assert torch.equal(solution()["shard_qkv"](whole[name], 6, rank, 3), part)


def _all_of_it() -> list[torch.Tensor]:
    """The functions of notebooks 1 and 2 that talk, one after the other."""
    ours, rank, ranks = solution(), dist.get_rank(), dist.get_world_size()
    total = torch.arange(7.0) * (rank + 1)
    chunks = list(total.tensor_split(ranks))
    ours["ring_reduce_scatter"](chunks)
    ours["ring_all_gather"](chunks)
    x = torch.ones(2, 4, requires_grad=True)
    wide = ours["column_linear"](x, torch.full((3, 4), 1.0 + rank), torch.ones(3))
    narrow = ours["row_linear"](wide, torch.full((2, 3), 2.0 - rank), torch.ones(2))
    narrow.sum().backward()
    assert x.grad is not None
    tied = torch.tensor([1.0 + rank]) if rank in (0, ranks - 1) else None
    ours["sync_tied"](tied)
    weights = [torch.ones(2, requires_grad=True) for _ in range(2)]
    loss = sum(((1 + rank) * weight**2).sum() for weight in weights)
    ours["overlapped_backward"](loss, weights, [[1], [0]])
    averages = [weight.grad for weight in weights if weight.grad is not None]
    given = {"ranks": ranks, "micros": 2, "rows": 2, "width": 2, "seed": 1}
    stage = Stage({**given, "forward": 0.0, "backward": 0.0})
    ours["run_stage"](stage, one_f_one_b(ranks, 2)[rank])
    gradients = [w.grad for w in stage.weights.values() if w.grad is not None]
    return [
        total,
        narrow.detach(),
        x.grad,
        *([] if tied is None else [tied]),
        *averages,
        *gradients,
    ]


def test_the_same_functions_run_on_a_real_network_as_they_are() -> None:
    try:
        theirs = run_ranks(3, _all_of_it, backend="gloo").results
    except LabError as error:
        pytest.skip(str(error))
    ours = run_ranks(3, _all_of_it).results
    for mine, right in zip(ours, theirs, strict=True):
        assert len(mine) >= 7
        assert all(torch.allclose(a, b) for a, b in zip(mine, right, strict=True))
