"""The roof of one core of this computer, found by a short benchmark: its best GEMM and copy.

One core, and the processor's own clock: what else runs on the computer disturbs this least.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from lab_utils.instruments.roofline.machines import Machine

NAME = "this computer"
SQUARES = (512, 768, 1024, 1536)  # of the GEMMs that look for the best rate
STREAM = 32 * 2**20  # elements of each of two arrays: far more than any cache holds
ROUNDS = 3
COPY = "copy"
_TELLABLE = 1e-4  # seconds: some clocks of processors tick in steps of several microseconds

Progress = Callable[[float, str], None]
"""Told the share that is done, and what is being measured."""


@dataclass(frozen=True)
class Work:
    """Something that was run: its operations and bytes, and its best time in seconds."""

    name: str
    operations: int
    nbytes: int
    seconds: float

    @property
    def intensity(self) -> float:
        """Operations for each byte."""
        return self.operations / self.nbytes

    @property
    def rate(self) -> float:
        """Operations a second, as measured."""
        return self.operations / self.seconds


@dataclass(frozen=True)
class Measured:
    """This computer as a machine, and operators that were timed in the same run."""

    machine: Machine
    works: tuple[Work, ...]

    def share(self, work: Work) -> float:
        """How much of the roof above it an operator reached."""
        return work.rate / self.machine.attainable(work.intensity, "fp32")


def measure_this_computer(progress: Progress | None = None, rounds: int = ROUNDS) -> Measured:
    """Time GEMMs, copies and other operators of PyTorch in FP32, in turn; a few seconds.

    The roof is the best that any round reached. What else runs on this computer disturbs all
    of them alike, since every round times all of them.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        works = _timed(torch, progress, rounds)
    finally:
        torch.set_num_threads(threads)
    peak = max(work.rate for work in works)
    stream = max(w.nbytes / w.seconds for w in works if w.name == COPY)
    source = f"measured with torch {torch.__version__}"
    machine = Machine(NAME, {"fp32": peak}, stream, _memory(), 1e9, source)
    return Measured(machine, tuple(w for w in works if w.operations))


def _timed(torch: Any, progress: Progress | None, rounds: int) -> list[Work]:
    jobs = _jobs(torch)
    best = dict.fromkeys(jobs, float("inf"))
    steps, done = rounds * len(jobs), 0
    with torch.inference_mode():
        for _ in range(rounds):
            for name, (run, _, _) in jobs.items():
                if progress:
                    progress(done / steps, name)
                best[name] = min(best[name], _seconds(run))
                done += 1
    if progress:
        progress(1.0, "done")
    return [Work(n, ops, nbytes, best[n]) for n, (_, ops, nbytes) in jobs.items()]


Job = tuple[Callable[[], object], int, int]


def _jobs(torch: Any) -> dict[str, Job]:
    """What is run, its operations and its bytes, by name."""
    jobs: dict[str, Job] = {}
    source, target = torch.ones(STREAM), torch.empty(STREAM)
    jobs[COPY] = (lambda: target.copy_(source), 0, 8 * STREAM)
    jobs["add"] = (lambda: torch.add(source, 1.0, out=target), STREAM, 8 * STREAM)
    for n in SQUARES:
        jobs[f"gemm {n}"] = _gemm(torch, n, n, n)
    jobs["gemm 64×2048×2048"] = _gemm(torch, 64, 2048, 2048)
    jobs["gemv 4096"] = _gemm(torch, 1, 4096, 4096)
    rows = torch.ones(2048, 2048)
    jobs["softmax 2048"] = (lambda: torch.softmax(rows, -1), 3 * 2048**2, 8 * 2048**2)
    tiny = torch.ones(16, 16)
    jobs["gemm 16"] = (lambda: torch.mm(tiny, tiny), 2 * 16**3, 4 * 3 * 16**2)
    return jobs


def _gemm(torch: Any, m: int, n: int, k: int) -> Job:
    a, b, out = torch.ones(m, k), torch.ones(k, n), torch.empty(m, n)
    nbytes = 4 * (m * k + k * n + m * n)
    return lambda: torch.mm(a, b, out=out), 2 * m * n * k, nbytes


def _seconds(run: Callable[[], object], least: float = 0.02) -> float:
    """The best time of some runs, which together take a moment.

    What is shorter than the processor's clock can tell is timed several times in a row.
    """
    run()
    best, spent, row = float("inf"), 0.0, 1
    while spent < least:
        start = time.process_time()
        for _ in range(row):
            run()
        took = time.process_time() - start
        if took < _TELLABLE:
            row *= 2
            continue
        best, spent = min(best, took / row), spent + took
    return best


def _memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # as on Windows
        return 8e9
