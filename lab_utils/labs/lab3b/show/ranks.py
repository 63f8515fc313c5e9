"""Yours beside what is wanted in notebook 1, ranks, collectives and tensor parallel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lab_utils.instruments.ranks.show.clock import replay
from lab_utils.instruments.ranks.show.findings import link_of
from lab_utils.instruments.ranks.show.lanes import draw
from lab_utils.kit.charts.drawn import Drawing
from lab_utils.kit.task import Case, Show


def run_shown(case: Case, answer: Mapping[str, Any]) -> Drawing:
    """What the ranks did."""
    return draw({case.name: replay(answer["diaries"], link_of(case))})


SHOW: dict[str, Show] = dict.fromkeys(("1.1", "1.2", "1.7"), run_shown)
