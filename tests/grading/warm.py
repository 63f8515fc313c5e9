"""An executor as Lab 4A has it, and whether a reply to one of its questions is right."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autograder.grading.sandbox import Executor, Limits
from autograder.grading.sandbox.host.pool import PRELOAD
from autograder.labs.lab4a.hidden import HIDDEN
from lab_utils.kit.judge import outcome
from lab_utils.kit.task import Case
from lab_utils.labs.lab4a import LAB
from lab_utils.labs.lab4a.judge import JUDGE


def warm_executor(limits: Limits, jobs: int = 1, **rest: Any) -> Executor:
    preload = (*PRELOAD, *HIDDEN.preload, "lab_utils.labs.lab4a.ask")
    return Executor(limits=limits, jobs=jobs, preload=preload, warm_up=HIDDEN.warm_up, **rest)


def is_right(task: str, case: Case, reply: Mapping[str, Any]) -> bool:
    return not outcome(LAB.task_called(task), JUDGE[task], case, reply)
