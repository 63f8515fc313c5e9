"""Collecting a class: which notebook is which, and are all its cells there?"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.notebooknode import NotebookNode

from autograder.collect.notebook import read_cells
from autograder.collect.records import MB, Bounds, RemarkKind
from autograder.collect.released import Released, read_released
from autograder.collect.repair import repair
from autograder.remark import Remark
from lab_utils.kit.root import ROOT
from tests.support.collect_class import (
    ANSWERS,
    FIRST,
    NOTEBOOKS,
    SECOND,
    Files,
    Take,
    as_bytes,
    as_saved,
    check,
    find,
    graded,
    kinds,
    names_in,
    only,
    order,
    sources,
    text_of,
    zip_of,
)
from tests.support.collect_damage import damaged
from tests.support.sample_course import LAB, as_colab, as_vscode, fill

pytest_plugins = ["tests.support.collect_fixtures"]


# ---------------------------------------------------------------- which notebook is which?


@pytest.mark.parametrize(
    "name",
    [
        f"Copy of {FIRST}.ipynb",
        f"{FIRST} (1).ipynb",
        f"{FIRST}-solution.ipynb",
        f"{FIRST}_final_v2.ipynb",
        f"{FIRST}-Copy1.ipynb",
        f"{FIRST}.ipynb.txt",
        f"{FIRST.upper()}.IPYNB",
        "my homework.ipynb",
        f"{SECOND} (1).ipynb",
    ],
)
def test_a_renamed_notebook_is_known_by_what_is_in_it(take: Take, good: Files, name: str) -> None:
    files = {name: good[f"{FIRST}.ipynb"], f"{SECOND}.ipynb": good[f"{SECOND}.ipynb"]}
    row = only(take({"Jane Doe.zip": zip_of(files)}))
    assert names_in(row) == {f"{FIRST}.ipynb", f"{SECOND}.ipynb"}
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]
    wanted = [] if name.startswith(f"{FIRST}.") else [RemarkKind.RENAMED_FILE]
    assert kinds(row) == wanted


def test_notebooks_whose_names_were_swapped_are_swapped_back(take: Take, good: Files) -> None:
    first, second = f"{FIRST}.ipynb", f"{SECOND}.ipynb"
    row = only(take({"Jane Doe.zip": zip_of({first: good[second], second: good[first]})}))
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]
    assert graded(row, SECOND)["t22"] == ANSWERS["t22"]
    assert kinds(row) == [RemarkKind.RENAMED_FILE]


@pytest.mark.parametrize("name", [f"Copy of {FIRST} (2).ipynb", "01-frist.ipynb"])
def test_a_notebook_with_nothing_familiar_is_known_by_its_name(take: Take, name: str) -> None:
    cell = nbformat.v4.new_code_cell(ANSWERS["t11"])
    row = only(take({"Jane Doe.zip": zip_of({name: nbformat.v4.new_notebook(cells=[cell])})}))
    assert names_in(row) == {f"{FIRST}.ipynb"}
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]


def test_missing_and_extra_notebooks_are_told_and_the_rest_is_graded(
    take: Take, good: Files
) -> None:
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")])
    files = {"scratch.ipynb": as_bytes(other), f"{SECOND}.ipynb": good[f"{SECOND}.ipynb"]}
    row = only(take({"Jane Doe.zip": zip_of(files)}))
    assert names_in(row) == {f"{SECOND}.ipynb"}
    assert "scratch.ipynb" in text_of(row, RemarkKind.EXTRA_NOTEBOOK)
    assert FIRST in text_of(row, RemarkKind.MISSING_NOTEBOOK)
    assert len(row.remarks) == 2


@pytest.mark.parametrize(
    "name", ["memory.csv", "Memory.CSV", "memory (1).csv", "data/memory-2.csv", "memory.csv.txt"]
)
def test_a_table_that_the_lab_asks_for_comes_along(take: Take, good: Files, name: str) -> None:
    files = {**good, name: b"model,batch\n", "analysis BERT.csv": b"not asked for"}
    row = only(take({"Jane Doe.zip": zip_of(files)}))
    assert names_in(row) == {*good, "memory.csv"}
    assert row.folder
    assert (row.folder / "memory.csv").read_bytes() == b"model,batch\n"
    assert "analysis BERT.csv" in text_of(row, RemarkKind.EXTRA_FILES)


def test_loose_tables_belong_to_their_notebooks_and_the_class_list_to_nobody(
    take: Take, good: Files
) -> None:
    files = {f"doejane_12_{at}_{name}": data for at, (name, data) in enumerate(good.items(), 30)}
    files["doejane_12_44_memory-1.csv"] = b"model,batch\n"
    row = only(take({**files, "students.csv": b"id,first_name,last_name\n"}))
    assert names_in(row) == {*good, "memory.csv"}


def test_of_two_notebooks_the_one_with_work_in_it_counts(
    take: Take, good: Files, course: Path
) -> None:
    blank = (course / "notebooks" / LAB / f"{FIRST}.ipynb").read_bytes()
    files = {**good, f"{FIRST}.ipynb": blank, f"done/{FIRST}-solved.ipynb": good[f"{FIRST}.ipynb"]}
    row = only(take({"Jane Doe.zip": zip_of(files)}))
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]
    assert f"done/{FIRST}-solved.ipynb counts" in text_of(row, RemarkKind.DUPLICATED_FILE)


def test_what_is_as_released_is_told(take: Take, course: Path) -> None:
    blank = {p.name: p.read_bytes() for p in (course / "notebooks" / LAB).glob("*.ipynb")}
    row = only(take({"Jane Doe.zip": zip_of(blank)}))
    assert kinds(row) == [RemarkKind.NOT_FILLED_IN] * len(NOTEBOOKS)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\0\xff\xfe garbage", "is not a notebook"),
        (b"[1, 2]", "is not a notebook"),
        (b'"text"', "is not a notebook"),
        (b'{"cells": 3}', "has no cells"),
        (b'{"cells": [1, null, "x"]}', "has no cells"),
        (b'{"worksheets": [{"cells": 1}, 2]}', "has no cells"),
        (b'{\n<<<<<<< HEAD\n "cells": []\n}', "git conflict"),
        (b"[" * 100_000, "nested without end"),
        (b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested without end"),
        (json.dumps({"cells": [{}] * 3000}).encode(), "3,000 cells"),
        (b'{"cells": [' + b"[]," * 600_000 + b"1]}", "too big"),
        (json.dumps({"cells": [{"source": "x" * 6 * MB}]}).encode(), "5 MB of text"),
        (b'{"cells": [{"source": 1e999999, "metadata": ' + b"9" * 9999 + b"}]}", "not a notebook"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_notebook_costs_that_notebook_alone(
    take: Take, good: Files, data: bytes, words: str
) -> None:
    row = only(take({"Jane Doe.zip": zip_of({**good, f"{FIRST}.ipynb": data})}))
    text = text_of(row, RemarkKind.BROKEN_NOTEBOOK)
    assert text.startswith(f"Cannot be graded: {FIRST}.ipynb ")
    assert words in text
    assert names_in(row) == set(good) - {f"{FIRST}.ipynb"}


def test_enormous_outputs_are_dropped_and_the_work_is_graded(
    take: Take, good: Files, solved: dict[str, NotebookNode]
) -> None:
    line, lines = deepcopy(solved[FIRST]), deepcopy(solved[SECOND])
    line.cells[find(line.cells, "t11")].outputs = [
        nbformat.v4.new_output("stream", text='a,[{"\\' * 3 * MB)
    ]
    lines.cells[find(lines.cells, "t22")].outputs = [
        nbformat.v4.new_output("stream", text="a line\n" * 2 * MB)
    ]
    files = {f"{FIRST}.ipynb": as_json(line), f"{SECOND}.ipynb": as_json(lines)}
    row = only(take({"Jane Doe.zip": zip_of({**good, **files})}))
    assert text_of(row, RemarkKind.OUTPUTS_DROPPED).endswith(f"{FIRST} and {SECOND}.")
    assert len(row.remarks) == 1
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]
    assert row.folder is not None
    assert max(path.stat().st_size for path in row.folder.iterdir()) < MB


def as_json(notebook: NotebookNode) -> bytes:
    """As front ends write it: each line of an output is a text of its own."""
    return json.dumps(nbformat.v4.rwbase.split_lines(deepcopy(notebook))).encode()


def as_format_3(notebook: NotebookNode) -> bytes:
    """The notebook in the format that IPython 2 wrote."""
    return nbformat.writes(deepcopy(notebook), version=3).encode()


@pytest.mark.parametrize(
    "save",
    [
        lambda notebook: as_bytes(as_colab(notebook)),
        lambda notebook: as_bytes(as_vscode(notebook)),
        as_format_3,
        lambda notebook: as_bytes(notebook).decode().encode("utf-16"),
        lambda notebook: b"\xef\xbb\xbf" + as_bytes(notebook),
        lambda notebook: as_bytes(notebook).replace(b"\\n", b"\\r\\n"),
    ],
    ids=["Colab", "VS Code", "format 3", "UTF-16", "byte order mark", "Windows"],
)
def test_every_dialect_is_read(
    take: Take, solved: dict[str, NotebookNode], save: Callable[[NotebookNode], bytes]
) -> None:
    row = only(take({"Jane Doe.zip": zip_of({f"{n}.ipynb": save(solved[n]) for n in NOTEBOOKS})}))
    assert row.remarks == ()
    for name in NOTEBOOKS:
        mine = {key: text.replace("\r", "") for key, text in graded(row, name).items()}
        assert mine == sources(solved[name])


def test_half_a_surrogate_pair_can_be_written(released: dict[str, Released]) -> None:
    data = rb'{"cells": [{"cell_type": "code", "source": ["x = \"\ud800\""]}]}'
    notebook, _ = repair(read_cells(data, Bounds()), released[FIRST])
    nbformat.writes(notebook).encode()


def test_pasted_pictures_stay_and_other_attachments_go(
    take: Take, solved: dict[str, NotebookNode]
) -> None:
    answer = deepcopy(solved[FIRST])
    cell = answer.cells[find(answer.cells, "q1")]
    picture = {"image/png": "aGk="}
    cell.attachments = {"p.png": {**picture, "text/html": "<script>"}, "x.js": {"text/html": "x"}}
    row = only(take({"Jane Doe.zip": zip_of({f"{FIRST}.ipynb": answer})}))
    assert row.folder is not None
    found = nbformat.read(row.folder / f"{FIRST}.ipynb", as_version=nbformat.NO_CONVERT)
    assert found.cells[find(found.cells, "q1")].attachments == {"p.png": picture}


# ---------------------------------------------------------------- mending cells


Mended = tuple[NotebookNode, tuple[Remark, ...]]


def mend(notebook: NotebookNode, released: Released) -> Mended:
    """Save, read and repair; the result is sound and has every marked cell once, as released."""
    result, remarks = repair(read_cells(as_saved(notebook), Bounds()), released)
    check(result)
    wanted = {released.marked[at]: released.cells[at] for at in released.marked}
    found = [cell for cell in result.cells if "nbgrader" in cell.metadata]
    assert Counter(cell.metadata.nbgrader.grade_id for cell in found) == Counter(wanted.keys())
    for cell in found:
        origin = wanted[cell.metadata.nbgrader.grade_id]
        assert cell.metadata == origin.metadata
        assert cell.cell_type == origin.cell_type
        assert origin.metadata.nbgrader.solution or cell.source == origin.source
    assert all(remark.text.isprintable() for remark in remarks)
    return result, remarks


def told(remarks: tuple[Remark, ...], kind: RemarkKind, *grade_ids: str) -> bool:
    """Whether there is one remark of this kind, and it names these cells."""
    (text,) = [remark.text for remark in remarks if remark.kind == kind]
    return all(re.search(rf"\b{grade_id}\b", text) for grade_id in grade_ids)


def test_a_sound_notebook_is_left_alone(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    for name in NOTEBOOKS:
        result, remarks = mend(solved[name], released[name])
        assert remarks == ()
        assert result == solved[name]


def test_of_copied_solutions_the_last_with_work_in_it_counts(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    at = find(notebook.cells, "t21")
    stub = deepcopy(notebook.cells[at])
    stub.source = released[SECOND].cells[at].source
    draft, final = deepcopy(stub), deepcopy(stub)
    draft.source = "def smallest(numbers):\n    return 'a draft'"
    final.source = "def smallest(numbers):\n    return 'the last'"
    notebook.cells[at : at + 1] = [stub, draft, final, deepcopy(stub)]
    result, remarks = mend(notebook, released[SECOND])
    assert sources(result)["t21"] == final.source
    assert kinds(remarks) == [RemarkKind.DUPLICATED_CELL]
    assert told(remarks, RemarkKind.DUPLICATED_CELL, "t21")
    texts = [cell.source for cell in result.cells]
    assert stub.source not in texts, "an empty copy would undo the solution"
    assert texts.index(draft.source) < texts.index(final.source)


def test_a_solution_after_its_test_is_tested_all_the_same(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    notebook.cells.append(notebook.cells.pop(find(notebook.cells, "t21")))
    result, remarks = mend(notebook, released[SECOND])
    assert order(result).index("t21") < order(result).index("t21_test")
    assert order(result).index("t22") < order(result).index("t22_test")
    assert kinds(remarks) == [RemarkKind.MOVED]


def test_a_copied_test_is_run_once_and_its_edits_do_not_count(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    at = find(notebook.cells, "t21_test")
    copy = deepcopy(notebook.cells[at])
    notebook.cells[at].source = "assert True"
    notebook.cells.append(copy)
    result, remarks = mend(notebook, released[SECOND])
    assert order(result) == order(solved[SECOND])
    assert len(result.cells) == len(solved[SECOND].cells)
    assert set(kinds(remarks)) == {RemarkKind.DUPLICATED_CELL, RemarkKind.CHANGED_LOCKED}


def test_deleted_tests_are_put_back_after_the_students_helpers(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    helper = nbformat.v4.new_code_cell("def helper():\n    return 1")
    notebook.cells[find(notebook.cells, "t21_test")] = helper
    del notebook.cells[find(notebook.cells, "t22_test")]
    result, remarks = mend(notebook, released[SECOND])
    assert order(result) == order(solved[SECOND])
    texts = [cell.source for cell in result.cells]
    assert texts.index(helper.source) < find(result.cells, "t21_test")
    assert find(result.cells, "t21_test") < texts.index("## The largest")
    assert kinds(remarks) == [RemarkKind.MISSING_LOCKED]
    assert told(remarks, RemarkKind.MISSING_LOCKED, "t21_test", "t22_test")


def test_a_deleted_solution_becomes_an_empty_one(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    del notebook.cells[find(notebook.cells, "t21")]
    result, remarks = mend(notebook, released[SECOND])
    assert sources(result)["t21"] == ""
    assert sources(result)["t22"] == ANSWERS["t22"]
    assert order(result) == order(solved[SECOND])
    assert kinds(remarks) == [RemarkKind.MISSING_SOLUTION]


def test_two_solutions_in_one_cell_both_stay(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    both = f"{ANSWERS['t21']}\n\n{ANSWERS['t22']}"
    notebook.cells[find(notebook.cells, "t21")].source = both
    del notebook.cells[find(notebook.cells, "t22")]
    result, _ = mend(notebook, released[SECOND])
    assert (sources(result)["t21"], sources(result)["t22"]) == (both, "")


def test_flags_and_points_are_set_right(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    test = notebook.cells[find(notebook.cells, "t21_test")].metadata.nbgrader
    test.update(points=1000, locked=False, extra="x", schema_version="old")
    solution = notebook.cells[find(notebook.cells, "t22")].metadata.nbgrader
    solution.update(solution=False, locked=True, grade=[1])
    notebook.cells[0].metadata["nbgrader"] = {"grade": True, "grade_id": "free_points", "points": 9}
    notebook.cells[1].metadata["tags"] = ["skip-execution"]
    result, remarks = mend(notebook, released[SECOND])
    assert result == solved[SECOND]
    assert kinds(remarks) == [RemarkKind.CHANGED_MARKS]
    assert told(remarks, RemarkKind.CHANGED_MARKS, "t21_test", "t22")


@pytest.mark.parametrize("cell_type", ["markdown", "raw"])
def test_retyped_cells_are_set_right(
    solved: dict[str, NotebookNode], released: dict[str, Released], cell_type: str
) -> None:
    notebook = deepcopy(solved[FIRST])
    for cell in notebook.cells:
        cell.cell_type = cell_type if cell.cell_type == "code" else "code"
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
    result, remarks = repair(read_cells(as_saved(notebook), Bounds()), released[FIRST])
    check(result)
    assert sources(result) == sources(solved[FIRST])
    assert kinds(remarks) == [RemarkKind.RETYPED]
    types = {cell.id: cell.cell_type for cell in solved[FIRST].cells if "nbgrader" in cell.metadata}
    assert types.items() <= {cell.id: cell.cell_type for cell in result.cells}.items()


def test_cells_without_metadata_are_known_by_their_text(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    for name in NOTEBOOKS:
        notebook = deepcopy(solved[name])
        for cell in notebook.cells:
            cell.metadata.clear()
        result, remarks = mend(notebook, released[name])
        assert result == solved[name]
        assert kinds(remarks) == [RemarkKind.RECOGNISED]


def test_renamed_cells_are_known_by_their_text(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    for grade_id, other in (("t21", "mine"), ("t22", "t21"), ("t22_test", "t22")):
        notebook.cells[find(notebook.cells, grade_id)].metadata.nbgrader.grade_id = other
    result, remarks = mend(notebook, released[SECOND])
    assert result == solved[SECOND]
    assert told(remarks, RemarkKind.RECOGNISED, "t21", "t22", "t22_test")


def test_a_solution_of_which_no_word_is_left_is_known_by_its_place(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[FIRST])
    cell = notebook.cells[find(notebook.cells, "q1")]
    cell.metadata.clear()
    result, remarks = mend(notebook, released[FIRST])
    assert sources(result)["q1"] == ANSWERS["q1"]
    assert told(remarks, RemarkKind.RECOGNISED, "q1")


@given(st.data())
@settings(max_examples=100)
def test_whatever_happens_to_cells_all_are_there_once_and_untouched_solutions_stay(
    solved: dict[str, NotebookNode], released: dict[str, Released], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(NOTEBOOKS))
    notebook, untouched = data.draw(damaged(solved[name]))
    result, _ = repair(read_cells(as_saved(notebook), Bounds()), released[name])
    check(result)
    found = [cell for cell in result.cells if "nbgrader" in cell.metadata]
    assert Counter(order(result)) == Counter(released[name].marked.values())
    originals = {cell.id: cell for cell in released[name].cells}
    for cell in found:
        origin = originals[cell.id]
        assert (cell.metadata, cell.cell_type) == (origin.metadata, origin.cell_type)
        assert origin.metadata.nbgrader.solution or cell.source == origin.source
    mine = sources(solved[name])
    assert {key: sources(result)[key] for key in untouched} == {key: mine[key] for key in untouched}
    # Mending is done once: a mended notebook is sound.
    again, more = repair(read_cells(as_bytes(result), Bounds()), released[name])
    assert again == result
    assert set(kinds(more)) <= {RemarkKind.NOT_FILLED_IN}


LAB4A = sorted((ROOT / "notebooks" / "lab4a").glob("*.ipynb"))


@pytest.mark.parametrize("path", LAB4A, ids=lambda path: path.stem)
def test_solved_lab_4a_survives_a_tool_that_strips_everything(path: Path) -> None:
    origin = read_released(path)
    ours = sources(nbformat.read(ROOT / "solutions" / "lab4a" / path.name, as_version=4))
    wanted = {origin.marked[at]: ours[origin.marked[at]] for at in origin.names}
    mine = fill(origin.notebook, wanted)
    stripped = deepcopy(mine)
    for cell in stripped.cells:
        cell.metadata.clear()
    for notebook in (mine, stripped, as_colab(mine), as_vscode(stripped)):
        result, _ = mend(notebook, origin)
        assert sources(result).items() >= wanted.items()
        assert [cell.id for cell in result.cells] == [cell.id for cell in mine.cells]
