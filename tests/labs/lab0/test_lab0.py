"""Lab 0: numpy, the solution and the cases agree; mistakes are named; torch is never loaded."""

from __future__ import annotations

import csv
import linecache
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.grading.hidden import hidden_of
from autograder.labs.lab0.build import counted, derived_files
from lab_utils.kit.judge import Verdict
from lab_utils.kit.parts import PARTS
from lab_utils.kit.root import ROOT
from lab_utils.kit.task import Case
from lab_utils.labs.lab0 import LAB, tiny_model
from lab_utils.labs.lab0.show import SHOW
from tests.labs.lab0.catalogue import RIGHT, WRONG, Cell
from tests.support.judged import hidden_decide, verdict_of

SOLVED = ROOT / "solutions" / "lab0" / "01_first_steps.ipynb"
SOLUTION = {
    f"{name[1]}.{name[2:]}": cell.source
    for cell in nbformat.read(SOLVED, as_version=4).cells
    if (name := cell.metadata.get("nbgrader", {}).get("grade_id", ""))
    and cell.metadata["nbgrader"]["solution"]
}
DTYPES = ("bool", "int8", "uint8", "int16", "float16", "int32", "float32", "int64", "float64")


def verdict(task: str, code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Verdict:
    """The verdict on a task whose cell holds ``code``."""
    monkeypatch.chdir(folder)
    space: dict[str, Any] = {"csv": csv, "math": math, "tiny_model": tiny_model}
    linecache.cache["<cell>"] = (len(code), None, code.splitlines(keepends=True), "<cell>")
    exec(compile(code, "<cell>", "exec"), space)
    asked = LAB.task_called(task).asks
    return verdict_of("lab0", task, space.get(asked, asked))


@pytest.mark.parametrize("task", LAB.tasks, ids=lambda task: task.id)
def test_the_solution_has_full_marks(
    task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = verdict(task.id, SOLUTION[task.id], tmp_path, monkeypatch)
    assert found.passed, found
    assert found.points == task.points


@pytest.mark.parametrize("cell", WRONG, ids=lambda cell: cell.name)
def test_a_wrong_cell_loses_points_and_is_told_why(
    cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = verdict(cell.task, cell.code, tmp_path, monkeypatch)
    right = [not findings for _, findings in found.found]
    assert hidden_decide(right, len(LAB.public_cases(cell.task))) <= cell.most, found
    for words in cell.says:
        assert words in str(found), found


@pytest.mark.parametrize("cell", RIGHT, ids=lambda cell: cell.name)
def test_a_right_cell_has_full_marks(
    cell: Cell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = verdict(cell.task, cell.code, tmp_path, monkeypatch)
    assert found.passed, found


def test_there_are_enough_of_them() -> None:
    for task in LAB.tasks:
        assert sum(cell.task == task.id for cell in WRONG) >= 3
        assert sum(cell.task == task.id for cell in RIGHT) >= 3


def test_a_mistake_in_the_function_costs_the_file_nothing() -> None:
    assert "tensor_bytes" not in SOLUTION["1.2"]


@given(shape=st.lists(st.integers(0, 5), max_size=4), dtype=st.sampled_from(DTYPES))
def test_numpy_and_the_solution_agree(shape: list[int], dtype: str) -> None:
    space: dict[str, Any] = {"math": math}
    exec(SOLUTION["1.1"], space)
    nbytes = np.empty(shape, dtype).nbytes
    assert counted(tuple(shape), dtype) == nbytes
    assert space["tensor_bytes"](tuple(shape), dtype) == nbytes


def test_hidden_cases_have_the_corners() -> None:
    public = len(LAB.public_cases("1.1"))
    cases = hidden_of("lab0").graded_cases("1.1")[public:]
    hidden = [tensor for case in cases for tensor in case.given[PARTS]]
    shapes = [case["shape"] for case in hidden]
    assert [] in shapes
    assert any(0 in shape for shape in shapes)
    assert {"bool", "float16"} <= {case["dtype"] for case in hidden}
    assert not [case for case in LAB.public_cases("1.1") if case.given in hidden]
    # No bytes of a single truth: because there is no dimension, or since a truth takes no byte?
    assert not [case for case in hidden if not case["shape"] and case["dtype"] == "bool"]


@pytest.mark.parametrize("answer", [24, 192, 6, 0, 5, 3.5, 10**9, -1])
def test_a_picture_shows_yours_and_wanted(answer: float) -> None:
    picture = SHOW["1.1"](LAB.public_cases("1.1")[0], answer)
    assert "yours" in picture.words
    assert "wanted" in picture.words
    assert "24 bytes" in picture.words
    assert "aria-label" in picture.svg


def test_a_square_is_a_byte() -> None:
    picture = SHOW["1.1"](LAB.public_cases("1.1")[0], 24)
    assert picture.html.count("<rect") == 48


@pytest.mark.parametrize("text", ["tensor,bytes\nmask,16384\nattention,1\n", "tensor,bytes\n"])
def test_the_table_is_drawn_row_by_row(text: str) -> None:
    picture = SHOW["1.2"](LAB.public_cases("1.2")[0], {"file": "bytes.csv", "text": text})
    assert "✗ embedding: size yours nothing, wanted 128.00 KB" in picture.words


def test_without_a_file_nothing_is_drawn() -> None:
    case = Case("the file", {}, {"rows": {}})
    assert SHOW["1.2"](case, {"file": "bytes.csv", "text": None}) is None


def test_what_is_derived_is_up_to_date() -> None:
    for path, text in derived_files().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run make notebooks"


def test_nothing_of_it_loads_torch(tmp_path: Path) -> None:
    """Neither its notebook, nor what judges it: it runs where there is no torch."""
    code = f"""
import json, sys
sys.modules["torch"] = None
sys.path.insert(0, {str(ROOT)!r})
for cell in json.load(open({str(SOLVED)!r}))["cells"]:
    if cell["cell_type"] == "code" and "pack_widget" not in "".join(cell["source"]):
        exec("".join(cell["source"]))
import autograder.grading.judge.process
import autograder.labs.lab0.build, autograder.labs.lab0.hidden
import lab_utils.labs.lab0.judge, lab_utils.labs.lab0.show
assert sys.modules["torch"] is None
"""
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    assert "Task 1.1  bytes of a tensor: passed on 4 tensors." in result.stdout
    assert (tmp_path / "bytes.csv").is_file()
