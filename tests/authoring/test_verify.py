"""The build refuses a lab that does not fit together, and says where and what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.authoring.build import build
from autograder.authoring.verify import (
    CheckCell,
    check_cells,
    hidden_in_release,
    problems,
    problems_of,
    trial,
)
from autograder.cli import main
from autograder.grading.hidden import Hidden, hidden_of
from autograder.release.hidden_values import hidden_values_in
from lab_utils.kit.course import read_course
from lab_utils.kit.lab import Lab
from lab_utils.kit.root import ROOT
from lab_utils.kit.task import Case, Task
from lab_utils.labs.lab0 import LAB
from tests.support.sample_course import copy_course, write

SOURCE = "solutions/lab0/01_first_steps.py"
INIT = "lab_utils/labs/lab0/__init__.py"
HIDDEN = hidden_of("lab0")
CELLS = tuple(check_cells(ROOT, SOURCE, "lab0"))
FIRST, SECOND = CELLS
TASK = Task("1.3", "another one", 1, "another", "x")


def line_of(text: str, file: str = SOURCE) -> int:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    (number,) = [number for number, line in enumerate(lines, 1) if text in line]
    return number


def test_all_labs_of_the_course_fit_together() -> None:
    assert problems(read_course().labs) == []


def test_cells_know_their_lines() -> None:
    assert [(cell.task, cell.points) for cell in CELLS] == [("1.1", 0.5), ("1.2", 0.25)]
    assert FIRST.where == f"{SOURCE}:{line_of('test=t11_check')}"


def damaged() -> Iterator[tuple[str, Lab, Hidden | None, tuple[CheckCell, ...], str, str]]:
    """What is wrong, the lab with it, and where and in which words that is told."""
    one = LAB.tasks[0]
    first = f"{INIT}:{line_of(chr(34) + '1.1' + chr(34), INIT)}"
    other = replace(FIRST, task="7.7")
    yield (
        "no such task",
        LAB,
        HIDDEN,
        (other, *CELLS),
        FIRST.where,
        "no such task (there is 1.1, 1.2)",
    )
    worth = replace(FIRST, points=2)
    yield "points", LAB, HIDDEN, (worth, SECOND), FIRST.where, "points=2, but"
    wrong = replace(FIRST, source='check("1.2", tensor_bytes)')
    yield (
        "another check",
        LAB,
        HIDDEN,
        (wrong, SECOND),
        FIRST.where,
        'write check("1.1", tensor_bytes)',
    )
    wrong = replace(SECOND, source='check("1.2", bytes.csv)')
    yield "no quotes", LAB, HIDDEN, (FIRST, wrong), SECOND.where, 'write check("1.2", "bytes.csv")'
    yield "twice", LAB, HIDDEN, (*CELLS, FIRST), FIRST.where, "checked in solutions/lab0"
    yield "not checked", LAB, HIDDEN, (SECOND,), first, "no notebook checks task 1.1"
    more = replace(LAB, tasks=(*LAB.tasks, TASK))
    yield "not asked", more, HIDDEN, CELLS, "lab_utils/labs/lab0/ask", "ASK has no '1.3'"
    yield "not judged", more, HIDDEN, CELLS, "lab_utils/labs/lab0/judge", "JUDGE has no '1.3'"
    yield "no public case", more, HIDDEN, CELLS, INIT, "task 1.3 has no public case"
    yield "no hidden side", LAB, None, CELLS, first, "task 1.1 has no hidden case"
    yield "no hidden case", LAB, Hidden("lab0"), CELLS, first, "autograder/labs/lab0/build.py"
    public = {"1.1": [Case("a copy", LAB.public_cases("1.1")[0].given)]}
    yield (
        "hidden and public",
        LAB,
        Hidden("lab0", more=public),
        CELLS,
        first,
        "'a copy' of task 1.1",
    )
    yield (
        "no file",
        replace(LAB, files=()),
        HIDDEN,
        CELLS,
        INIT,
        'add HandedIn("bytes.csv") to files',
    )
    assert one.id == "1.1"


@pytest.mark.parametrize("case", list(damaged()), ids=lambda case: case[0])
def test_what_does_not_fit_is_told(case: Any) -> None:
    _, lab, hidden, cells, where, words = case
    found = list(problems_of(lab, hidden, cells))
    assert any(line.startswith(where) and words in line for line in found), found


def test_a_file_needs_no_hidden_case() -> None:
    assert not [line for line in problems_of(LAB, None, CELLS) if "1.2" in line]


def test_what_fits_is_not_told() -> None:
    assert list(problems_of(LAB, HIDDEN, CELLS)) == []


def test_a_check_without_a_lab(tmp_path: Path) -> None:
    course = copy_course(tmp_path)
    shutil.copytree(course / "solutions" / "lab0", course / "solutions" / "lab9")
    entry = '\n[labs.lab9]\ntitle = "x"\nlabel = "x"\n'
    entry += 'notebooks = [{ name = "01_first_steps", points = 1 }]\n'
    with (course / "setup" / "course.toml").open("a") as file:
        file.write(entry)
    (found,) = problems(["lab9"], course)
    assert found.startswith(f"solutions/lab9/01_first_steps.py:{FIRST.line}: check=1.1, but")
    assert "lab_utils/labs/lab9 is not there" in found


SECRETS = {
    "a list": "SHAPE = [96, 4, 12288, 49152]",
    "a tuple of another style": "shape = (96,4,\n    12_288, 49_152)",
    "a large number": "it takes 463856467968 bytes",
}


@pytest.mark.parametrize("text", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("name", ["notebooks/lab0/a.ipynb", "lab_utils/a.py", "lab_utils/a.json"])
def test_a_hidden_value_in_a_release_is_found(name: str, text: str) -> None:
    content = text if name.endswith(".py") else json.dumps({"cells": [{"source": text}]})
    (found,) = hidden_values_in({name: content.encode()}, ROOT)
    assert found.startswith(f"{name}: has a value of hidden_cases.json (lab0): ")


def test_what_is_public_or_small_is_no_secret() -> None:
    innocent = "SHAPES = [(7, 9), (2, 3), (), (5, 0, 3)]\nsizes = 63, 1054, 4000000000000000\n"
    assert not list(hidden_values_in({"lab_utils/a.py": innocent.encode()}, ROOT))


def test_the_build_looks_for_hidden_values() -> None:
    book = json.dumps({"cells": [{"source": SECRETS["a list"]}]}).encode()
    (found,) = hidden_in_release({"notebooks/lab0/a.ipynb": book, "solutions/lab0/a.ipynb": book})
    assert found.startswith("notebooks/lab0/a.ipynb: ")
    assert "must not see" in found


def test_a_lab_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "lab99"]) == 2
    assert "there is no lab 'lab99'" in capsys.readouterr().err


def test_a_solution_that_fails_and_an_empty_notebook_that_passes(tmp_path: Path) -> None:
    """Graded as a class is: on hidden cases too, and with the file that the notebook writes."""
    course = copy_course(tmp_path)
    text = (course / SOURCE).read_text(encoding="utf-8")
    assert "8 if dtype" in text
    write(course / SOURCE, text.replace('8 if dtype == "bool"', '1 if dtype == "bool"'))
    build(course)
    path = course / "notebooks" / "lab0" / "01_first_steps.ipynb"
    book = nbformat.read(path, as_version=4)
    (cell,) = [c for c in book.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "t12"]
    cell.source = (
        'with open("bytes.csv", "w") as file:\n    print("tensor,bytes", file=file)\n'
        "    for name, array in tiny_model().items():\n"
        '        print(name, array.nbytes, sep=",", file=file)\n'
    )
    nbformat.write(book, path)
    fails, passes = trial("lab0", course)
    assert fails.startswith(f"{FIRST.where}: our solution gets 0 of 0.5 points for task 1.1")
    assert "hidden: a single number, and a mask" in fails
    assert "A bool takes a whole byte" in fails
    assert passes.startswith(f"{SECOND.where}: task 1.2 passes on the file to hand in before")
