"""Mutants made by machine: each differs from the text, and can be read."""

from __future__ import annotations

import ast

import pytest

from lab_utils.kit.lab import lab_called
from tests.benchmarks.bench_mutants import caught, solution_lines, source_of
from tests.support.mutants import Mutant, mutants_of

TEXT = """
def solve(graph):
    ### BEGIN SOLUTION
    found: list[int] = []
    for node in graph:
        if node > 0 and any(node.users):
            found.append(list(node.next)[0])
    return found
    ### END SOLUTION
"""


def test_each_mutant_is_another_text_that_can_be_read() -> None:
    mutants = list(mutants_of(TEXT, solution_lines(TEXT)))
    texts = {mutant.text for mutant in mutants}
    assert len(texts) == len(mutants) > 12
    assert ast.unparse(ast.parse(TEXT)) not in texts
    for mutant in mutants:
        ast.parse(mutant.text)


@pytest.mark.parametrize(
    "line",
    [
        "if node > 0 or any(node.users):",
        "if node > 0 and all(node.users):",
        "if node >= 0 and any(node.users):",
        "if False:",
        "for node in reversed(list(graph)):",
        "found.append(node.next[0])",
        "found.append(list(node.prev)[0])",
        "found.append(list(node.next)[1])",
        "return None",
    ],
)
def test_the_usual_slips_are_among_them(line: str) -> None:
    assert any(line in mutant.text for mutant in mutants_of(TEXT, solution_lines(TEXT)))


def test_types_and_what_is_given_are_left_alone() -> None:
    given = "def f(x: int | None = 3):\n    y = 1\n    ### BEGIN SOLUTION\n    return x\n"
    told = [mutant.change for mutant in mutants_of(given, solution_lines(given))]
    assert told == ["nothing is returned"]


def test_a_mutant_goes_through_the_judge() -> None:
    lab = lab_called("lab4a")
    source, task = source_of(lab), lab.task_called("2.1")
    own = source.cells[task.asks]
    assert not caught(source, task, Mutant(own, 0, "none"), 60)
    wrong = own.replace("return order", "return order[:-1]")
    assert caught(source, task, Mutant(wrong, 0, "the target is left out"), 60)
