"""The oracles of notebooks 1 and 2 agree with each other, with the solution and with theory."""

from __future__ import annotations

from itertools import product
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.labs.lab3b.cases.pipeline import fullest_first
from autograder.labs.lab3b.schedules import fewest_micros, gpipe, one_f_one_b
from lab_utils.instruments.ranks import Link
from lab_utils.instruments.ranks.show.clock import replay
from lab_utils.instruments.ranks.show.schedules import pipeline_diaries
from lab_utils.labs.lab3b.judge.schedules import simulate
from lab_utils.labs.lab3b.numbers import heads_numbers
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
