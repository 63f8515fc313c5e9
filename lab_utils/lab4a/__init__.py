"""Lab 4A: what the notebooks import, and the checks that students run."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from lab_utils.checks import Case, CheckFailed, Task, run_check
from lab_utils.graph import LabError
from lab_utils.kept import in_backward, kept_values
from lab_utils.lab4a import file_tasks, inject_tasks, profile_tasks, rewire_tasks
from lab_utils.lab4a.assemble import assemble
from lab_utils.lab4a.records import Peak, Uses
from lab_utils.lab4a.replies import graph_file

__all__ = [
    "TASKS",
    "Peak",
    "Uses",
    "assemble",
    "check",
    "in_backward",
    "kept_values",
    "open_graph",
    "public_cases",
    "task_called",
]

TASKS: dict[str, Task] = {
    task.id: task
    for module in (profile_tasks, inject_tasks, rewire_tasks, file_tasks)
    for task in module.TASKS
}


def check(task_id: str, answer: Any) -> None:
    """Try a task on the public graphs; ``answer`` is the function (or file) that it asks for.

    Raises:
        CheckFailed: something is wrong; the text tells what, and where to look.
    """
    verdict = run_check(task_called(task_id), answer, public_cases(task_id))
    if not verdict.passed:
        raise CheckFailed(str(verdict))
    print(verdict)


def task_called(task_id: str) -> Task:
    """The task ``task_id``, such as ``"2.1"``."""
    if task_id not in TASKS:
        raise LabError(f"there is no task {task_id!r}: the tasks are {', '.join(TASKS)}")
    return TASKS[task_id]


def public_cases(task_id: str) -> list[Case]:
    """The cases on which students check their work."""
    return [Case(**data) for data in _case_data()[task_id]]


@cache
def _case_data() -> dict[str, list[dict[str, Any]]]:
    """The table of cases, with each ``{"file": NAME}`` replaced by the text of that file."""

    def text_of(value: dict[str, Any]) -> Any:
        return graph_file(value["file"]).read_text() if set(value) == {"file"} else value

    table = graph_file("cases.json").read_text(encoding="utf-8")
    return json.loads(table, object_hook=text_of)


def open_graph(name: str = "llm_mlp") -> Any:
    """A graph of the lab: ``llm_mlp``, and the same after a finished task.

    ``llm_mlp.injected`` has the clones of notebook 02, ``llm_mlp.rewired`` is what
    notebook 03 makes of it.
    """
    from lab_utils.dot.read import read_dot

    path = graph_file(f"{name}.dot")
    if not path.is_file():
        known = sorted(p.name.removesuffix(".dot") for p in path.parent.glob("*.dot"))
        raise LabError(f"there is no graph {name!r}: choose {', '.join(known)}")
    return read_dot(path)
