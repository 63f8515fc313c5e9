"""Packing a hand-in: what is checked, what is said, what is in the zip."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.authoring.build import build
from autograder.collect import collect, read_roster
from lab_utils.__main__ import main
from lab_utils.kit import hand_in
from lab_utils.kit.course import Assignment, Course, read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.hand_in import Owner, Report, archive, inspection, owner, rerun, widget
from lab_utils.kit.hand_in.notebook import Cell, read_cells, unanswered
from lab_utils.labs.graphs.files import DotFile
from lab_utils.labs.project.tables import Table
from tests.support.on_demand import PLAIN_USER, obstacle
from tests.support.sample_course import (
    FILES,
    LAB,
    NOTEBOOK,
    ROOT,
    fill,
    folder_of,
    make_course,
    set_sample_lab,
    write,
)

ADA = Owner("Ada", "Lovelace")
GRAPH = 'digraph g { a [label="a: INPUT" fillcolor=lightblue]; b [label="b: RELU" %s]; a -> b; }'
WRITES_GRAPH = f"open('graph.dot', 'w').write({GRAPH % 'fillcolor=yellow'!r})"
ANSWERS = {
    "t11": f"def doubled(x):\n    return 2 * x\n{WRITES_GRAPH}",
    "t12": "import math\nroot_of = math.isqrt",
    "q1": "Because.",
}
DRAWN = "A half adder, and another one."


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """The sample course, built; the home folder is empty."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    make_course(tmp_path / "course")
    build(tmp_path / "course")
    return read_course(tmp_path / "course" / "setup" / "course.toml")


@pytest.fixture
def lab(course: Course) -> Iterator[Assignment]:
    set_sample_lab(DotFile("graph.dot"))
    yield course.lab(LAB)
    set_sample_lab(*FILES)


@pytest.fixture
def folder(course: Course, tmp_path: Path) -> Path:
    """A student's folder, all done."""
    released = folder_of(tmp_path / "course" / "notebooks", LAB)[NOTEBOOK]
    filled = fill(released, ANSWERS)
    filled.cells.append(nbformat.v4.new_markdown_cell(DRAWN))  # below the question q2
    put(tmp_path / "work", filled)
    write(tmp_path / "work" / "graph.dot", GRAPH % "fillcolor=yellow")
    return tmp_path / "work"


def put(folder: Path, notebook: Any) -> None:
    write(folder / f"{NOTEBOOK}.ipynb", nbformat.writes(notebook))


def change(folder: Path, **answers: str) -> None:
    path = folder / f"{NOTEBOOK}.ipynb"
    put(folder, fill(nbformat.read(path, as_version=4), answers))


def quiet(_: str) -> None:
    """Nobody watches."""


def look(lab: Assignment, folder: Path) -> Report:
    return inspection.inspect(lab, folder, quiet)


def test_a_finished_lab_is_packed_under_the_right_name(
    course: Course, lab: Assignment, folder: Path
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
    course: Course, lab: Assignment, tmp_path: Path
) -> None:
    folder = tmp_path / "course" / "notebooks" / LAB
    report = look(lab, folder)
    lines = str(report).splitlines()
    assert f"WARN  {NOTEBOOK}.ipynb: doubled (Task 1.1) is still to be written" in lines
    assert f"WARN  {NOTEBOOK}.ipynb: Question 1 is still to be written" in lines
    assert f"WARN  {NOTEBOOK}.ipynb: the check of Task 1.1 does not pass (2 points)" in lines
    assert [line for line in lines if "raises NotImplementedError: still to be written" in line]
    missing = "graph.dot is missing: run the notebook that writes it, from top to bottom"
    assert f"FAIL  {missing}" in lines
    assert lines[-1].startswith("Public checks: 0 of 5 points.")
    with pytest.raises(hand_in.PackError, match="--anyway"):
        hand_in.pack(lab, folder, ADA, report, course=course)
    assert not list(folder.glob("*.zip"))
    path = hand_in.pack(lab, folder, ADA, report, course=course, anyway=True)
    assert zipfile.ZipFile(path).namelist() == [f"{NOTEBOOK}.ipynb"]


@pytest.mark.parametrize("below", [None, "  \n", "## What you built\nAdders."])
def test_a_question_without_an_answer_is_named(
    lab: Assignment, folder: Path, below: str | None
) -> None:
    notebook = nbformat.read(folder / f"{NOTEBOOK}.ipynb", as_version=4)
    notebook.cells.pop()
    notebook.cells += [nbformat.v4.new_markdown_cell(below)] if below else []
    put(folder, notebook)
    report = look(lab, folder)
    assert str(report).splitlines()[:2] == [
        f"WARN  {NOTEBOOK}.ipynb: Question 2 has no answer (1 point): write it into a new cell "
        "right below the question",
        f"OK    {NOTEBOOK}.ipynb runs",
    ]
    assert report.ready
    notebook.cells.append(nbformat.v4.new_markdown_cell(DRAWN))  # also below what is ours
    put(folder, notebook)
    assert f"OK    {NOTEBOOK}.ipynb is complete and runs" in str(look(lab, folder))


@pytest.mark.parametrize("answer", ["", "Because of the bytes."])
def test_text_of_ours_below_a_question_is_no_answer(answer: str) -> None:
    question = Cell(
        "### Question 1.2: why?", False, {"grade_id": "q12", "task": True}, below="## On"
    )
    rest = [Cell("## On\nThere is more.", False, {}), Cell("print(1)", True, {})]
    cells = [question, *([Cell(answer, False, {})] if answer else []), *rest]
    assert unanswered(cells) == ([] if answer else [question])


def test_no_question_of_a_released_notebook_is_answered() -> None:
    for path in (ROOT / "notebooks").glob("*/*.ipynb"):
        cells = read_cells(path)
        asked = [cell.title for cell in cells if cell.marks.get("task")]
        assert [cell.title for cell in unanswered(cells)] == asked
        titles = {cell.title for cell in cells if cell.points or cell.marks.get("solution")}
        headings = "\n".join(cell.source for cell in cells if not cell.is_code)
        assert all(f"# {title}:" in headings for title in titles)
        if path.stem == "06_experiments":
            assert asked == ["Question 6.6", "Question 6.7"]


@pytest.mark.parametrize("run", [True, False])
def test_a_table_of_a_trial_is_not_handed_in(
    lab: Assignment, folder: Path, monkeypatch: pytest.MonkeyPatch, run: bool
) -> None:
    monkeypatch.setenv("PROJECT_SIZE", "small")  # which makes no difference
    set_sample_lab(Table("memory.csv", measured=True))
    write(folder / "memory.csv", "model,method,batch\ntiny BERT,none,2\n")
    report = inspection.inspect(lab, folder, quiet, run=run)
    (line,) = [text for level, text in report.lines if level == "FAIL"]
    assert line.startswith("memory.csv has the rows of PROJECT_SIZE=small, which is there to try")
    assert "delete the file, and run the notebook" in line
    write(folder / "memory.csv", "model,method,batch\ntiny BERT,none,2\nBERT-base,none,4\n")
    assert inspection.inspect(lab, folder, quiet, run=run).ready


def test_notebooks_run_at_the_size_that_is_graded(
    lab: Assignment, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAMPLE_SIZE", "small")
    change(folder, t12=f"import os\nassert os.environ['SAMPLE_SIZE'] == 'full'\n{ANSWERS['t12']}")
    assert look(lab, folder).points == 5


def test_a_file_that_the_notebooks_do_not_write_is_found(lab: Assignment, folder: Path) -> None:
    edited = GRAPH.replace("RELU", "SIN") % "fillcolor=yellow"
    write(folder / "graph.dot", edited)
    (line,) = [text for level, text in look(lab, folder).lines if level == "FAIL"]
    assert line.startswith("graph.dot differs from what the notebooks write now (")
    assert "SIN" in line.upper()
    write(folder / "graph.dot", "not a graph")
    (line,) = [text for level, text in look(lab, folder).lines if level == "FAIL"]
    assert line.startswith("graph.dot cannot be read (")


def test_only_structure_counts(lab: Assignment, folder: Path) -> None:
    renamed = (
        'digraph h { q [label="q: RELU" fillcolor=yellow pos="1,2"]; '
        'p [label="p: INPUT" fillcolor=lightblue]; p -> q; }'
    )
    write(folder / "graph.dot", renamed)
    assert look(lab, folder).ready


def test_a_file_from_elsewhere_is_found(lab: Assignment, folder: Path) -> None:
    change(folder, t11="def doubled(x):\n    return 2 * x")
    (line,) = [text for level, text in look(lab, folder).lines if level == "FAIL"]
    assert line.startswith("graph.dot is there, but the notebooks do not write it: finish")


def test_missing_and_broken_notebooks(lab: Assignment, folder: Path) -> None:
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


def test_a_copied_cell_counts_once(lab: Assignment, folder: Path) -> None:
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
    lab: Assignment, folder: Path, monkeypatch: pytest.MonkeyPatch, cell: str, words: str
) -> None:
    if "while" in cell:
        monkeypatch.setattr(rerun, "SECONDS", 2)
    change(folder, t12=cell)
    assert words in str(look(lab, folder))


def test_a_cell_that_fails_is_named_as_in_the_notebook(lab: Assignment, folder: Path) -> None:
    change(folder, t12="1 / 0")
    text = str(look(lab, folder))
    assert "the cell of Task 1.2 raises ZeroDivisionError: division by zero" in text
    assert "the check of Task 1.2 does not pass (3 points)" in text


def test_noise_is_no_trouble(lab: Assignment, folder: Path) -> None:
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
        assert not name.startswith(".")
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
    course: Course, lab: Assignment, folder: Path, tmp_path: Path, name: tuple[str, str]
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


def test_an_empty_name_is_asked_again(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = iter(["", " . ", "Ada", "", ".hidden"])
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question.split()[0])
        return next(typed)

    monkeypatch.setattr("sys.stdin", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("builtins.input", answer)
    assert hand_in.ask_owner() == Owner("Ada", "hidden")
    assert asked == ["first", "first", "first", "last", "last"]
    assert capsys.readouterr().out.count("please type it") == 3


def test_make_pack_passes_arguments_on() -> None:
    makefile = str(ROOT / "setup" / "student" / "Makefile")
    called = ["make", "--dry-run", "--no-print-directory", "-f", makefile, "pack"]
    called += ["LAB=mine", "ARGS=--anyway"]
    done = subprocess.run(called, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1].endswith("-m lab_utils pack mine --anyway")


def press(button: Any) -> None:
    button.click()


def test_the_widget_checks_packs_and_downloads_on_colab(
    course: Course,
    lab: Assignment,
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


NAMED = ("--first", "Ada", "--last", "Lovelace")


def surroundings(folder: Path) -> dict[str, Any]:
    """How the command is started in ``folder``, which is also where names are remembered."""
    return {
        "cwd": folder,
        "env": {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CONFIG_HOME": str(folder)},
        "stdin": subprocess.DEVNULL,
        "text": True,
    }


def command(folder: Path, *arguments: str, via: tuple[str, ...] = ()) -> Any:
    called = [*via, sys.executable, "-m", "lab_utils", "pack", *arguments]
    return subprocess.run(called, capture_output=True, **surroundings(folder))


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


def test_the_wrong_folder_is_told(tmp_path: Path) -> None:
    assert "or run this in the lab's folder" in command(tmp_path).stderr
    elsewhere = command(tmp_path, "lab4a", "--no-run", *NAMED).stdout
    assert f"in {ROOT / 'notebooks' / 'lab4a'}" in elsewhere
    assert f"(there is no notebook of lab4A in {tmp_path})" in elsewhere


def test_no_notebook_at_all(
    lab: Assignment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hand_in, "ROOT", tmp_path)
    with pytest.raises(hand_in.PackError, match="change to the folder in which yours lie"):
        hand_in.work_folder(lab, tmp_path)


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    script = 'cd "$1" && rmdir "$1" && shift && exec "$@"'
    gone = tmp_path / "gone"
    gone.mkdir()
    said = command(tmp_path, via=("bash", "-c", script, "bash", str(gone)))
    assert said.stderr == "error: the folder in which you are is gone: cd to the lab's folder\n"


def test_a_python_without_the_packages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "lab4a" / "01_profiler.ipynb", "{}")
    monkeypatch.chdir(tmp_path / "lab4a")
    monkeypatch.setattr(
        "lab_utils.kit.machine.environment.needed_packages",
        lambda _: {"torch>=2": "", "numpy": "2.0"},
    )
    assert main(["pack", *NAMED]) == 2
    said = capsys.readouterr().err
    assert said.startswith(
        f"error: {sys.executable} cannot run the notebooks, since it lacks torch:"
    )
    assert main(["pack", "--no-run", *NAMED]) == 2
    assert "something above says FAIL" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("nonsense", "Expecting value"),
        ("[1]", "it has no cells"),
        ('{"cells": 1}', "it has no cells"),
        ('{"cells": [{"source": 1}]}', "a cell has no type or text"),
        ('{"cells": [' + "[" * 100_000, "recursion"),
    ],
)
def test_a_file_that_is_no_notebook(lab: Assignment, folder: Path, text: str, why: str) -> None:
    write(folder / f"{NOTEBOOK}.ipynb", text)
    (line, *_) = str(look(lab, folder)).splitlines()
    assert line.startswith(f"FAIL  {NOTEBOOK}.ipynb cannot be read as a notebook (")
    assert why in line
    assert line.endswith("save it again, or begin with a fresh copy from the release")


def test_an_earlier_zip_is_kept(course: Course, lab: Assignment, folder: Path) -> None:
    def packed() -> Path:
        return hand_in.pack(lab, folder, ADA, Report(), course=course)

    first = packed().read_bytes()
    assert packed().is_file()
    assert not (folder / archive.EARLIER).exists()  # the same again
    write(folder / "graph.dot", "changed")
    path = packed()
    (earlier,) = (folder / archive.EARLIER).rglob("*.zip")
    assert earlier.name == path.name
    with zipfile.ZipFile(earlier) as old:
        assert old.read("graph.dot").decode().startswith("digraph")
    assert len(first) == earlier.stat().st_size
    assert f"kept in {folder / archive.EARLIER}" in hand_in.contents(path)
    path.write_bytes(b"broken")
    packed()
    assert len(list((folder / archive.EARLIER).rglob("*.zip"))) >= 1


@pytest.mark.parametrize(
    ("number", "cure"),
    [
        (errno.ENOSPC, "make room on this disk"),
        (errno.EROFS, "copy the folder to where you may write"),
        (errno.EIO, "pack again"),
    ],
)
def test_a_disk_that_does_not_take_the_zip(
    course: Course,
    lab: Assignment,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    cure: str,
) -> None:
    earlier = hand_in.pack(lab, folder, ADA, Report(), course=course).read_bytes()
    write(folder / "graph.dot", "changed")

    def refuse(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(zipfile.ZipFile, "writestr", refuse)
    before = {path.name for path in folder.iterdir()}
    with pytest.raises(hand_in.PackError, match=cure) as error:
        hand_in.pack(lab, folder, Owner("Ada", "Lovelace"), Report(), course=course)
    assert os.strerror(number) in str(error.value)
    assert {path.name for path in folder.iterdir()} == before
    (kept,) = folder.glob("*.zip")
    assert kept.read_bytes() == earlier


def test_a_name_that_cannot_be_a_file_is_not_remembered(
    course: Course, lab: Assignment, folder: Path
) -> None:
    with pytest.raises(hand_in.PackError, match="give a shorter name"):
        hand_in.pack(lab, folder, Owner("Ada", "L" * 300), Report(), course=course)
    assert owner.remembered() is None
    assert not list(folder.glob(".*part"))


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    if problem := obstacle(*PLAIN_USER, "true"):
        pytest.skip(problem)
    here = tmp_path / "lab4a"
    write(here / "01_profiler.ipynb", json.dumps({"cells": []}))
    here.chmod(0o555)
    said = command(here, "--no-run", "--anyway", *NAMED, via=("unshare", *PLAIN_USER))
    assert said.returncode == 2
    assert "(Permission denied): copy the folder to where you may write" in said.stderr
    assert "Traceback" not in said.stderr


def test_no_room_to_run_the_notebooks(
    lab: Assignment, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(shutil, "copystat", lambda *_, **__: None)
    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(LabError, match="make room there, or set TMPDIR"):
        look(lab, folder)


def test_odd_things_beside_the_notebooks(lab: Assignment, folder: Path) -> None:
    (folder / "loop").symlink_to(folder)
    (folder / "nowhere").symlink_to(folder / "gone")
    os.mkfifo(folder / "pipe")
    (folder / f"{NOTEBOOK}.ipynb").rename(folder.parent / "elsewhere.ipynb")
    (folder / f"{NOTEBOOK}.ipynb").symlink_to("../elsewhere.ipynb")
    report = look(lab, folder)
    assert report.ready
    assert report.points == 5
    assert "the notebooks are run without" in str(report)
    assert "pipe" in str(report)


def test_an_interrupted_pack_leaves_nothing(tmp_path: Path) -> None:
    here = tmp_path / "lab4a"
    source = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))"
    cells = [{"cell_type": "code", "source": text} for text in (source, "time.sleep(60)")]
    write(here / "01_profiler.ipynb", json.dumps({"cells": cells}))
    called = [sys.executable, "-m", "lab_utils", "pack", *NAMED]
    # A shell in the background ignores SIGINT, and whoever it starts would too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        called, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **surroundings(here)
    )
    signal.signal(signal.SIGINT, before)
    end = time.monotonic() + 60
    while not (tmp_path / "pid").is_file() or not (tmp_path / "pid").read_text():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert said.strip() == "stopped: nothing was written"
    assert process.returncode == 2
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
    assert [path.name for path in here.iterdir()] == ["01_profiler.ipynb"]
