"""The instructors' check of Lab 4A."""

from __future__ import annotations

from pathlib import Path

from torch import fx

import lab_utils.lab4a
from autograder.engine.rewrite import recompute_set
from autograder.graded import Graded


def _recompute_set(target: fx.Node, kept: set[fx.Node]) -> list[fx.Node]:
    calls = {n for n in target.graph.nodes if n.op == "call_function"}
    return recompute_set([target], calls - set(kept)) if target in calls - set(kept) else []


_LAB = Graded(
    lab_utils.lab4a,
    Path(__file__).with_name("hidden_cases.json"),
    lent={"2.2": {"recompute_set": _recompute_set}},
)
check, graded_cases, _lent = _LAB.check, _LAB.cases, _LAB.lent
