"""A file that shows a mistake of another task: what that task has cost, the file does not."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from autograder.grading.judge.ruling import Ruling
from autograder.grading.verdict import CaseVerdict
from autograder.labs.lab4a.against_reference import compared
from lab_utils.kit.root import ROOT
from lab_utils.kit.task import Finding
from lab_utils.labs.graphs.nodes import is_clone
from lab_utils.labs.lab4a import open_graph, public_cases
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.dot.write import write_dot
from tests.labs.lab4a.mistakes import Pair, what_the_reader_reads
from tests.support.judged import verdict_of

REFERENCE = (ROOT / "autograder" / "reference" / "llm_mlp_ar.dot").read_text(encoding="utf-8")


def _case(*belongs: str) -> list[CaseVerdict]:
    findings = tuple(Finding("yours", "wanted", "look", of) for of in belongs)
    return [CaseVerdict("the file to hand in", False, findings)]


@pytest.mark.parametrize(
    ("paid", "belongs", "forgiven"),
    [
        ({"4.1"}, ("4.1",), True),
        ({"4.1"}, ("4.1", "2.2"), False),
        ({"2.2", "4.1"}, ("4.1", "2.2"), True),
        (set(), ("4.1",), False),
        ({"4.1"}, ("",), False),
        ({"4.1"}, (), False),
        ({"4.1"}, ("2.2 4.1",), True),
        ({"1.1"}, ("2.2 4.1",), False),
    ],
)
def test_only_what_has_been_paid_for_is_forgiven(
    paid: set[str], belongs: tuple[str, ...], forgiven: bool
) -> None:
    ruling = Ruling(None, None, None)  # type: ignore[arg-type]
    ruling.charge(paid, in_public=False)
    cases, note = ruling._forgiven(_case(*belongs))
    assert all(case.passed for case in cases) == (forgiven or not belongs)
    assert ("Paid for in task" in note) == forgiven


@pytest.mark.parametrize("failed", [True, False])
def test_who_passes_a_public_case_has_not_paid_for_what_it_shows(failed: bool) -> None:
    """Say, for clones that do not wait in a file that is made by a function that passed on it."""
    ruling = Ruling(None, None, None)  # type: ignore[arg-type]
    ruling.charge(["4.1"], in_public=failed)
    finding = Finding("yours", "wanted", "look", "4.1", in_public=True)
    cases, _ = ruling._forgiven([CaseVerdict("the file to hand in", False, (finding,))])
    assert all(case.passed for case in cases) == failed


def test_a_file_whose_clones_do_not_wait_saves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "llm_mlp_ar.dot"
    write_dot(open_graph("llm_mlp.rewired"), file)
    verdict = verdict_of("lab4a", "4.2", file, public_cases("4.2"))
    (_, findings), *_ = verdict.found
    assert {one.belongs for one in findings} == {"4.1"}
    assert "This is task 4.1" in str(verdict)


def test_differences_from_the_reference_are_told_by_task() -> None:
    assert "the same graph" in compared("4.2", {"text": REFERENCE})
    unguarded = write_dot(open_graph("llm_mlp.rewired"))
    told = compared("4.2", {"text": unguarded})
    assert "task 4.1" in told
    assert "task 3.1" not in told
    injected = write_dot(open_graph("llm_mlp.injected"))
    assert "task 3.1" in compared("4.2", {"text": injected})
    assert compared("1.5", {"text": REFERENCE}) == ""


def test_another_right_wait_is_no_difference_from_the_reference() -> None:
    """Each clone waits for the gradient that its own reader reads."""
    graph = read_dot(REFERENCE)
    clones = {node: node for node in graph.nodes if is_clone(node)}
    what_the_reader_reads(Pair(graph, graph, clones), random.Random(0))
    told = compared("4.2", {"text": write_dot(graph)})
    assert "which is right as well" in told
    assert "task" not in told
