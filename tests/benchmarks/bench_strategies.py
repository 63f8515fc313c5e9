"""How fast all strategies of a job are tried, and how well their order is that of AstraSim."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autograder.reference.job.schedules import seconds
from autograder.reference.job.search import layer_traffic, strategies
from lab_utils.instruments.network.astrasim import read_system
from lab_utils.instruments.network.job import simulate
from lab_utils.labs.lab4b.published import PUBLISHED, rank_correlation
from lab_utils.labs.lab4b.systems import (
    GPT_175B,
    JOB,
    LLAMA_70B,
    NETWORK_1,
    SYSTEM_1,
    SYSTEM_2,
    SYSTEM_JSON,
)
from tests.benchmarks import Row, timed

SEARCH = 2.0  # seconds that a search may take


def benchmarks() -> Iterator[Row]:
    """56 strategies against two seconds; ranks of wall time against the published runs."""
    for model, system in ((LLAMA_70B, SYSTEM_1), (GPT_175B, SYSTEM_2)):
        name = f"strategies: 56 of {model.name} on {system.name}"

        def search(model: object = model, system: object = system) -> None:
            for one in strategies(64):
                simulate(model, JOB, one, system, layer_traffic, seconds)  # type: ignore[arg-type]

        yield Row(name, timed(search), "a search", SEARCH, "CPU s", goal=1.0)
    by_their_rules = read_system("theirs", NETWORK_1, SYSTEM_JSON, 80e9, multiply_add=1)
    one_byte = replace(JOB, dtype="int8")
    ours, closer = (
        [simulate(LLAMA_70B, job, p.strategy, on, layer_traffic, seconds) for p in PUBLISHED]
        for job, on in ((JOB, SYSTEM_1), (one_byte, by_their_rules))
    )
    for what in ("wall", "comm", "gpu"):
        mine = [getattr(step, what) for step in ours]
        theirs = [getattr(point, what) for point in PUBLISHED]
        shares = sorted(getattr(s, what) / t for s, t in zip(closer, theirs, strict=True))
        yield Row(
            f"strategies: {what} time by AstraSim's rules, the middle of 20 published runs",
            shares[len(shares) // 2],
            "AstraSim's seconds",
            1.0,
            "times",
            goal=1.5,
            note=f"{shares[0]:.2f} to {shares[-1]:.2f}; one operation a multiply-add, one byte",
        )
        yield Row(
            f"strategies: order of {what} time, 20 published runs",
            rank_correlation(mine, theirs),
            "AstraSim's own order",
            1.0,
            "Spearman",
            goal=0.9,
            higher_is_better=True,
            note="nothing fitted",
        )
