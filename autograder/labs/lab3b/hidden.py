"""The instructors' side of Lab 3B: its hidden cases, and what grading it takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.grading.hidden import Hidden
from autograder.labs.lab3b import lending
from lab_utils.kit.task import Case

_LAYERS = Path(__file__).with_name("lent_layers.py")
_TEXTS = ("column_linear", "row_linear")


def _lend(name: str, case: Case, arguments: Any) -> Any:
    """The text of right layers: what joins a collective must run in the ranks themselves.

    What models of notebook 3 answer is plain data.
    """
    if name in _TEXTS:
        return _LAYERS.read_text(encoding="utf-8")
    return lending.lend(name, case, arguments)


HIDDEN = Hidden(
    lab="lab3b",
    cases=Path(__file__).with_name("hidden_cases.json"),
    lent={"1.7": _TEXTS, **lending.LENT},
    lend=_lend,
    preload=(
        "torch.distributed",
        "torch.fx.experimental.symbolic_shapes",  # what backward loads
        "lab_utils.labs.lab3b.ask",
    ),
)
