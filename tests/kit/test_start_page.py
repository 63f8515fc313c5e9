"""The start page: what it says of notebooks as students save them, and the file that holds it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab_utils.__main__ import main
from lab_utils.kit.course import START, Course, read_course
from lab_utils.kit.course.releases import CLOCK_SECONDS, MARK, with_work
from lab_utils.kit.hand_in.notebook import STUBS
from lab_utils.kit.root import ROOT
from lab_utils.kit.start import Page, Standing, standings, start_notebook
from lab_utils.kit.start import notebook as start_file
from lab_utils.kit.start.standing import State, next_notebook

COURSE = """
[course]
name = "ECE 1 TEST"
term = "fa00"
zip_name = "{last} {first} {lab}.zip"

[labs.first]
title = "Sums & <products>"
label = "lab1"
about = "Add, then multiply."
due = 2025-04-11T23:59:00-04:00
notebooks = [
    { name = "01_sums", points = 4, minutes = 90 },
    { name = "02_products", points = 3, minutes = 45 },
]

[labs.second]
title = "Roots"
label = "lab2"
builds_on = ["first"]
notebooks = [{ name = "01_roots", points = 2 }]
"""
PRINTED = {"output_type": "stream", "name": "stdout", "text": "whatever it says"}
RAISED = {"output_type": "error", "ename": "E", "evalue": "passed", "traceback": []}
Cells = list[dict[str, Any]]


def code(source: str, outputs: tuple[dict[str, Any], ...] = (), **marks: Any) -> dict[str, Any]:
    count = 7 if outputs else None
    metadata = {"nbgrader": marks} if marks else {}
    return {
        **{"cell_type": "code", "source": source, "outputs": list(outputs)},
        **{"execution_count": count, "metadata": metadata},
    }


def text(source: str, **marks: Any) -> dict[str, Any]:
    metadata = {"nbgrader": marks} if marks else {}
    return {"cell_type": "markdown", "source": source, "metadata": metadata}


def task(
    name: str, points: float, written: bool = False, *outputs: dict[str, Any], ran: bool = True
) -> Cells:
    """What a student writes for a task, and its check."""
    source = "def f():\n    return 1" if written else f"def f():\n    {STUBS[0]}('later')"
    check = code("check('…')", outputs, grade_id=f"{name}_check", grade=True, points=points)
    check["execution_count"] = check["execution_count"] if ran else None
    return [code(source, grade_id=name, solution=True), check]


def answer(name: str, points: float, source: str = STUBS[1]) -> Cells:
    return [text(source, grade_id=name, grade=True, solution=True, points=points)]


def save(path: Path, *cells: dict[str, Any], heading: str = "# A notebook: how many?") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    notebook = {"cells": [text(heading), *cells], "metadata": {}, "nbformat": 4}
    path.write_text(json.dumps(notebook | {"nbformat_minor": 5}), encoding="utf-8")
    return path


UNFILLED = {
    "first/01_sums": [*task("t11", 2.25), *task("t12", 1), *answer("q13", 0.75)],
    "first/02_products": task("t21", 3),
    "second/01_roots": task("t11", 2),
}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    path = tmp_path / "course.toml"
    path.write_text(COURSE)
    return read_course(path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three notebooks in which nobody has written anything."""
    for name, cells in UNFILLED.items():
        save(tmp_path / "notebooks" / f"{name}.ipynb", *cells)
    return tmp_path / "notebooks"


@pytest.fixture
def read(course: Course, folder: Path) -> Callable[[], list[Standing]]:
    return lambda: standings(course, folder)


def html_of(course: Course, folder: Path) -> str:
    return Page(course, standings(course, folder))._repr_html_()


def test_at_first_nothing_is_written(course: Course, folder: Path) -> None:
    html = html_of(course, folder)
    assert html.count("not begun") == 3
    assert 'Begin with <b><a href="first/01_sums.ipynb">lab1, 01 sums</a></b>' in html
    assert html.count("<details") == 2
    assert html.index("<details open>") < html.index("Sums &amp; &lt;products&gt;")
    assert html.count("<details open>") == 1
    assert "about 2 h 15 · 7 points · due Friday, 11 April 2025, 23:59 (UTC-0400)" in html
    assert "2 points · builds on lab1" in html
    assert "Add, then multiply." in html
    assert "<small>how many?</small>" in html
    assert "Not packed yet: the button at the end of 02 products" in html
    links = set(re.findall(r'href="(.*?)"', html))
    assert links == {f"{name}.ipynb" for name in UNFILLED}
    assert not re.search(r"<(script|style|svg)", html)


@pytest.mark.parametrize(
    ("cells", "state"),
    [
        (task("t11", 4), State.TO_WRITE),
        (task("t11", 4, False, PRINTED), State.TO_WRITE),
        (task("t11", 4, True), State.WRITTEN),
        (task("t11", 4, True, PRINTED, ran=False), State.WRITTEN),
        (task("t11", 4, True, PRINTED), State.RIGHT),
        (task("t11", 4, True, PRINTED, RAISED), State.WRONG),
        (task("t11", 4, False, RAISED), State.TO_WRITE),
        (answer("q11", 4), State.TO_WRITE),
        (answer("q11", 4, ""), State.TO_WRITE),
        (answer("q11", 4, "Because."), State.ANSWERED),
        ([text("Why?", grade_id="q11", task=True, points=4)], State.TO_WRITE),
        (
            [text("Why?", grade_id="q11", task=True, points=4), text("Because.")],
            State.ANSWERED,
        ),
        ([code("check()", grade_id="alone", grade=True, points=4)], State.TO_WRITE),
        ([code("check()", (PRINTED,), grade_id="alone", grade=True, points=4)], State.RIGHT),
    ],
)
def test_where_a_task_stands(
    read: Callable[[], list[Standing]], folder: Path, cells: Cells, state: State
) -> None:
    save(folder / "first" / "01_sums.ipynb", *cells)
    ((standing,), *_) = (notebook.tasks for notebook in read()[0].notebooks)
    assert (standing.state, standing.points) == (state, 4)


def test_how_far_in_words_and_signs(course: Course, folder: Path) -> None:
    path = folder / "first" / "01_sums.ipynb"
    save(path, *task("t11", 2.25, True, PRINTED), *task("t12", 1, True), *answer("q13", 0.75))
    html = html_of(course, folder)
    assert "2 of 4 tasks written, 1 check passed (2.25 of 6.25 points by the public checks)" in html
    assert 'Go on with <b><a href="first/01_sums.ipynb">lab1, 01 sums</a></b>, Task 1.2' in html
    assert 'title="Task 1.1: its check passes (2.25 points)"' in html
    assert 'title="Task 1.2: written; run its check (1 point)"' in html
    assert 'title="Question 1.3: still to be written (0.75 points)"' in html
    assert '<progress value="2.25" max="7">' in html
    assert "2 of 3 left" in html
    save(path, *task("t11", 2.25, True, PRINTED), *task("t12", 1, True, PRINTED))
    assert "graded cells are missing (3.25 of 4 points are left)" in html_of(course, folder)


DONE = {
    "first/01_sums": [
        *task("t11", 2.25, True, PRINTED),
        *task("t12", 1, True, PRINTED),
        *answer("q13", 0.75, "So."),
    ],
    "first/02_products": task("t21", 3, True, PRINTED),
    "second/01_roots": task("t11", 2, True, PRINTED),
}


@pytest.mark.parametrize(
    ("done", "begun", "wanted"),
    [
        ("", "", "first/01_sums"),
        ("", "first/01_sums", "first/01_sums"),
        ("first/01_sums", "", "first/02_products"),
        ("first/01_sums first/02_products", "", "second/01_roots"),
        ("first/02_products", "first/01_sums", "second/01_roots"),  # left behind: not nagged about
        ("first/02_products second/01_roots", "", "first/01_sums"),
        (" ".join(DONE), "", ""),
    ],
)
def test_where_to_go_on(
    read: Callable[[], list[Standing]], folder: Path, done: str, begun: str, wanted: str
) -> None:
    for name in done.split():
        save(folder / f"{name}.ipynb", *DONE[name])
    for name in begun.split():
        save(folder / f"{name}.ipynb", *task("t11", 2.25, True), *UNFILLED[name][2:])
    found = next_notebook(read())
    assert (f"{found[0].id}/{found[1].notebook.name}" if found else "") == wanted


def test_a_zip_is_seen_and_whether_it_is_still_new(course: Course, folder: Path) -> None:
    for name, cells in DONE.items():
        save(folder / f"{name}.ipynb", *cells)
    html = html_of(course, folder)
    assert "All is done." in html
    assert "<b>lab1 is done.</b> Not packed yet: the button at the end of 02 products" in html
    for name in ("somebody else's lab1.zip", "Lovelace Ada lab1.txt", "Lovelace Ada lab2.zip"):
        (folder / "first" / name).touch()
    zipped = folder / "first" / "Lovelace Ada lab1.zip"
    zipped.touch()
    moment = datetime(2025, 4, 1, 14, 2)
    notebooks = [folder / f"first/{name}.ipynb" for name in ("01_sums", "02_products")]
    for path, hour in zip((zipped, *notebooks), (14, 13, 13), strict=True):
        os.utime(path, (moment.replace(hour=hour).timestamp(),) * 2)
    os.utime(folder / "first" / "somebody else's lab1.zip", (0, 0))
    html = html_of(course, folder)
    assert "Packed on Tuesday, 01 April, 14:02 as Lovelace Ada lab1.zip.</p>" in html
    assert "lab1 is done" not in html
    os.utime(notebooks[1], (moment.replace(hour=15).timestamp(),) * 2)
    assert "Saved since then: 02 products. If you changed it, pack again:" in html_of(
        course, folder
    )


def test_what_is_not_there_or_broken_is_said(course: Course, folder: Path) -> None:
    (folder / "first" / "01_sums.ipynb").write_text("<<<<<<< HEAD")
    (folder / "first" / "02_products.ipynb").unlink()
    (folder / "second" / "01_roots.ipynb").unlink()
    html = html_of(course, folder)
    assert "01_sums.ipynb cannot be read as a notebook" in html
    assert "is not here: take it from the release" in html
    assert html.count("not released yet") == 1
    assert set(re.findall(r'href="(.*?)"', html)) == {"first/01_sums.ipynb"}
    page = Page(course, standings(course, folder / "nowhere"))
    assert "No assignment is here yet." in page._repr_html_()
    assert str(page).count("not released yet") == 2


JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)
ODD_CELL = st.fixed_dictionaries(
    {"cell_type": st.sampled_from(["code", "markdown", "raw"])},
    optional={
        **{"source": st.text(max_size=9) | JSON, "metadata": JSON, "outputs": JSON},
        **{"execution_count": JSON, "nbgrader": JSON},
    },
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=st.binary(max_size=20) | st.lists(ODD_CELL | JSON, max_size=4) | JSON)
def test_no_file_is_so_odd_that_there_is_no_page(
    course: Course, folder: Path, content: Any
) -> None:
    path = folder / "first" / "01_sums.ipynb"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(json.dumps({"cells": content}), encoding="utf-8")
    page = Page(course, standings(course, folder))
    assert "lab1" in page._repr_html_()
    assert "lab1" in str(page)


@pytest.fixture
def here(course: Course, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """In the folder of the notebooks, in this small course."""
    monkeypatch.chdir(folder)
    monkeypatch.setattr(start_file, "read_course", lambda: course)
    return folder


def test_the_page_is_the_saved_output_of_a_notebook(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["start"]) == 0
    assert f"01 roots{' ' * 17}not begun" in capsys.readouterr().out
    notebook = nbformat.read(here / START, as_version=4)
    nbformat.validate(notebook)
    (cell,) = notebook.cells
    (output,) = cell.outputs
    assert "Begin with" in output.data["text/html"]
    assert "Roots" in output.data["text/plain"]
    space: dict[str, Any] = {}
    exec(cell.source, space)  # its last line shows the page
    assert "Begin with" in space["start"]()._repr_html_()


def test_what_a_student_adds_to_the_page_stays(here: Path) -> None:
    path = start_file.write_start()
    notebook = json.loads(path.read_text())
    notebook["cells"].insert(0, text("my notes"))
    notebook["cells"].append(code(""))  # as Shift-Enter leaves one
    notebook["metadata"]["kernelspec"] = {"name": "recompute-lab"}
    path.write_text(json.dumps(notebook))
    save(here / "first" / "01_sums.ipynb", *DONE["first/01_sums"])
    start_file.write_start()
    notebook = json.loads(path.read_text())
    assert [cell.get("id", cell["source"]) for cell in notebook["cells"]] == [
        start_file.CELL,
        "my notes",
    ]
    assert "Go on with" in notebook["cells"][0]["outputs"][0]["data"]["text/html"]
    assert notebook["metadata"]["kernelspec"] == {"name": "recompute-lab"}
    for broken in ("", "{}", '{"cells": [1], "metadata": {}}', '{"cells": [], "metadata": [1]}'):
        path.write_text(broken)
        start_file.write_start()
        nbformat.validate(nbformat.read(path, as_version=4))


def test_a_release_has_the_same_page_whenever_it_is_made(course: Course, folder: Path) -> None:
    first = start_notebook(course, folder)
    os.utime(folder / "first" / "01_sums.ipynb", (0, 0))
    assert start_notebook(course, folder) == first
    assert "It was read on" not in first


def test_the_page_is_nobodys_work(tmp_path: Path) -> None:
    older, newer = tmp_path / "recompute-lab-1", tmp_path / "recompute-lab-2"
    work = save(older / "notebooks" / "first" / "01_sums.ipynb")
    copy = older / "notebooks" / ".ipynb_checkpoints" / "START-checkpoint.ipynb"
    pages = [save(older / "notebooks" / START), save(copy)]
    (older / MARK).touch()
    later = (older / MARK).stat().st_mtime + 2 * CLOCK_SECONDS
    for page in pages:
        os.utime(page, (later, later))
    assert with_work(tmp_path, newer) is None
    os.utime(work, (later, later))
    assert with_work(tmp_path, newer) == older


def test_it_needs_nothing_but_python() -> None:
    heavy = ("torch", "numpy", "IPython", "nbformat", "matplotlib")
    program = f"""
import sys
import lab_utils.kit.start
print([name for name in {heavy} if name in sys.modules])"""
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
