"""Ranks: values as gloo's, times as the formula's, and every way to stop told in words."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st

from lab_utils.instruments.ranks import (
    Link,
    RanksFailed,
    compute,
    hold,
    ranks_film,
    run_ranks,
    run_times,
    schedule_film,
)
from lab_utils.instruments.ranks.group import raw
from lab_utils.instruments.ranks.show.clock import exact, replay
from lab_utils.instruments.ranks.show.schedules import pipeline_diaries
from lab_utils.kit.errors import LabError

LINK = Link(latency=50e-6, bandwidth=1.25e9)


def ring_all_reduce(tensor: torch.Tensor) -> torch.Tensor:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    chunks = list(tensor.tensor_split(ranks))
    for step in range(2 * (ranks - 1)):
        out, mine = chunks[(rank - step) % ranks], chunks[(rank - step - 1) % ranks]
        arrived = torch.empty_like(mine)
        request = dist.isend(out, (rank + 1) % ranks)
        dist.recv(arrived, (rank - 1) % ranks)
        assert request is not None
        request.wait()
        mine.copy_(arrived + mine if step < ranks - 1 else arrived)
    return tensor


def add_up() -> torch.Tensor:
    return ring_all_reduce(torch.arange(840.0) * (1 + dist.get_rank()))


@pytest.mark.parametrize("ranks", range(2, 9))
def test_a_ring_takes_what_the_formula_says_to_the_last_digit(ranks: int) -> None:
    run = run_ranks(ranks, add_up, link=LINK)
    times = replay(run.diaries, LINK)
    nbytes = 840 * 4
    formula = 2 * (ranks - 1) * (exact(LINK.latency) + nbytes / exact(LINK.bandwidth) / ranks)
    assert set(times.ends) == {formula}
    assert run_times(run) == [float(formula)] * ranks
    total = torch.arange(840.0) * sum(range(1, ranks + 1))
    assert all(torch.equal(result, total) for result in run.results)
    assert sum(n for *_, n in run.messages()) == 2 * (ranks - 1) * nbytes


def test_every_run_has_the_same_diaries() -> None:
    runs = [run_ranks(4, add_up) for _ in range(3)]
    assert runs[0].diaries == runs[1].diaries == runs[2].diaries


def collectives() -> list[Any]:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    total = torch.arange(6.0) + rank
    dist.all_reduce(total)
    highest = torch.tensor([rank, -rank])
    dist.all_reduce(highest, op=dist.ReduceOp.MAX)
    root = torch.full((3,), float(rank))
    dist.broadcast(root, src=1)
    parts = [torch.zeros(2) for _ in range(ranks)]
    dist.all_gather(parts, torch.tensor([rank, 1.0]))
    scattered = torch.zeros(2)
    dist.reduce_scatter(scattered, [torch.full((2,), float(rank + n)) for n in range(ranks)])
    group = dist.new_group([0, ranks - 1])
    pair = torch.tensor([1.0 + rank])
    if rank in (0, ranks - 1):
        dist.all_reduce(pair, group=group)
    later = torch.tensor([float(rank)])
    request = dist.all_reduce(later, async_op=True)
    dist.barrier()
    request.wait()
    return [total, highest, root, *parts, scattered, pair, later]


@pytest.mark.parametrize("ranks", [2, 3])
def test_values_are_those_of_gloo(ranks: int) -> None:
    try:
        theirs = run_ranks(ranks, collectives, backend="gloo").results
    except LabError as error:
        pytest.skip(str(error))
    ours = run_ranks(ranks, collectives).results
    for mine, right in zip(ours, theirs, strict=True):
        assert all(torch.equal(a, b) for a, b in zip(mine, right, strict=True))


def test_pytorch_s_own_data_parallel_runs_on_it() -> None:
    def job() -> torch.Tensor:
        torch.manual_seed(1)
        layer = torch.nn.Linear(4, 2)
        model = torch.nn.parallel.DistributedDataParallel(layer)
        model(torch.ones(3, 4) * (1 + dist.get_rank())).sum().backward()
        assert layer.weight.grad is not None
        return layer.weight.grad

    run = run_ranks(2, job)
    assert torch.equal(*run.results)
    assert torch.allclose(run.results[0], torch.full((2, 4), 4.5))
    joined = [(e[2], e[4]) for e in run.diaries[0] if e[0] == "collective"]  # what, bytes
    assert ("all_reduce", 40) in joined


def _deadlock() -> None:
    rank, ranks = dist.get_rank(), dist.get_world_size()
    dist.send(torch.zeros(2), (rank + 1) % ranks)
    dist.recv(torch.zeros(2), (rank - 1) % ranks)


def _receive_first() -> None:
    dist.recv(torch.zeros(2), 1 - dist.get_rank())


def _wrong_size() -> None:
    if dist.get_rank() == 0:
        dist.send(torch.zeros(3), 1)
    else:
        dist.recv(torch.zeros(4), 0)


def _wrong_type() -> None:
    if dist.get_rank() == 0:
        dist.send(torch.zeros(4), 1)
    else:
        dist.recv(torch.zeros(4, dtype=torch.int32), 0)


def _waits_for_one_that_has_ended() -> None:
    if dist.get_rank() == 1:
        dist.recv(torch.zeros(4), 0)


def _nobody_takes_it() -> None:
    if dist.get_rank() == 1:
        dist.isend(torch.zeros(4), 0)


def _different_collectives() -> None:
    if dist.get_rank() == 1:
        dist.all_reduce(torch.zeros(4))
    else:
        dist.broadcast(torch.zeros(4), 0)


def _one_does_not_join() -> None:
    if dist.get_rank() == 1:
        dist.all_reduce(torch.zeros(4))


def _changed_while_sent() -> None:
    mine, other = torch.ones(4), torch.zeros(4)
    request = dist.isend(mine, 1 - dist.get_rank())
    dist.recv(other, 1 - dist.get_rank())
    mine += other
    assert request is not None
    request.wait()


def _raises() -> None:
    print("before")
    [][dist.get_rank()]


def _ends() -> None:
    if dist.get_rank() == 1:
        os._exit(3)
    dist.recv(torch.zeros(1), 1)


def _from_anybody() -> None:
    dist.recv(torch.zeros(1))


def _no_such_rank() -> None:
    dist.recv(torch.zeros(1), dist.get_rank() - 1)


def _group_of_members_alone() -> None:
    if dist.get_rank() == 0:
        dist.all_reduce(torch.zeros(1), group=dist.new_group([0]))


@pytest.mark.parametrize(
    ("job", "kind", "words"),
    [
        (_group_of_members_alone, "group", "rank 0 calls new_group once, rank 1 never"),
        (_deadlock, "deadlock", "rank 0 waits in send for rank 1 to take its message"),
        (_receive_first, "deadlock", "rank 1 waits in recv for rank 0 to send"),
        (_wrong_size, "mismatch", "rank 0 sends 12 bytes of float32 to rank 1, which has room for"),
        (_wrong_type, "mismatch", "16 bytes of int32"),
        (_waits_for_one_that_has_ended, "ended", "rank 1 waits in recv for rank 0 to send, which"),
        (_nobody_takes_it, "unread", "rank 1 sends 16 bytes of float32 to rank 0, which ends"),
        (_different_collectives, "mismatch", "rank 0 joins broadcast"),
        (_one_does_not_join, "ended", "rank 1 waits in all_reduce for rank 0 to join, which has"),
        (_changed_while_sent, "changed", "rank 0 changed a tensor before its isend was done"),
        (_raises, "raised", "rank 0: IndexError"),
        (_ends, "died", "the process of rank 1 ended"),
        (_from_anybody, "mismatch", "say from whom"),
        (_no_such_rank, "nobody", "rank 0 receives from rank -1: there are ranks 0 to 1"),
    ],
)
def test_what_stops_ranks_is_told_in_words(job: Callable[[], None], kind: str, words: str) -> None:
    for _ in range(2):  # whoever was faster, the words are the same
        with pytest.raises(RanksFailed) as told:
            run_ranks(2, job)
        assert told.value.kind == kind
        assert words in str(told.value)
        assert told.value.look


def test_a_group_may_be_made_by_its_members_alone_who_say_so() -> None:
    def job() -> float:
        mine = torch.ones(1)
        if dist.get_rank() != 1:
            group = dist.new_group([0, 2], use_local_synchronization=True)
            dist.all_reduce(mine, group=group)
        return mine.item()

    assert run_ranks(3, job).results == [2, 1, 2]


def test_an_error_is_told_with_its_line() -> None:
    with pytest.raises(RanksFailed) as told:
        run_ranks(3, _raises)
    assert "[][dist.get_rank()]" in told.value.look


def test_what_ranks_print_is_told_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    run_ranks(3, lambda: print("hello"))
    assert capsys.readouterr().out == "rank 0: hello\nrank 1: hello\nrank 2: hello\n"


def test_nobody_is_left_behind() -> None:
    before = set(os.listdir("/proc/self/fd")), _children()
    with pytest.raises(RanksFailed):
        run_ranks(4, _deadlock)
    assert (set(os.listdir("/proc/self/fd")), _children()) == before


def _children() -> set[str]:
    """Processes that this one has started; a test process may have some of its own."""
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


@pytest.mark.parametrize("size", [0, 9])
def test_too_many_ranks_are_refused(size: int) -> None:
    with pytest.raises(LabError, match="from 1 to 8"):
        run_ranks(size, add_up)


def test_waiting_and_work_take_their_time() -> None:
    def job() -> None:
        hold(1000)
        if dist.get_rank() == 0:
            compute(2e-3, "F0")
            dist.send(torch.zeros(250, dtype=torch.float64), 1)
        else:
            compute(1e-3, "F0")
            dist.recv(torch.zeros(250, dtype=torch.float64), 0)
        hold(-1000)

    times = replay(run_ranks(2, job).diaries, Link(latency=1e-3, bandwidth=1e6))
    assert times.ends == [Fraction(5, 1000)] * 2  # 2 ms of work, 2 ms of bytes, 1 ms on the way
    assert times.busy(1) == Fraction(1, 1000)
    assert times.peak(0) == 1000
    assert times.idle_share == 1 - Fraction(3, 10)


def test_one_way_in_is_shared() -> None:
    """Three ranks that send to one at the same time have to queue there."""

    def job() -> None:
        if dist.get_rank():
            dist.send(torch.zeros(125, dtype=torch.float64), 0)
        else:
            for other in (1, 2, 3):
                dist.recv(torch.zeros(125, dtype=torch.float64), other)

    times = replay(run_ranks(4, job).diaries, Link(latency=0, bandwidth=1e6))
    assert times.end == Fraction(3, 1000)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 3), st.integers(0, 3))
def test_the_clock_is_the_recurrence_of_a_pipeline(p: int, m: int, ms: int, per: int) -> None:
    """GPipe by the textbook: each step starts when its rank and its input are there."""
    steps = [[("F", n) for n in range(m)] + [("B", n) for n in range(m)] for _ in range(p)]
    nbytes = 100 * per
    link = Link(latency=ms * 1e-3, bandwidth=1e5)
    way = Fraction(ms, 1000) + Fraction(nbytes, 10**5)
    times = replay(pipeline_diaries(steps, 3e-3, 5e-3, nbytes, 1), link)
    if nbytes / 1e5 > 3e-3:
        return  # messages queue: the recurrence below does not know that
    ends: dict[tuple[str, int, int], Fraction] = {}
    clock = [Fraction(0)] * p
    for kind, order, seconds in (("F", range(p), 3), ("B", range(p - 1, -1, -1), 5)):
        back = 1 if kind == "F" else -1
        for rank in order:
            for micro in range(m):
                came = ends.get((kind, micro, rank - back))
                start = max(clock[rank], came + way if came is not None else Fraction(0))
                clock[rank] = start + Fraction(seconds, 1000)
                ends[kind, micro, rank] = clock[rank]
    assert max(s.end for s in times.work) == max(clock)


@pytest.mark.parametrize(
    "diaries",
    [
        [[["wait", 0]]],
        [[["recv", 0, 1, 8, 0, "float32"], ["wait", 0]], []],
        [[["sleep", 1]]],
        [[["compute", 0.0, ""]] * 100_001],
    ],
)
def test_forged_diaries_are_refused(diaries: Any) -> None:
    with pytest.raises(LabError):
        replay(diaries, LINK)


def test_the_film_follows_its_sliders() -> None:
    film = ranks_film(run_ranks(4, add_up, link=LINK))
    assert film is not None
    assert "4 ranks, done after 304.03 µs; 24 messages of 840 bytes" in repr(film)
    assert "aria-label" in film.static.svg
    before = film.picture.value
    film.latency.value = -3
    assert film.picture.value != before
    assert film.link.latency == 1e-3
    film.now.value = 40
    assert "done after 6.004 ms" in film.picture.value


def test_a_film_of_schedules_has_micro_batches() -> None:
    def gpipe(stages: int, micros: int) -> Any:
        steps = [("F", n) for n in range(micros)] + [("B", n) for n in range(micros)]
        return [steps for _ in range(stages)]

    film = schedule_film({"GPipe": gpipe}, stages=3)
    assert film is not None
    assert "most held by each rank: 6.00 MB, 6.00 MB, 6.00 MB" in repr(film)
    film.micros.value = 2
    assert "2.00 MB, 2.00 MB, 2.00 MB" in film.picture.value
    stuck = [[("B", 0), ("F", 0)], [("F", 0), ("B", 0)]]
    with pytest.raises(LabError, match="do the checks"):
        schedule_film({"stuck": lambda _stages, _micros: stuck}, stages=2)


def test_an_element_out_of_a_row_is_sent_as_it_is() -> None:
    """A tensor of one element counts as contiguous, whatever its stride."""
    assert raw(torch.arange(6.0)[1::5]) == raw(torch.tensor([1.0]))
    assert raw(torch.arange(12.0).view(3, 4)[:, 1]) == raw(torch.tensor([1.0, 5.0, 9.0]))
