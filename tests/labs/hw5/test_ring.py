"""Notebook 2 of Homework 5: the ring, its film, and the data-parallel step beside PyTorch's own."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.distributed as dist
from hypothesis import given, settings
from hypothesis import strategies as st

from lab_utils.instruments.ranks import Link, ring_film, run_ranks, run_times
from lab_utils.instruments.ranks.show.clock import replay, ring_seconds
from lab_utils.instruments.ranks.show.ring import ring_diaries, ring_moments
from tests.support.solved_cells import solved_space


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 8), st.integers(0, 500), st.integers(0, 9), st.integers(1, 9))
def test_formula_clock_and_collective_agree(n: int, chunk: int, latency: int, speed: int) -> None:
    link = Link(latency / 8, speed)
    end = replay(ring_diaries(n, chunk), link).end
    assert end == ring_seconds("all_reduce", n, n * chunk, link)
    assert solved_space("hw5")["ring_seconds"](n * chunk, n, *link) == pytest.approx(float(end))


@pytest.mark.parametrize("ranks", range(2, 9))
def test_a_film_of_the_ring_ends_with_all_sums(ranks: int) -> None:
    moments = ring_moments(ranks)
    everybody = frozenset(range(ranks))
    assert len(moments) == 2 * (ranks - 1) + 1
    assert all(chunk == everybody for row in moments[-1].held for chunk in row)
    half = moments[ranks - 1].held
    assert all(half[rank][(rank + 1) % ranks] == everybody for rank in range(ranks))


def test_the_film_follows_its_sliders_and_has_a_static_form() -> None:
    film = ring_film(4)
    assert film is not None
    assert "step 4 of 6" in film.static.words
    assert "aria-label" in film.static.svg
    film.ranks.value = 7
    film.step.value = 12
    assert "49 of 49 chunks are complete" in film.picture.value
    film.nbytes.value = 2.0
    assert "latency-bound" in film.at(0).words
    film.nbytes.value = 10.0
    assert "bandwidth-bound" in film.at(0).words


def test_the_ring_gives_what_the_collective_gives_in_the_same_time() -> None:
    ring = solved_space("hw5")["ring_all_reduce"]

    def job(own: bool) -> torch.Tensor:
        tensor = torch.arange(30.0) * (dist.get_rank() + 1)
        (ring if own else dist.all_reduce)(tensor)
        return tensor

    mine, theirs = run_ranks(5, job, True), run_ranks(5, job, False)
    assert all(torch.equal(a, b) for a, b in zip(mine.results, theirs.results, strict=True))
    assert run_times(mine) == pytest.approx(run_times(theirs))


def test_with_equal_shares_the_step_is_pytorchs_own() -> None:
    step = solved_space("hw5")["data_parallel_backward"]

    def net() -> torch.nn.Module:
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 2))

    def job() -> list[Any]:
        x = torch.arange(12.0).view(3, 4) * (1 + dist.get_rank()) / 10
        ours, theirs = net(), net()
        parallel = torch.nn.parallel.DistributedDataParallel(theirs)
        parallel(x).pow(2).mean().backward()
        step(ours(x).pow(2).mean(), list(ours.parameters()), [[3, 2], [1, 0]], 3, 6)
        pairs: Any = zip(ours.parameters(), theirs.parameters(), strict=True)
        return [torch.allclose(a.grad, b.grad) for a, b in pairs]

    assert run_ranks(2, job).results == [[True] * 4] * 2
