"""Every wrong hand-in loses its own task with the right words; right ones lose nothing."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.lab4a.grade import _lent, check, graded_cases
from lab_utils.checks import Verdict, run_check
from lab_utils.lab4a import TASKS
from tests.lab4a_catalogue import RIGHT, WRONG, Change
from tests.lab4a_solutions import FUNCTION_OF, functions


def verdict_on(task_id: str, function: Any) -> Verdict:
    return run_check(TASKS[task_id], function, graded_cases(task_id))


def handed_in(change: Change) -> dict[str, Any]:
    return functions({change.function: (change.old, change.new)})


@pytest.mark.parametrize("task_id", FUNCTION_OF)
def test_the_solution_has_full_marks(task_id: str) -> None:
    space = functions()
    verdict = verdict_on(task_id, space[FUNCTION_OF[task_id]])
    assert verdict.passed, verdict
    assert verdict.points == TASKS[task_id].points


@pytest.mark.parametrize("change", WRONG, ids=lambda change: change.name)
def test_a_wrong_hand_in_loses_its_task(change: Change) -> None:
    verdict = verdict_on(change.loses, handed_in(change)[change.function])
    assert verdict.points < TASKS[change.loses].points
    for word in change.says:
        assert word in str(verdict), verdict


@pytest.mark.parametrize("change", WRONG, ids=lambda change: change.name)
def test_no_other_task_loses_points(
    change: Change, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only tasks whose function calls the changed one could; they are lent a right one."""
    space = handed_in(change)
    for task_id, name in FUNCTION_OF.items():
        calls = getattr(space[name], "__code__", None)
        if task_id != change.loses and calls and change.function in calls.co_names:
            assert check(task_id, space[name]) == TASKS[task_id].points


@pytest.mark.parametrize("change", RIGHT, ids=lambda change: change.name)
def test_a_right_hand_in_has_full_marks(change: Change) -> None:
    space = handed_in(change)
    for task_id, name in FUNCTION_OF.items():
        uses = getattr(space[name], "__code__", None)
        if name == change.function or (uses and change.function in uses.co_names):
            verdict = verdict_on(task_id, space[name])
            assert verdict.passed, verdict


def test_there_are_enough_of_them() -> None:
    assert len(WRONG) >= 30
    assert len(RIGHT) >= 9
    assert len({change.name for change in (*WRONG, *RIGHT)}) == len(WRONG) + len(RIGHT)


def test_lending_gives_the_own_function_back() -> None:
    space = functions()
    own = space["recompute_set"]
    with _lent("2.2", space["inject_recomputation"]) as lent:
        assert lent
        assert space["recompute_set"] is not own
    assert space["recompute_set"] is own


def test_an_unfilled_task_has_no_points() -> None:
    def stub(*_: Any, **__: Any) -> None:
        raise NotImplementedError

    for task_id in FUNCTION_OF:
        verdict = verdict_on(task_id, stub)
        assert verdict.points == 0
        assert "still to be written" in str(verdict)


@pytest.mark.parametrize("task_id", FUNCTION_OF)
@pytest.mark.parametrize("result", [None, 7, "text", [1, 2], {"a": 1}, (1, 2, 3)], ids=repr)
def test_a_result_of_another_form_is_told_in_words(task_id: str, result: Any) -> None:
    verdict = verdict_on(task_id, lambda *_, **__: result)
    if task_id not in ("3.1", "4.1"):  # these return nothing: the graph is what counts
        assert "yours" in str(verdict)
    assert verdict.points < TASKS[task_id].points


def test_an_error_in_a_hand_in_names_its_line() -> None:
    space = functions({"rewire_backward": ("list(original.users)", "original.readers")})
    text = str(verdict_on("3.1", space["rewire_backward"]))
    assert "AttributeError" in text
    assert "for reader in original.readers" in text
