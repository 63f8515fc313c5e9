"""The simulated cluster against what can be counted by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.benchmarks.simulated_cluster import Costs, seconds

costs = st.builds(Costs, *[st.floats(0, 10) for _ in range(5)])


def test_one_worker_one_slice() -> None:
    took = seconds(Costs(0.5, 7, 3, 0.25, 10, fixed=2), 4, 1)
    assert took == pytest.approx(2 + 4 * 0.5 + 10 + 7 + 4 * 3 + 0.25)


def test_slices_start_anew_and_workers_share_them() -> None:
    costs = Costs(0, 7, 3, 0)
    assert seconds(costs, 40, 1, size=20) == pytest.approx(2 * (7 + 60))
    assert seconds(costs, 40, 2, size=20) == pytest.approx(7 + 60)
    assert seconds(costs, 60, 2, size=20) == pytest.approx(2 * (7 + 60))


def test_a_slow_coordinator_is_the_limit() -> None:
    assert seconds(Costs(0, 0, 1, 10), 100, 100, size=1) == pytest.approx(1 + 100 * 10)


def test_a_coordinator_that_looks_now_and_then_comes_late_to_the_last() -> None:
    assert seconds(Costs(0, 0, 3, 0.5, look=2), 1, 1) == pytest.approx(4 + 0.5)
    assert seconds(Costs(0, 0, 3, 0.5, look=2), 2, 1, size=2) == pytest.approx(6.5 + 0.5)


def test_who_shares_a_processor_takes_turns() -> None:
    costs = Costs(0, 1, 1, 0)
    assert seconds(costs, 8, 2, size=4) == pytest.approx(5)
    assert seconds(costs, 8, 2, size=4, processors=1) == pytest.approx(10)
    assert seconds(costs, 8, 3, size=4, processors=2) == pytest.approx(5)
    waiting = Costs(0, 0, 1, 0, queue=10)  # for which nobody needs a processor
    assert seconds(waiting, 2, 2, size=1, processors=1) == pytest.approx(12)


@given(costs, st.integers(1, 200), st.integers(1, 30), st.integers(1, 30))
def test_never_faster_than_the_work_allows(
    costs: Costs, submissions: int, workers: int, size: int
) -> None:
    took = seconds(costs, submissions, workers, size)
    alone = submissions * (costs.collect + costs.store)
    work = costs.queue + costs.start + submissions * costs.each / workers
    rounding = 1 + 1e-9
    assert took * rounding >= alone
    assert took * rounding >= submissions * costs.collect + work
    assert seconds(costs, submissions, workers + 1, size) <= took * rounding
