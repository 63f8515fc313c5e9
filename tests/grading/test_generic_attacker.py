"""No point for the generic attacker, in any lab; and nothing in a kit that answers its tasks."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.grading.grader import Grader
from autograder.grading.hidden import hidden_of
from autograder.grading.plan import read_plan
from autograder.grading.sandbox import Code, Isolation, Job, Limits, Notebook
from autograder.grading.sandbox.host.cut import all_of
from autograder.grading.submission import Submission
from lab_utils.kit.ask import attempt
from lab_utils.kit.course import read_course
from lab_utils.kit.lab import lab_called
from lab_utils.kit.root import ROOT
from lab_utils.kit.task import Case
from tests.grading.attacks import generic

pytestmark = [pytest.mark.xdist_group("sandboxes"), pytest.mark.slow, pytest.mark.needs_bwrap]

LABS = [lab for lab in read_course().labs if hidden_of(lab).cases]
_LONGEST = 200_000  # characters of an answer that are worth looking for


@cache
def right_functions(lab: str) -> dict[str, Any]:
    """What the solution defines: its cells, and the imports of all others."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for path in sorted((ROOT / "solutions" / lab).glob("*.ipynb")):
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type != "code" or cell.source.lstrip().startswith(("%", "!")):
                continue
            is_solution = cell.metadata.get("nbgrader", {}).get("solution")
            for node in ast.parse(cell.source).body:
                if is_solution or isinstance(node, (ast.Import, ast.ImportFrom)):
                    with suppress(Exception):  # a line that uses what an earlier cell makes
                        exec(compile(ast.Module([node], []), "<cell>", "exec"), space)
    return space


def telling_cases(cases: Sequence[Case]) -> list[Case]:
    """The smallest, which soon tells what is no answer, and the first two; small ones first."""
    by_size = sorted(cases, key=lambda case: len(json.dumps(case.given)))
    return [case for case in by_size if case in (by_size[0], *cases[:2])]


def known_answers(lab: str, tasks: set[str]) -> list[Any]:
    """What anybody can find out at home: public cases with their right answers."""
    space, known = right_functions(lab), []
    for task in lab_called(lab).tasks:
        if task.id not in tasks or task.is_of_file:
            continue
        ask, pairs = lab_called(lab).ask(task.id), []
        for case in telling_cases(lab_called(lab).public_cases(task.id)):
            reply = attempt(task, ask, space[task.asks], case.given)
            if len(json.dumps([case.given, reply])) < _LONGEST:
                pairs.append((dict(case.given), reply["answer"]))
        if pairs:
            known.append((lab, task.id, task.asks, pairs))
    return known


def test_the_generic_attacker_finds_what_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lab = LABS[0]
    (known, *_) = known_answers(lab, {task.id for task in lab_called(lab).tasks})
    solver = right_functions(lab)[known[2]]
    monkeypatch.setattr(solver, "__module__", "lab_utils.kit.words")
    monkeypatch.setattr(import_module("lab_utils.kit.words"), "planted", solver, raising=False)
    space: dict[str, Any] = {}
    exec(generic.cell([known]), space)
    assert "LOOT" in capsys.readouterr().out
    assert space[known[2]].__code__ is solver.__code__


@pytest.mark.parametrize("lab", LABS)
def test_the_generic_attacker_gets_nothing(
    lab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # solutions write files
    plan = read_plan(lab, ROOT / "solutions" / lab)
    books, known = {}, {}
    for part in plan.notebooks:
        tasks = {test.task for test in part.tests.values() if test.lab == lab}
        if answers := known_answers(lab, tasks):
            book = nbformat.read(ROOT / "notebooks" / lab / f"{part.name}.ipynb", as_version=4)
            for cell in book.cells:
                if cell.cell_type == "code":
                    cell.source = "" if "### " not in cell.source else cell.source
            book.cells.append(nbformat.v4.new_code_cell(generic.cell(answers)))
            books[part.name], known[part.name] = book, answers
    assert books
    limits = Limits(cell_seconds=120, notebook_seconds=240, question_seconds=20)
    with Grader(plan, jobs=1, limits=limits) as grader:
        graded = grader.grade(Submission("mallory", books, {}))
    printed = "".join(
        output.get("text", "")
        for cells in graded.cells.values()
        for cell in cells.values()
        for output in cell["outputs"]
    )
    loot = [line for line in printed.splitlines() if "LOOT" in line]
    searched = set(re.findall(r"SEARCHED (\S+)", printed))
    assert searched == {one[1] for many in known.values() for one in many}
    assert {task.id: task.points for task in graded.verdict.tasks if task.points} == {}, loot


@pytest.mark.parametrize("lab", [lab for lab in LABS if hidden_of(lab).peers])
def test_no_installed_package_answers_a_task(lab: str) -> None:
    plan = read_plan(lab, ROOT / "solutions" / lab)
    look = "import os, {0}; print([os.listdir(path) for path in {0}.__path__])"
    cells = [Code(peer, look.format(peer)) for peer in hidden_of(lab).peers]
    with Grader(plan, jobs=1, require=Isolation.NAMESPACES) as grader:
        result = grader.executor.run(Job("mallory", [Notebook(plan.notebooks[0].name, cells)]))
    for cell in result.notebooks[0].cells:
        assert cell.outputs[0]["text"].strip() == "[[]]"


@pytest.mark.parametrize("lab", read_course().labs)
def test_the_kit_beside_a_notebook_knows_neither_right_nor_wrong(lab: str, tmp_path: Path) -> None:
    plan = read_plan(lab, ROOT / "solutions" / lab)
    for part in plan.notebooks:
        tests = [test for test in part.tests.values() if test.task]
        cut = all_of(hidden_of(t.lab).cuts.get(t.task, all_of(())) for t in tests)
        kit = tmp_path / part.name / "lab_utils"
        cut.copy_to(kit)
        names = {path.name for path in kit.rglob("*")}
        assert not names & {"judge", "judge.py", "show", "show.py", "wanted.json"}
        assert (kit / "kit" / "ask.py").is_file()
        for glob in cut.without:
            left = [path for path in kit.glob(glob) if path.is_file()]
            assert not left or cut.stand_ins


def test_what_lab4a_asks_for_is_not_beside_it(tmp_path: Path) -> None:
    cuts = import_module("autograder.labs.lab4a.hidden").HIDDEN.cuts
    for task, gone in {
        "1.1": ("def _set_kinds", "class Recorder"),
        "1.4": ("def live_bytes", "class MemoryLine"),
        "3.1": ("def rewired",),
    }.items():
        kit = tmp_path / task
        cuts[task].copy_to(kit)
        text = "\n".join(path.read_text(encoding="utf-8") for path in kit.rglob("*.py"))
        assert not [words for words in gone if words in text]
