"""How fast all strategies of a job are tried, and how well their order is that of AstraSim."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.reference.job.schedules import seconds
from autograder.reference.job.search import layer_traffic, strategies
from lab_utils.instruments.network.job import simulate
from lab_utils.labs.lab4b.published import PUBLISHED, rank_correlation
from lab_utils.labs.lab4b.systems import GPT_175B, JOB, LLAMA_70B, SYSTEM_1, SYSTEM_2
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
    steps = [
        simulate(LLAMA_70B, JOB, point.strategy, SYSTEM_1, layer_traffic, seconds)
        for point in PUBLISHED
    ]
    for what in ("wall", "comm", "gpu"):
        mine = [getattr(step, what) for step in steps]
        theirs = [getattr(point, what) for point in PUBLISHED]
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
