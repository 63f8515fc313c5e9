"""Where PyTorch's own ways stand on the trade-off of notebook 05.

``python -m tests.benchmarks.tradeoff`` runs ``torch.utils.checkpoint`` around every block and
the min-cut partitioner at several budgets, on the model of ``tradeoff_graph``, and writes
``autograder/labs/project/opponents.json``; ``make notebooks`` puts the points on the curve. The
peak is watched while the step runs. The work is the estimate of all operators that run, less that
of the same step without recomputation: the same on every machine, as all times of the curve.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.labs.project.build import tradeoff_workload
from lab_utils.kit.root import ROOT
from lab_utils.labs.project.experiments import static_bytes
from lab_utils.labs.project.tradeoff import Point
from lab_utils.steps.estimate import operator_seconds
from tests.benchmarks.models import blocks
from tests.benchmarks.opponents import Run, eager_step, min_cut_step, watched_peak
from tests.support.workloads import Case, make_case

FILE = ROOT / "autograder" / "labs" / "project" / "opponents.json"
NAMES = ("torch.utils.checkpoint per block", "min-cut partitioner")
BUDGETS = (1.0, 0.8, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)


def opponents() -> dict[str, list[Point]]:
    """Points (seconds that run again, peak in bytes) by the name of the way."""
    torch.manual_seed(0)
    case = make_case(tradeoff_workload(), torch.optim.SGD)
    plain, uncut = (estimated_work(step) for step in (eager_step(case), min_cut_step(case, None)))
    wrapped = eager_step(case, blocks(case.work.model))
    cut = {point(case, min_cut_step(case, budget), uncut) for budget in BUDGETS}
    return dict(zip(NAMES, ([point(case, wrapped, plain)], sorted(cut)), strict=True))


def point(case: Case, step: Run, without: float) -> Point:
    """What ``step`` reaches; ``without``: the work of the same step without recomputation."""
    again = round(max(estimated_work(step) - without, 0.0), 9)
    return again, watched_peak(case, step) + static_bytes(case.graph)


def estimated_work(step: Run) -> float:
    """Seconds of all operators that ``step`` runs, estimated from their shapes."""
    with _Work() as work:
        step()
    return work.seconds


class _Work(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        if not func.is_view:
            self.seconds += operator_seconds(func, args, kwargs or {}, result)
        return result


def main() -> None:
    """Measure, and write the file."""
    table = {
        "made by": "python -m tests.benchmarks.tradeoff",
        "torch": torch.__version__.partition("+")[0],
        "points": opponents(),
    }
    FILE.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    print(FILE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
