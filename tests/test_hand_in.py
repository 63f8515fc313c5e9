"""Packing a hand-in: what is checked, what is said, what is in the zip."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.collect import collect, read_roster
from lab_utils import hand_in
from lab_utils.course import Course, Lab, read_course
from lab_utils.errors import LabError
from lab_utils.hand_in import Owner, Report, inspection, owner, rerun, widget
from solutions.build import main as build
from tests.sample_course import LAB, NOTEBOOK, ROOT, fill, folder_of, make_course, write

ADA = Owner("Ada", "Lovelace")
GRAPH = 'digraph g { a [label="a: INPUT" fillcolor=lightblue]; b [label="b: RELU" %s]; a -> b; }'
WRITES_GRAPH = f"open('graph.dot', 'w').write({GRAPH % 'fillcolor=yellow'!r})"
ANSWERS = {
    "t11": f"def doubled(x):\n    return 2 * x\n{WRITES_GRAPH}",
    "t12": "import math\nroot_of = math.isqrt",
    "q1": "Because.",
}


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """The sample course, built; the home folder is empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    make_course(tmp_path / "course")
    assert build([], tmp_path / "course") == 0
    return read_course(tmp_path / "course" / "setup" / "course.toml")


@pytest.fixture
def lab(course: Course) -> Lab:
    return replace(course.lab(LAB), files=("graph.dot",))


@pytest.fixture
def folder(course: Course, tmp_path: Path) -> Path:
    """A student's folder, all done."""
    released = folder_of(tmp_path / "course" / "notebooks", LAB)[NOTEBOOK]
    put(tmp_path / "work", fill(released, ANSWERS))
    write(tmp_path / "work" / "graph.dot", GRAPH % "fillcolor=yellow")
    return tmp_path / "work"


def put(folder: Path, notebook: Any) -> None:
    write(folder / f"{NOTEBOOK}.ipynb", nbformat.writes(notebook))


def change(folder: Path, **answers: str) -> None:
    path = folder / f"{NOTEBOOK}.ipynb"
    put(folder, fill(nbformat.read(path, as_version=4), answers))


def quiet(_: str) -> None:
    """Nobody watches."""


def look(lab: Lab, folder: Path) -> Report:
    return inspection.inspect(lab, folder, quiet)


def test_a_finished_lab_is_packed_under_the_right_name(
    course: Course, lab: Lab, folder: Path
) -> None:
    told: list[str] = []
    report = inspection.inspect(lab, folder, told.append)
    assert str(report).splitlines() == [
        f"OK    {NOTEBOOK}.ipynb is complete and runs",
        "OK    graph.dot is what the notebooks write",
        "Public checks: 5 of 5 points. 2 points are graded by hand. "
        "Grading uses other graphs as well.",
    ]
    cells = sum(c.cell_type == "code" for c in folder_of(folder.parent, "work")[NOTEBOOK].cells)
    assert told[-1] == f"running {NOTEBOOK}: cell {cells} of {cells}"
    before = {path.name for path in folder.iterdir()}
    path = hand_in.pack(lab, folder, ADA, report, course=course)
    assert path == folder / "Lovelace Ada ECE 1 TEST fa00 labS.zip"
    assert {path.name for path in folder.iterdir()} == before | {path.name}
    with zipfile.ZipFile(path) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    assert found == {name: (folder / name).read_bytes() for name in before}
    assert all(name in hand_in.contents(path) for name in before)
    assert owner.remembered() == ADA


def test_an_unfilled_lab_says_what_is_missing_and_is_packed_only_on_demand(
    course: Course, lab: Lab, tmp_path: Path
) -> None:
    folder = tmp_path / "course" / "notebooks" / LAB
    report = look(lab, folder)
    lines = str(report).splitlines()
    assert f"WARN  {NOTEBOOK}.ipynb: doubled (cell t11) is still to be written" in lines
    assert f"WARN  {NOTEBOOK}.ipynb: cell q1 is still to be written" in lines
    assert f"WARN  {NOTEBOOK}.ipynb: check t11_test does not pass (2 points)" in lines
    assert [line for line in lines if "raises NotImplementedError: still to be written" in line]
    missing = "graph.dot is missing: run the notebook that writes it, from top to bottom"
    assert f"FAIL  {missing}" in lines
    assert lines[-1].startswith("Public checks: 0 of 5 points.")
    with pytest.raises(hand_in.PackError, match="--anyway"):
        hand_in.pack(lab, folder, ADA, report, course=course)
    assert not list(folder.glob("*.zip"))
    path = hand_in.pack(lab, folder, ADA, report, course=course, anyway=True)
    assert zipfile.ZipFile(path).namelist() == [f"{NOTEBOOK}.ipynb"]


def test_a_file_that_the_notebooks_do_not_write_is_found(lab: Lab, folder: Path) -> None:
    edited = GRAPH.replace("RELU", "SIN") % "fillcolor=yellow"
    write(folder / "graph.dot", edited)
    (line,) = [text for level, text in look(lab, folder).lines if level == "FAIL"]
    assert line.startswith("graph.dot differs from what the notebooks write now (")
    assert "SIN" in line.upper()
    write(folder / "graph.dot", "not a graph")
    (line,) = [text for level, text in look(lab, folder).lines if level == "FAIL"]
    assert line.startswith("graph.dot cannot be read (")


def test_only_structure_counts(lab: Lab, folder: Path) -> None:
    renamed = (
        'digraph h { q [label="q: RELU" fillcolor=yellow pos="1,2"]; '
        'p [label="p: INPUT" fillcolor=lightblue]; p -> q; }'
    )
    write(folder / "graph.dot", renamed)
    assert look(lab, folder).ready


def test_a_file_from_elsewhere_is_found(lab: Lab, folder: Path) -> None:
    change(folder, t11="def doubled(x):\n    return 2 * x")
    (line,) = [text for level, text in look(lab, folder).lines if level == "FAIL"]
    assert line.startswith("graph.dot is there, but the notebooks do not write it: finish")


def test_missing_and_broken_notebooks(lab: Lab, folder: Path) -> None:
    path = folder / f"{NOTEBOOK}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [c for c in notebook.cells if c.get("id") != "t11_test"]
    put(folder, notebook)
    assert "graded cells are missing, 5 of 7 points are left" in str(look(lab, folder))
    path.write_text('{"cells": [')
    assert f"{path.name} cannot be read as a notebook" in str(look(lab, folder))
    path.unlink()
    report = look(lab, folder)
    assert f"FAIL  {path.name} is missing" in str(report)
    assert not report.ready


def test_a_copied_cell_counts_once(lab: Lab, folder: Path) -> None:
    notebook = nbformat.read(folder / f"{NOTEBOOK}.ipynb", as_version=4)
    notebook.cells += [c for c in notebook.cells if c.get("id") == "t11_test"]
    put(folder, notebook)
    report = look(lab, folder)
    assert report.ready
    assert report.points == 5


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        (
            "import os; os._exit(3)",
            "does not run to its end: Python ended (no reason given) in code cell",
        ),
        ("while True: pass", "does not run to its end: more than 2 s in code cell"),
    ],
)
def test_a_notebook_that_does_not_end(
    lab: Lab, folder: Path, monkeypatch: pytest.MonkeyPatch, cell: str, words: str
) -> None:
    if "while" in cell:
        monkeypatch.setattr(rerun, "SECONDS", 2)
    change(folder, t12=cell)
    assert words in str(look(lab, folder))


def test_noise_is_no_trouble(lab: Lab, folder: Path) -> None:
    noise = "import sys\nprint('[99, 1]' * 100_000)\nsys.stderr.write('x' * 10**6)\ninput_ = 1\n"
    change(folder, t12=f"{noise}import os\nos.system('echo [1]')\n{ANSWERS['t12']}")
    assert look(lab, folder).points == 5


COURSE = read_course()


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_name_makes_a_plain_file_name_or_is_refused(first: str, last: str) -> None:
    try:
        who = owner.owner_called(first, last)
    except LabError:
        assert not any(char.isalnum() for char in first) or not any(map(str.isalnum, last))
        return
    for lab in COURSE.labs:
        name = COURSE.zip_file_name(lab, first=who.first, last=who.last)
        assert Path(name).name == name
        assert name.isprintable()
        assert not set(name) & set('\\/:*?"<>|')


@pytest.mark.parametrize(
    "name",
    [
        ("Ada", "Lovelace"),
        ("Conan", "O'Brien"),
        ("María José", "García-Márquez"),
        ("Ludwig", "van der Berg"),
        ("小龙", "李"),
        ("Lab", "Project"),
        ("Ece", "Test"),
        ("J.", "Doe"),
    ],
)
def test_the_collector_takes_every_zip_that_the_packer_makes(
    course: Course, lab: Lab, folder: Path, tmp_path: Path, name: tuple[str, str]
) -> None:
    path = hand_in.pack(lab, folder, owner.owner_called(*name), Report(), course=course)
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    path.rename(uploads / path.name)
    roster = tmp_path / "students.csv"
    write(roster, f"id,first,last\ns1,{name[0]},{name[1]}\ns2,Grace,Hopper\n")
    for known in (None, read_roster(roster)):
        into = tmp_path / ("known" if known else "unknown")
        (row,) = collect(uploads, LAB, into, known, root=tmp_path / "course")
        assert row.folder
        assert row.remarks == ()
        assert {p.name for p in row.folder.iterdir()} == {f"{NOTEBOOK}.ipynb", "graph.dot"}
        if known:
            assert row.student == "s1"


def test_the_name_is_asked_once(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(hand_in.PackError, match="--first"):
        hand_in.ask_owner()
    typed = iter([" Ada ", "King-Noel"])
    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("builtins.input", lambda _: next(typed))
    who = hand_in.ask_owner()
    assert who == Owner("Ada", "King-Noel")
    owner.remember(who)
    assert hand_in.ask_owner() == who


def press(button: Any) -> None:
    button.click()


def test_the_widget_checks_packs_and_downloads_on_colab(
    course: Course,
    lab: Lab,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    downloaded: list[str] = []
    colab = ModuleType("google.colab")
    colab.files = SimpleNamespace(download=downloaded.append)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "google.colab", colab)
    monkeypatch.setattr(hand_in, "read_course", lambda: course)
    box = widget.packer(lab, folder)
    first, last, buttons, progress, _ = box.children
    check, anyway = buttons.children
    press(check)
    assert "please give your first name" in capsys.readouterr().out
    first.value, last.value = "Ada", "Lovelace"
    (folder / "graph.dot").rename(folder / "elsewhere")
    press(check)
    assert "not packed, since something above says FAIL" in capsys.readouterr().out
    assert anyway.layout.display == "inline-block"
    assert not downloaded
    (folder / "elsewhere").rename(folder / "graph.dot")
    press(check)
    (path,) = downloaded
    assert Path(path).name == "Lovelace Ada ECE 1 TEST fa00 labS.zip"
    assert progress.value == f"Done: upload {Path(path).name}"
    assert not check.disabled
    assert widget.packer(lab, folder).children[1].value == "Lovelace"


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lab_utils", "pack", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )


def test_the_command_teaches(tmp_path: Path) -> None:
    here = tmp_path / "lab4a"
    write(here / "01_profiler.ipynb", json.dumps({"cells": []}))
    unknown = command(here, "lab9")
    assert unknown.stderr.startswith("error: there is no lab 'lab9'")
    nobody = command(here)
    assert nobody.stderr == "error: whose is it? Add --first ADA --last LOVELACE\n"
    unfinished = command(here, "--no-run", "--first", "Ada", "--last", "Lovelace")
    assert unfinished.returncode == 2
    assert "FAIL  02_recomputation.ipynb is missing" in unfinished.stdout
    assert "FAIL  llm_mlp.dot is missing" in unfinished.stdout
    assert unfinished.stderr.startswith("error: not packed")
    packed = command(here, "--no-run", "--first", "Ada", "--last", "Lovelace", "--anyway")
    assert packed.returncode == 0, packed.stderr
    name = read_course().zip_file_name("lab4a", first="Ada", last="Lovelace")
    assert f"Written, opened again and compared: {here / name}" in packed.stdout
    again = command(here, "--no-run", "--anyway")
    assert "lab4A of Ada Lovelace" in again.stdout
