"""Makes the graphs, cases and pictures of the project; ``make notebooks`` writes them.

The same bytes on every run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import fx

from autograder.authoring.derived import CaseData, Files, as_json, case_files
from autograder.labs.graphs.naming import without_nodes
from autograder.labs.project.cases import plan_cases, selection_cases
from autograder.labs.project.models import HIDDEN_MODELS, PLAN_MODELS, PUBLIC_MODELS, RENAMED
from autograder.labs.project.pictures import pictures
from autograder.labs.project.tradeoff import known_plans
from autograder.reference.renamed import renamed
from lab_utils.steps.dot.write import write_dot
from lab_utils.steps.trace.step import trace_workload
from lab_utils.steps.workloads import Workload, llm_mlp


def derived_files() -> Files:
    """The text of every derived file, by its path in the repository."""
    public: dict[str, list[CaseData]] = {}
    graphs: dict[str, str] = {}
    for name, build in PUBLIC_MODELS.items():
        graph = _trace(build)
        graphs[f"{name}.dot"] = write_dot(graph)
        _add(public, selection_cases(name.replace("_", " "), graph))
    hidden: dict[str, list[CaseData]] = {}
    for name, build in HIDDEN_MODELS.items():
        graph = _trace(build)
        graph = renamed(graph) if name in RENAMED else graph
        cases = selection_cases(name, graph)
        _add(hidden, {task: without_nodes(c, name, graph) for task, c in cases.items()})
    for name, build in PLAN_MODELS.items():
        graph = _trace(build)
        _add(hidden, {"5.6": without_nodes(plan_cases(name, graph, most=5), name, graph)})
    for task in ("6.2", "6.4", "6.5"):
        public[task] = [{"name": "the file to hand in", "given": {}, "wanted": {}}]
    graph = _trace(tradeoff_workload)
    graphs["tradeoff.dot"] = write_dot(graph)
    plans = Path("lab_utils/labs/project/cases/tradeoff.json")
    return {
        **case_files("project", public, hidden, graphs),
        plans: as_json(known_plans(graph)),
        **pictures(),
    }


def tradeoff_workload() -> Workload:
    """The model on which plans are compared: two blocks, so that all plans can be tried."""
    return llm_mlp(layers=2, width=64, hidden=256, batch=512)


def _trace(build: Callable[[], Workload]) -> fx.Graph:
    torch.manual_seed(0)
    return trace_workload(build())


def _add(cases: dict[str, list[CaseData]], more: dict[str, list[CaseData]]) -> None:
    for task, found in more.items():
        cases.setdefault(task, []).extend(found)
