"""Yours beside what is wanted in notebook 2, pipeline and data parallel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.instruments.ranks.records import Link
from lab_utils.instruments.ranks.show.clock import replay
from lab_utils.instruments.ranks.show.findings import link_of
from lab_utils.instruments.ranks.show.lanes import draw
from lab_utils.instruments.ranks.show.replicas import replica_diary
from lab_utils.instruments.ranks.show.schedules import pipeline_diaries
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show
from lab_utils.labs.lab3b.show.ranks import run_shown


def schedule(case: Case, answer: Sequence[Any]) -> Drawing:
    """Tasks 2.1 and 2.2: your schedule, with links that cost nothing to speak of."""
    diaries = pipeline_diaries(answer, 1e-3, 2e-3, 250_000, 1_000_000)
    return draw({f"yours, {case.name}": replay(diaries, Link(0, 1e15))})


def overlap(case: Case, answer: Mapping[str, Any]) -> Drawing:
    """Task 2.7: your two steps, above those in which every bucket starts as soon as it can."""
    best = [replica_diary(case.given) for _ in range(case.given["ranks"])]
    runs = {"yours": answer["diaries"], "as soon as possible": best}
    return draw({title: replay(diaries, link_of(case)) for title, diaries in runs.items()})


SHOW: dict[str, Show] = {
    "2.1": schedule,
    "2.2": schedule,
    "2.4": run_shown,
    "2.7": overlap,
}
