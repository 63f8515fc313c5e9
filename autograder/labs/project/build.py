"""Make the graphs and cases of Lab 4B: ``python -m autograder.labs.project.build [--check]``.

Public ones go to ``lab_utils/labs/project/graphs``, hidden ones stay here. The same bytes on
every run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import torch
from torch import fx

from autograder.authoring.derived import as_json, with_files, write_or_check
from autograder.labs.lab4a.models import renamed
from autograder.labs.project.cases import CaseData, selection_cases
from autograder.labs.project.models import HIDDEN, PUBLIC
from autograder.labs.project.tradeoff import known_plans
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import Workload, llm_mlp

GRAPHS = Path("lab_utils/labs/project/graphs")
HIDDEN_FILE = Path("autograder/labs/project/hidden_cases.json")


def derived_files() -> dict[Path, str]:
    """The text of every derived file, by its path in the repository."""
    public: dict[str, list[CaseData]] = {}
    files: dict[Path, str] = {}
    for name, build in PUBLIC.items():
        graph = _trace(build)
        files[GRAPHS / f"{name}.dot"] = write_dot(graph)
        _add(public, selection_cases(name.replace("_", " "), graph))
    hidden: dict[str, list[CaseData]] = {}
    for name, build in HIDDEN.items():
        graph = _trace(build)
        _add(hidden, selection_cases(name, renamed(graph) if "other names" in name else graph))
    for task in ("6.2", "6.4", "6.5"):
        public[task] = [{"name": "the file to hand in", "given": {}, "wanted": {}}]
    shared = {text: {"file": path.name} for path, text in files.items()}
    files[GRAPHS / "cases.json"] = as_json(with_files(public, shared))
    files[HIDDEN_FILE] = as_json(hidden)
    graph = _trace(tradeoff_workload)
    files[GRAPHS / "tradeoff.dot"] = write_dot(graph)
    files[GRAPHS / "tradeoff.json"] = as_json(known_plans(graph))
    return files


def tradeoff_workload() -> Workload:
    """The model on which plans are compared: two blocks, so that all plans can be tried."""
    return llm_mlp(layers=2, width=64, hidden=256, batch=512)


def _trace(build: Callable[[], Workload]) -> fx.Graph:
    torch.manual_seed(0)
    return trace_workload(build())


def _add(cases: dict[str, list[CaseData]], more: dict[str, list[CaseData]]) -> None:
    for task, found in more.items():
        cases.setdefault(task, []).extend(found)


def main(arguments: list[str]) -> int:
    """Write the derived files, or with ``--check`` name those that are stale."""
    return write_or_check(derived_files(), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
