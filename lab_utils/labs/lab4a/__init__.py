"""Lab 4A: what the notebooks import, and the checks that students run."""

from __future__ import annotations

from typing import Any

from lab_utils.kit.errors import LabError
from lab_utils.kit.lab import LabTasks
from lab_utils.labs.graphs.replies import graph_file
from lab_utils.labs.lab4a import file_tasks, inject_tasks, profile_tasks, rewire_tasks
from lab_utils.labs.lab4a.assemble import assemble
from lab_utils.labs.lab4a.lending import borrowed
from lab_utils.labs.lab4a.records import Peak, Uses
from lab_utils.steps.kept import in_backward, kept_values

__all__ = [
    "TASKS",
    "Peak",
    "Uses",
    "assemble",
    "borrowed",
    "check",
    "in_backward",
    "kept_values",
    "open_graph",
    "public_cases",
    "task_called",
]

_LAB = LabTasks(
    (
        task
        for module in (profile_tasks, inject_tasks, rewire_tasks, file_tasks)
        for task in module.TASKS
    ),
    graph_file(""),
)
TASKS = _LAB.tasks
check, task_called, public_cases = _LAB.check, _LAB.task_called, _LAB.public_cases


def open_graph(name: str = "llm_mlp") -> Any:
    """A graph of the lab: ``llm_mlp``, and the same after a finished task.

    ``llm_mlp.injected`` has the clones of notebook 02, ``llm_mlp.rewired`` is what
    notebook 03 makes of it.
    """
    from lab_utils.steps.dot.read import read_dot

    path = graph_file(f"{name}.dot")
    if not path.is_file():
        known = sorted(p.name.removesuffix(".dot") for p in path.parent.glob("*.dot"))
        raise LabError(f"there is no graph {name!r}: choose {', '.join(known)}")
    return read_dot(path)
