"""A small real class in real sandboxes: why a cell failed, all that led to points, who is alike."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path

import pytest

from autograder.classroom.sample import ADDED, Change, Example, student, zip_of
from autograder.cli import main
from autograder.labs.lab0.sample_class import FILES

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
