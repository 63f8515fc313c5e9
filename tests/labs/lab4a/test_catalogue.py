"""Every wrong hand-in loses its own task with the right words; right ones lose nothing."""

from __future__ import annotations

import re
from functools import partial
from importlib import import_module
from typing import Any

import pytest

from autograder.grading.hidden import hidden_of
from lab_utils.kit.errors import CheckFailed
from lab_utils.kit.judge import Verdict
from lab_utils.kit.task import Finding
from lab_utils.labs import project
from lab_utils.labs.lab4a import LAB, open_graph
from lab_utils.steps.graph import control_dependencies
from tests.labs.lab4a.catalogue import RIGHT, WRONG, Change
from tests.labs.lab4a.solved import FUNCTION_OF, functions
from tests.support.judged import lent, points_of, verdict_of

assembly = import_module("lab_utils.labs.lab4a.assembly")


verdict_on = partial(verdict_of, "lab4a")


def handed_in(change: Change) -> dict[str, Any]:
    return functions({change.function: (change.old, change.new)})


@pytest.mark.parametrize("task_id", FUNCTION_OF)
def test_the_solution_has_full_marks(task_id: str) -> None:
    space = functions()
    verdict = verdict_on(task_id, space[FUNCTION_OF[task_id]])
    assert verdict.passed, verdict
    assert verdict.points == LAB.task_called(task_id).points


@pytest.mark.parametrize("change", WRONG, ids=lambda change: change.name)
def test_a_wrong_hand_in_loses_at_least_half_of_its_task(change: Change) -> None:
    own = handed_in(change)[change.function]
    verdict = verdict_on(change.loses, own)
    assert points_of("lab4a", change.loses, own) <= LAB.task_called(change.loses).points / 2
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
            assert points_of("lab4a", task_id, space[name]) == LAB.task_called(task_id).points


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
    case = hidden_of("lab4a").graded_cases("2.2")[0]
    with lent("lab4a", "2.2", space["inject_recomputation"], case) as names:
        assert names == ["recompute_set"]
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
    assert verdict.points < LAB.task_called(task_id).points


def test_an_error_in_a_hand_in_names_its_line() -> None:
    space = functions({"rewire_backward": ("list(original.users)", "original.readers")})
    text = str(verdict_on("3.1", space["rewire_backward"]))
    assert "AttributeError" in text
    assert "for reader in original.readers" in text


@pytest.mark.parametrize(
    ("task_id", "given", "says"),
    [
        ("1.1", {}, ("of type dict, and cannot be called", "without parentheses")),
        ("3.1", None, ("function (or class) that takes (graph, clones)",)),
        ("1.1", lambda graph, memory: None, ("it takes (graph, memory)", "must take (graph)")),
        ("3.1", lambda graph: None, ("must take (graph, clones)",)),
        ("1.5", {}, ("what you give is a dict", "the name of the file llm_mlp.dot", "in quotes")),
        ("1.1", lambda graph: [], ("what you return is a list", "a dict from node to Kind")),
        ("1.4", lambda graph: None, ("what you return is None", "Peak(nbytes, node, by_kind)")),
    ],
    ids=["result", "nothing", "too many", "too few", "no file", "no dict", "no peak"],
)
def test_what_cannot_be_asked_is_told_in_words(
    task_id: str, given: Any, says: tuple[str, ...]
) -> None:
    text = str(verdict_on(task_id, given))
    assert "The message names the node" not in text
    assert "a result" not in text
    for words in says:
        assert words in text


def test_a_profiler_that_is_made_already() -> None:
    profiler = functions()["GraphProfiler"](open_graph())
    text = str(verdict_on("1.3", profiler))
    assert "of type GraphProfiler, and cannot be called" in text
    assert "(or class) itself" in text


def test_one_more_graph_is_one() -> None:
    found = (Finding("yours", "wanted", "look"),)
    text = str(
        Verdict(
            LAB.task_called("1.1"), tuple((name, found) for name in ("first", "second")), "graph"
        )
    )
    assert text.startswith("Task 1.1  first (and on 1 more graph)\n")


@pytest.mark.parametrize(
    ("task_id", "function", "told", "says"),
    [
        ("5.1", "candidates", lambda found: {n.name: size for n, size in found.items()}, "is text"),
        ("5.2", "rebuild", tuple, "Return Rebuild(sources, path), not tuple"),
        ("5.2", "rebuild", lambda r: r._replace(path=[n.name for n in r.path]), "is text"),
        ("5.5", "simulate", tuple, "Return Simulated(nbytes, node), not tuple"),
        ("5.5", "simulate", lambda found: found._replace(node=found.node.name), "node is text"),
        ("5.6", "choose", tuple, "Return Plan(drop, nbytes), not tuple"),
        ("5.6", "choose", lambda p: p._replace(drop=[n.name for n in p.drop]), "is text"),
    ],
)
def test_the_project_wants_nodes_and_records_too(
    task_id: str, function: str, told: Any, says: str
) -> None:
    own = functions(lab="project")[function]
    with pytest.raises(CheckFailed, match=re.escape(says)):
        project.check(task_id, lambda *arguments: told(own(*arguments)))


def test_a_step_that_does_not_end_is_done_for_the_student(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A loop without end in task 2.1 costs neither 4.2 nor the steps after it."""
    loop = "    while True:\n        pass\n    visit(target)\n    return order\n"
    space = functions({"recompute_set": ("    visit(target)\n    return order\n", loop)})
    monkeypatch.setattr(assembly, "PATIENCE", 0.5)
    steps = ("inject_recomputation", "rewire_backward", "add_control_dependencies")
    graph = assembly.assemble(*(space[name] for name in steps))
    assert any(map(control_dependencies, graph.nodes))
    told = capsys.readouterr().out
    assert "no result after 0.5 seconds" in told
    assert "Task 3.1: yours." in told
    assert "Task 4.1: yours." in told
