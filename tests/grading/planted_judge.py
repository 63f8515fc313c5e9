"""The process that judges, with a canary in each hidden case: its last argument."""

from __future__ import annotations

import sys
from collections.abc import Callable

from autograder.grading.hidden import Hidden
from autograder.grading.judge import process
from lab_utils.kit.lab import lab_called
from lab_utils.kit.task import Case
from tests.grading.attacks.carrier import CANARY

_graded_cases = Hidden.graded_cases


def plant(canary: str) -> Callable[[Hidden, str], list[Case]]:
    """What stands in for ``Hidden.graded_cases``: hidden ones hold the canary, on both sides."""

    def graded_cases(self: Hidden, task: str) -> list[Case]:
        public = len(lab_called(self.lab).public_cases(task))
        cases = _graded_cases(self, task)
        return [
            *cases[:public],
            *(
                Case(c.name, {**c.given, CANARY: canary}, {**c.wanted, CANARY: canary})
                for c in cases[public:]
            ),
        ]

    return graded_cases


if __name__ == "__main__":
    setattr(Hidden, "graded_cases", plant(sys.argv.pop()))  # noqa: B010  (a method)
    process.main()
