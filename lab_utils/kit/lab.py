"""The tasks of a lab and the public cases on which students try them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any

from lab_utils.kit.checks import Case, CheckFailed, Task, run_check
from lab_utils.kit.errors import LabError


class LabTasks:
    """The tasks of one lab; ``folder`` holds its ``cases.json`` and the files that it names."""

    def __init__(self, tasks: Iterable[Task], folder: Path) -> None:
        self.tasks = {task.id: task for task in tasks}
        self._folder = folder

    def check(self, task_id: str, answer: Any) -> None:
        """Try a task on the public cases; ``answer`` is the function (or file) that it asks for.

        Raises:
            CheckFailed: something is wrong; the text tells what, and where to look.
        """
        verdict = run_check(self.task_called(task_id), answer, self.public_cases(task_id))
        if not verdict.passed:
            raise CheckFailed(str(verdict))
        print(verdict)

    def task_called(self, task_id: str) -> Task:
        """The task ``task_id``, such as ``"2.1"``."""
        if task_id not in self.tasks:
            known = ", ".join(self.tasks)
            raise LabError(f"there is no task {task_id!r}: the tasks are {known}")
        return self.tasks[task_id]

    def public_cases(self, task_id: str) -> list[Case]:
        """The cases on which students check their work."""
        return [Case(**data) for data in self._cases[task_id]]

    @cached_property
    def _cases(self) -> dict[str, list[dict[str, Any]]]:
        """The table of cases, with each ``{"file": NAME}`` replaced by the text of that file."""

        def text_of(value: dict[str, Any]) -> Any:
            if set(value) != {"file"}:
                return value
            return (self._folder / value["file"]).read_text(encoding="utf-8")

        table = (self._folder / "cases.json").read_text(encoding="utf-8")
        return json.loads(table, object_hook=text_of)
