"""The instructors' side of Lab 3A: its hidden graphs, and how long their operators take."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.grading.hidden import Hidden
from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Case
from lab_utils.labs.lab3a.ticking import REPEATS, unit

_FIRST = 1000  # the first run, in units


def _lend(name: str, case: Case, arguments: Any) -> Any:
    """How long an operator takes, or what a right ``timed`` makes of its first run.

    Raises:
        LabError, KeyError, TypeError, ValueError: the arguments are none of an honest call.
    """
    if name == "seconds":
        return unit(str(arguments["key"]), case.wanted["pace"])
    if name == "timed":
        took = float(arguments["took"])
        return 1e3 * took * (1 if arguments["once"] else (REPEATS + 1) / 2 / _FIRST)
    raise LabError(f"{name} is not lent")


HIDDEN = Hidden(
    lab="lab3a",
    cases=Path(__file__).with_name("hidden_cases.json"),
    lent={"1.4": ("with_values", "timed"), "1.5": ("with_values", "timed")},
    aid={"1.3": ("seconds",), "1.5": ("seconds",)},
    lend=_lend,
    preload=("torch.fx.passes.shape_prop", "pandas", "matplotlib.pyplot", "graphviz"),
)
