"""The instructors' side of Lab 1A: its hidden shapes, machines and models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.grading.hidden import Hidden
from autograder.grading.sandbox.host.cut import Cut
from autograder.labs.lab1a.definitions import cost, gemm, softmax
from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Case


def _lend(name: str, _case: Case, arguments: Any) -> int:
    """What ``gemm_ops`` and ``softmax_ops`` answer, by counting.

    Raises:
        LabError, TypeError, ValueError: the arguments are none of an honest call.
    """
    if any(type(n) is not int or abs(n) > 10**9 for n in arguments):
        raise LabError(f"{name} takes whole numbers")
    if name == "gemm_ops":
        B, M, N, K = arguments
        return cost(gemm, (B, M, N, K)).operations(1)
    B, L, w = arguments
    return cost(softmax, (B, L)).operations(w)


#: The walk times operators and finds where they cross the ridge: both are tasks.
_NO_WALK = Cut(
    without=frozenset({"labs/lab1a/walking.py"}),
    stand_ins=(Path(__file__).with_name("stand_ins"),),
)
HIDDEN = Hidden(
    lab="lab1a",
    cases=Path(__file__).with_name("hidden_cases.json"),
    lent={"1.5": ("gemm_ops", "softmax_ops")},
    lend=_lend,
    cuts={"2.1": _NO_WALK, "2.7": _NO_WALK},
    preload=(
        "torch.utils.flop_counter",
        "pandas",
        "transformers.models.llama.modeling_llama",
        "lab_utils.instruments.counting",
    ),
)
