"""Lab 3B: the solution, wrong and right cells, and the lab as a whole."""

from __future__ import annotations

import json
from typing import Any

import pytest

from autograder.grading.hidden import hidden_of
from lab_utils.kit.parts import PARTS
from lab_utils.labs.lab3b import LAB
from lab_utils.labs.lab3b.judge.models import LOOK
from lab_utils.labs.lab3b.judge.plans import LARGEST
from tests.grading.attacks import generic
from tests.labs.lab3b.catalogue import CATALOGUE
from tests.labs.lab3b.solved import solution
from tests.support.catalogue import LosingEarly, assert_hidden_cases_are_other


class TestCatalogue(LosingEarly):
    """Cells of Lab 3B."""

    catalogue = CATALOGUE


def test_hidden_cases_are_other_cases() -> None:
    assert_hidden_cases_are_other("lab3b", 3)


def _slips(task: str) -> list[set[str]]:
    """By hidden case, the mistakes that would be seen in it."""
    cases = hidden_of("lab3b").graded_cases(task)[len(LAB.public_cases(task)) :]
    found = []
    for case in cases:
        parts = case.wanted[PARTS] if PARTS in case.given else [case.wanted]
        slips = [slip for part in parts for slip in part["slips"]]
        found.append({slip if isinstance(slip, str) else slip[0] for slip in slips})
    return found


@pytest.mark.parametrize("task", [*LOOK, "3.7"])
def test_whoever_makes_a_usual_mistake_loses_half(task: str) -> None:
    """Each mistake that has a sentence of its own shows in at least half of the hidden cases."""
    cases = _slips(task)
    for slip in LARGEST if task == "3.7" else filter(None, LOOK[task]):
        assert 2 * sum(slip in case for case in cases) >= len(cases), slip


def test_ranks_that_grading_starts_are_few() -> None:
    """A rank is a process: what they cost is most of what grading this lab costs."""
    graded = (hidden_of("lab3b").graded_cases(task.id) for task in LAB.tasks if task.id != "1.5")
    assert sum(case.given.get("ranks", 0) for cases in graded for case in cases) <= 125


@pytest.mark.parametrize("task", ["1.1", "1.6"])
def test_an_attacker_would_find_a_right_function(task: str) -> None:
    """It looks at one rank alone before it starts several: one that talks, one that does not."""
    asked, ask = LAB.task_called(task), LAB.ask(task)
    right = solution()[asked.asks]
    known = [(case.given, ask(right, case.given)) for case in LAB.public_cases(task)]
    space: dict[str, Any] = {}
    exec(generic.cell([]), space)
    space["LOOT"] = [len, ask, solution()["shard_qkv"], right]
    pairs = json.loads(json.dumps(known))
    assert space["_worth_it"](ask, asked.takes, pairs) == [right]
    assert space["_candidate"](ask, asked.takes, pairs) is right
