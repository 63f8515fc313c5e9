"""Ranks beside the formula of a ring, gradients beside one process, and what a start costs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import torch
import torch.distributed as dist

from lab_utils.instruments.ranks import Link, run_ranks
from lab_utils.instruments.ranks.show.clock import exact, replay
from lab_utils.kit.lab import lab_called
from lab_utils.labs.lab3b.judge.oracle import one_block
from lab_utils.labs.lab3b.judge.replicas import one_batch
from lab_utils.labs.lab3b.judge.stage import one_model
from lab_utils.labs.lab3b.judge.tensor_parallel import part_of_block
from tests.benchmarks import Row, progress

LINK = Link(latency=50e-6, bandwidth=1.25e9)
ELEMENTS = 840  # which 2 to 8 divide
CLOSE = 1e-6


def benchmarks() -> Iterator[Row]:
    """The ring's time against its formula; gradients against autograd; the CPU of four ranks."""
    from tests.labs.lab3b.solved import solution

    ours = solution()
    progress("a ring of 2 to 8 ranks")
    off = sum(_ring_seconds(ours, ranks) != _formula(ranks) for ranks in range(2, 9))
    yield Row("ranks: rings off the formula, of 7", off, "none may be", 1, "rings", goal=0.0)
    for name, worst in (
        ("tensor parallel", _tensor_parallel(ours)),
        ("pipeline", _pipeline(ours)),
        ("data parallel", _data_parallel(ours)),
    ):
        progress(name)
        yield Row(f"ranks: {name}, gradients", worst, "one process", CLOSE, "difference", goal=1.0)
    progress("starting four ranks")
    yield Row("ranks: start 4 ranks", _cpu(), "a second", 1.0, "CPU s", goal=1.0)


def _formula(ranks: int) -> Fraction:
    return 2 * (ranks - 1) * (exact(LINK.latency) + 4 * ELEMENTS / exact(LINK.bandwidth) / ranks)


def _ring_seconds(ours: dict[str, Any], ranks: int) -> Fraction:
    def job() -> None:
        chunks = list(torch.arange(float(ELEMENTS)).tensor_split(dist.get_world_size()))
        ours["ring_reduce_scatter"](chunks)
        ours["ring_all_gather"](chunks)

    times = replay(run_ranks(ranks, job, link=LINK).diaries, LINK)
    assert len(set(times.ends)) == 1
    return times.end


def _asked(task: str, function: Callable[..., Any]) -> Iterator[tuple[dict[str, Any], Any]]:
    lab = lab_called("lab3b")
    for case in lab.public_cases(task):
        given = dict(case.given)
        yield given, lab.ask(task)(function, given)["told"]


def _worst(pairs: Iterator[tuple[list[float], torch.Tensor]]) -> float:
    return max(
        float((torch.tensor(a, dtype=b.dtype) - b.reshape(-1)).abs().max()) for a, b in pairs
    )


def _tensor_parallel(ours: dict[str, Any]) -> float:
    def pairs() -> Iterator[tuple[list[float], torch.Tensor]]:
        for given, told in _asked("1.7", ours["parallel_block"]):
            right = one_block(given)
            for rank, mine in enumerate(told):
                part = part_of_block(right, rank, given["ranks"], given["heads"])
                for name, gradient in mine["gradients"].items():
                    yield gradient, part[name]

    return _worst(pairs())


def _pipeline(ours: dict[str, Any]) -> float:
    def pairs() -> Iterator[tuple[list[float], torch.Tensor]]:
        for given, told in _asked("2.4", ours["run_stage"]):
            for mine, right in zip(told, one_model(given), strict=True):
                for name, gradient in right.items():
                    yield mine[name], gradient

    return _worst(pairs())


def _data_parallel(ours: dict[str, Any]) -> float:
    def pairs() -> Iterator[tuple[list[float], torch.Tensor]]:
        for given, told in _asked("2.7", ours["overlapped_backward"]):
            for step in range(2):
                right = one_batch(given, step)
                for mine in told:
                    yield from zip(mine[step]["gradients"], right, strict=True)

    return _worst(pairs())


def _cpu() -> float:
    """Processor seconds of this process and of the ranks, the best of three runs."""

    def used() -> float:
        return sum(os.times()[:4])

    best = float("inf")
    for _ in range(3):
        before = used()
        run_ranks(4, dist.barrier)
        best = min(best, used() - before)
    return best
