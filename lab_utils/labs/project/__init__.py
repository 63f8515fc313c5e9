"""Lab 4B: what the notebooks import, and the checks that students run."""

from __future__ import annotations

from pathlib import Path

from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.kit.lab import LabTasks
from lab_utils.labs.project import candidate_tasks, experiment_tasks, greedy_tasks
from lab_utils.labs.project.lending import borrowed
from lab_utils.labs.project.records import Candidate, Plan, Rebuild, Simulated
from lab_utils.steps.kept import in_backward, is_early, kept_values
from lab_utils.steps.rerun import rebuildable, run_again

__all__ = [
    "TASKS",
    "Candidate",
    "Plan",
    "Rebuild",
    "Simulated",
    "borrowed",
    "check",
    "in_backward",
    "is_early",
    "kept_values",
    "open_graph",
    "public_cases",
    "rebuildable",
    "run_again",
    "task_called",
]

_FOLDER = Path(__file__).with_name("graphs")
_LAB = LabTasks((*candidate_tasks.TASKS, *greedy_tasks.TASKS, *experiment_tasks.TASKS), _FOLDER)
TASKS = _LAB.tasks
check, task_called, public_cases = _LAB.check, _LAB.task_called, _LAB.public_cases


def open_graph(name: str) -> fx.Graph:
    """A small training step of the lab: ``chain``, ``diamond``, ``reads_twice``, …"""
    from lab_utils.steps.dot.read import read_dot

    path = _FOLDER / f"{name}.dot"
    if not path.is_file():
        known = sorted(p.stem for p in _FOLDER.glob("*.dot"))
        raise LabError(f"there is no graph {name!r}: choose {', '.join(known)}")
    return read_dot(path)
