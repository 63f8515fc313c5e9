"""The instructors' side of Lab 4A: its hidden graphs, and what a judge needs beside them."""

from __future__ import annotations

from pathlib import Path

from autograder.grading.hidden import Hidden, Later
from autograder.grading.sandbox import Limits
from autograder.grading.sandbox.host.cut import Cut
from autograder.labs import graphs

_SHIPPED = "labs/lab4a/cases/*.{}.dot"
_CLONES, _REWIRED = _SHIPPED.format("injected"), _SHIPPED.format("rewired")

HIDDEN = Hidden(
    lab="lab4a",
    cases=Path(__file__).with_name("hidden_cases.json"),
    lent={"2.2": ("recompute_set",)},
    aid={"1.3": ("seconds",)},
    lend=Later("autograder.labs.lab4a.lending", "lend"),
    chart=Later("autograder.labs.lab4a.lending", "chart"),
    compared=Later("autograder.labs.lab4a.against_reference", "compared"),
    cuts={
        "1.1": graphs.WITHOUT_TRACING,  # which tells the kinds
        "1.4": graphs.WITHOUT_MEMORY,
        "2.1": Cut(frozenset({_CLONES, _REWIRED})),
        "2.2": Cut(frozenset({_CLONES, _REWIRED})),
        "3.1": Cut(frozenset({_REWIRED})),
    },
    preload=graphs.PRELOAD,
    warm_up=("lab_utils.labs.lab4a.warm:warm_up",),
    # A right hand-in takes three seconds in all.
    limits=Limits(cell_seconds=20, notebook_seconds=60, question_seconds=10),
)
