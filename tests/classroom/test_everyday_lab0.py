"""A small real class in real sandboxes: why a cell failed, all that led to points, who is alike."""

from __future__ import annotations

import io
import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.classroom.gradebook import Book
from autograder.classroom.home import VARIABLE, Home
from autograder.classroom.lateness import Lateness
from autograder.classroom.sample import ADDED, Change, Example, student, zip_of
from autograder.classroom.storing import can_store
from autograder.cli import main
from autograder.grading.submission import Submission
from autograder.grading.verdict import load_verdict
from autograder.labs.lab0.sample_class import FILES
from lab_utils.kit.root import ROOT

pytestmark = [pytest.mark.slow]
RELEASE = "recompute-lab-0.1.0-0123abcd"
SYNTAX = "def tensor_bytes(shape, dtype:\n    return 1"
MODULE = "import no_such_module\n\n\ndef tensor_bytes(shape, dtype):\n    return 1"
TAMPER = "import lab_utils.kit.ask\nlab_utils.kit.ask.attempt = print"
CLASS = {
    "Ada Lovelace": (),
    "Sam Syntax": (Change("t11", "", SYNTAX), Change("t12", "", "raise NotImplementedError")),
    "Mo Module": (Change("t11", "", MODULE),),
    "Tom Tamper": (Change(ADDED, "", TAMPER),),
}


def zipped(name: str, changes: tuple[Change, ...]) -> bytes:
    first, last = name.split()
    left_out = ("bytes.csv",) if first == "Sam" else ()
    example = Example(student(first, last), changes, leave_out=left_out)
    made = io.BytesIO(zip_of("lab0", example, FILES))
    with zipfile.ZipFile(made, "a") as archive:
        archive.comment = RELEASE.encode()
    return made.getvalue()


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the outcomes."""
    folder = tmp_path_factory.mktemp("everyday")
    source = folder / "in"
    source.mkdir()
    rows = ["Student,ID,SIS User ID,SIS Login ID,Section"]
    for number, (name, changes) in enumerate(CLASS.items(), start=1001):
        first, last = name.split()
        upload = f"{last}{first}_{number}_{number}_lab0.zip".lower()
        (source / upload).write_bytes(zipped(name, changes))
        rows.append(f'"{last}, {first}",{number},90{number},{last.lower()}1,A')
    (folder / "export.csv").write_text("\n".join(rows) + "\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRADER_HOME", "")
        assert main(command(folder)) == 0
    return folder


def command(folder: Path, *more: str) -> list[str]:
    places = ("--from", str(folder / "in"), "--into", str(folder / "home"))
    roster = ("--roster", str(folder / "export.csv"))
    return ["grade", "lab0", *places, *roster, "--jobs", "1", *more]


def page(graded: Path, name: str) -> str:
    return (graded / "home" / "grades" / "lab0" / name).read_text(encoding="utf-8")


def test_feedback_says_why_a_cell_failed(graded: Path) -> None:
    told = page(graded, "feedback/syntax1.html")
    assert "there is no tensor_bytes: the cell that begins with" in told
    assert "SyntaxError" in told
    assert "Python cannot read line 1 of that cell: def tensor_bytes(shape, dtype:" in told
    assert told.count("SyntaxError") == 1, "one mistake is told once"
    assert "nothing yet" in told, "of the file"
    told = page(graded, "feedback/module1.html")
    assert "ModuleNotFoundError: No module named &#39;no_such_module&#39;" in told


def test_the_report_tells_tampering_apart_from_failed_cells(graded: Path) -> None:
    report = page(graded, "report.html")
    assert "A cell did not run: SyntaxError" in report
    assert "A cell did not run: ModuleNotFoundError" in report
    assert f"<strong>{RELEASE}</strong>: 4 submissions" in report
    _, after = report.split("Perhaps tampering")
    assert "Tom Tamper" in after.partition("<h2>Remarks</h2>")[0]
    assert "attempt" not in page(graded, "feedback/tamper1.html")


def test_all_that_led_to_the_points_is_told(
    graded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOGRADER_HOME", "")
    assert main(command(graded, "--only", "synt", "--explain")) == 0
    told = capsys.readouterr().out
    assert "\nQuestion 1.3: does it fit?: waits for a person of 0.25" in told
    assert "<h3>Question 1.3: does it fit?</h3>" in page(graded, "feedback/syntax1.html")
    for words in ("Sam Syntax (syntax1)", f"made from  : {RELEASE}", "it failed: SyntaxError"):
        assert words in told
    assert "    | def tensor_bytes(shape, dtype:" in told
    assert main(command(graded, "--explain")) == 2
    assert "name them with --only" in capsys.readouterr().err


def test_points_are_set_from_the_command_line(
    graded: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOGRADER_HOME", "")
    place = ("--into", str(graded / "home"))
    assert main(["override", "lab0", "mo", "1.1", "0.3", "--reason", "a typo", *place]) == 0
    assert "module1, t11_check: 0.3 points" in capsys.readouterr().out
    assert main(command(graded)) == 0
    assert '"Module, Mo",1002,901002,module1,A,' not in page(graded, "canvas.csv"), "it waits"
    assert "a typo" in page(graded, "grades.csv")
    for arguments, words in (
        (("ada", "1.1", "0.3"), "say how many points, and why"),
        (("ada", "1.1", "nan", "--reason", "x"), "a number of 0 or more, and not nan"),
        (("ada", "1.1", "inf", "--reason", "x"), "a number of 0 or more, and not inf"),
        (("ada", "9.9", "1", "--reason", "x"), "there is no task '9.9'; there is: 1.1, 1.2, q13"),
        (("nobody", "1.1", "1", "--reason", "x"), "nobody called 'nobody'"),
        (("ada", "1.1", "--remove"), "no points were set for lovelace1"),
    ):
        assert main(["override", "lab0", *arguments, *place]) == 2
        assert words in capsys.readouterr().err


def test_hand_ins_that_are_alike_are_shown_to_instructors_alone(
    graded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["similar", "lab0", "--into", str(graded / "home")]) == 0
    assert "of hand-ins with a likeness" in capsys.readouterr().out
    path = graded / "home" / "grades" / "lab0" / "similar.html"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    told = path.read_text(encoding="utf-8")
    assert "A hint where to look, and never a verdict." in told
    assert "<script" not in told


def stored(
    graded: Path, home: Home, by_nbgrader: bool
) -> tuple[dict[str, tuple[int, bytes]], list[tuple[Any, ...]]]:
    """Files and rows after a class was stored anew, given points in between, and again."""
    shutil.copytree(graded / "home", home.path)
    for path in (home.gradebook, home.grades("lab0") / "registered"):
        path.unlink()
    for name in ("autograded", "grades/lab0/by_hand"):
        shutil.rmtree(home.path / name)
    students = sorted(path.stem for path in (home.path / "verdicts/lab0").glob("*.json"))
    late = Lateness("x.zip", days=1, percent=30, costs=dict.fromkeys(_notebooks(), 0.3))
    costs = {students[0]: asdict(late)}
    (home.grades("lab0") / "late.json").write_text(json.dumps(costs))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, "")  # and as it was before, afterwards
        patch.setattr("autograder.classroom.gradebook.can_store", lambda _: not by_nbgrader)
        book = Book(home, "lab0")
        book.prepare(None)
        with book:
            for student in students:
                book.store(student)
            with Gradebook(home.db_url) as gradebook:
                for submission in gradebook.assignment_submissions("lab0"):
                    for rows in submission.notebooks:
                        for grade in rows.grades:
                            grade.manual_score, grade.needs_manual_grade = 0.25, False
                gradebook.db.commit()
            # One of them hands in something else: its points by hand are not for that.
            for path in (home.submitted / students[1] / "lab0").glob("*.ipynb"):
                changed = path.read_text().replace("def tensor_bytes", "x = 1\\ndef tensor_bytes")
                path.chmod(0o600)
                path.write_text(changed)
            patch.setattr("autograder.classroom.storing.digest_of", _kept_digest(home))
            patch.setattr("autograder.grading.nbgrader_step.digest_of", _kept_digest(home))
            for student in students:
                book.store(student)
    files = {
        str(path.relative_to(home.path)): (stat.S_IMODE(path.stat().st_mode), path.read_bytes())
        for name in ("autograded", "grades/lab0/by_hand")
        for path in sorted((home.path / name).rglob("*"))
        if path.is_file()
    }
    with Gradebook(home.db_url) as gradebook:
        submissions = gradebook.assignment_submissions("lab0")
        rows = [rows for submission in submissions for rows in submission.notebooks]
        told = [
            (
                *(one.student.id, one.name, one.late_submission_penalty, one.score),
                *((g.name, g.auto_score, g.manual_score, g.needs_manual_grade) for g in one.grades),
                *((c.name, c.auto_comment, c.manual_comment) for c in one.comments),
            )
            for one in sorted(rows, key=lambda one: (one.student.id, one.name))
        ]
    return files, told


def _notebooks() -> list[str]:
    return [path.stem for path in (ROOT / "notebooks/lab0").glob("*.ipynb")]


def _kept_digest(home: Home) -> Callable[[object, Submission], str]:
    def digest(_: object, submission: Submission) -> str:
        kept = load_verdict(home.path, "lab0", submission.student)
        assert kept is not None
        return kept.digest

    return digest


def test_a_class_is_stored_as_nbgraders_autograde_stores_it(graded: Path, tmp_path: Path) -> None:
    ours = stored(graded, Home(tmp_path / "ours"), by_nbgrader=False)
    theirs = stored(graded, Home(tmp_path / "theirs"), by_nbgrader=True)
    files, rows = ours
    other_files, other_rows = theirs
    assert rows == other_rows
    assert files.keys() == other_files.keys()
    assert [name for name in files if files[name] != other_files[name]] == []
    assert len(rows) == len(CLASS)
    assert any("bytes.csv" in name for name in files)
    assert [row[2] for row in rows].count(None) == len(CLASS) - 1, "one of them is late"


def test_other_settings_are_left_to_nbgrader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "")
    settings = Home(ROOT / "autograder").settings()
    assert can_store(settings)
    for part, name, value in (
        ("Autograde", "autograde_preprocessors", []),
        ("OverwriteCells", "add_missing_cells", True),
        ("CourseDirectory", "groupshared", True),
    ):
        other = deepcopy(settings)
        other[part][name] = value
        assert not can_store(other), name
