"""Wrong hand-ins lose their own task with the right words; right ones lose nothing."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from autograder.labs.project.hidden import HIDDEN
from lab_utils.labs.project import LAB
from tests.labs.lab4a.catalogue import Change
from tests.labs.lab4a.solved import PROJECT_FUNCTION_OF, functions
from tests.labs.project.catalogue import RIGHT, WRONG
from tests.support.judged import points_of, verdict_of

verdict_on = partial(verdict_of, "project")


def handed_in(change: Change) -> dict[str, Any]:
    return functions({change.function: (change.old, change.new)}, lab="project")


@pytest.mark.parametrize("task_id", PROJECT_FUNCTION_OF)
def test_the_solution_has_full_marks(task_id: str) -> None:
    verdict = verdict_on(task_id, functions(lab="project")[PROJECT_FUNCTION_OF[task_id]])
    assert verdict.passed, verdict
    assert verdict.points == LAB.task_called(task_id).points


@pytest.mark.parametrize("change", WRONG, ids=lambda change: change.name)
def test_a_wrong_hand_in_loses_at_least_half_of_its_task(change: Change) -> None:
    space = handed_in(change)
    own = space[change.function]
    verdict = verdict_on(change.loses, own)
    assert points_of("project", change.loses, own) <= LAB.task_called(change.loses).points / 2
    for word in change.says:
        assert word in str(verdict), verdict


@pytest.mark.parametrize("task_id", HIDDEN.lent)
def test_a_mistake_is_paid_for_in_its_own_task(task_id: str) -> None:
    """The tasks that call an earlier one are lent a right version of it."""
    space = functions(lab="project")
    for name in HIDDEN.lent[task_id]:
        space[name] = lambda *_: None
    assert (
        points_of("project", task_id, space[PROJECT_FUNCTION_OF[task_id]])
        == LAB.task_called(task_id).points
    )


@pytest.mark.parametrize("task_id", HIDDEN.lent)
def test_lent_functions_answer_in_plain_data(task_id: str) -> None:
    """As in a sandbox, where a right version is called in another process."""
    own = functions(lab="project")[PROJECT_FUNCTION_OF[task_id]]
    cases = HIDDEN.graded_cases(task_id)[1:2]
    verdict = verdict_of("project", task_id, own, cases, lend=True)
    assert verdict.passed, verdict


@pytest.mark.parametrize("change", RIGHT, ids=lambda change: change.name)
def test_a_right_hand_in_has_full_marks(change: Change) -> None:
    space = handed_in(change)
    for task_id, name in PROJECT_FUNCTION_OF.items():
        if name == change.function or change.function in space[name].__code__.co_names:
            verdict = verdict_on(task_id, space[name])
            assert verdict.passed, verdict


def test_an_unfilled_task_has_no_points() -> None:
    def stub(*_: Any, **__: Any) -> None:
        raise NotImplementedError

    for task_id in PROJECT_FUNCTION_OF:
        verdict = verdict_on(task_id, stub)
        assert verdict.points == 0
        assert "still to be written" in str(verdict)


@pytest.mark.parametrize("task_id", PROJECT_FUNCTION_OF)
@pytest.mark.parametrize("result", [None, 7, "text", [1], {"a": 1}, (1, 2)], ids=repr)
def test_a_result_of_another_form_is_told_in_words(task_id: str, result: Any) -> None:
    verdict = verdict_on(task_id, lambda *_, **__: result)
    assert "yours" in str(verdict)
    assert verdict.points < LAB.task_called(task_id).points
