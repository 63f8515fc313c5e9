"""What other ways of choosing reach on the graph of notebook 05's trade-off.

The optimum is found here. What PyTorch offers was run and watched by a command of its own
(``python -m tests.benchmarks.tradeoff``), which wrote ``opponents.json``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch import fx

from autograder.labs.project import reference
from lab_utils.labs.project.tradeoff import Point
from lab_utils.steps.estimate import estimated_seconds

MEASURED = Path(__file__).with_name("opponents.json")


def known_plans(graph: fx.Graph) -> dict[str, Any]:
    """How they were made, and points (seconds that run again, peak in bytes) by way.

    The optimum is the best of **all** sets of drops: nothing less work reaches its peak.
    """
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    outcomes = reference.Outcomes(graph, estimated_seconds(graph))
    found = list(reference.candidates(graph))
    every: list[Point] = []
    for chosen in range(1 << len(found)):
        result = outcomes.of([node for bit, node in enumerate(found) if chosen >> bit & 1])
        every.append((result.seconds, result.nbytes))
    return {
        "made by": "the optimum: make notebooks, from all plans of the graph; "
        f"the others: {measured['made by']}, with torch {measured['torch']}",
        "points": {"optimum (each value at most once)": _front(every), **measured["points"]},
    }


def _front(points: list[Point]) -> list[Point]:
    """The points below which no other lies with as little work."""
    best: list[Point] = []
    for work, peak in sorted(points):
        if not best or peak < best[-1][1]:
            best.append((work, peak))
    return best
