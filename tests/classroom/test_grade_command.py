"""The sample class, graded in real sandboxes: the right grade for all, whoever else is there."""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.grading.verdict import load_verdict
from autograder.labs.lab4a.sample_class import CLASS, PLANTED, write_sample_class
from tests.classroom.test_stock_feedback import Loads
from tests.support.browser import Browser, browser, jupyter_server  # noqa: F401  (a fixture)
from tests.support.sample_course import ROOT

pytestmark = [pytest.mark.xdist_group("sample class"), pytest.mark.slow]

#: What each of them must get, and a word that the remarks must hold.
WANTED = {
    "aadams": (10, ""),
    "bbrandt": (10, ""),
    "cchen": (9.4, ""),
    "ddiaz": (7, ""),
    "eeklund": (8, ""),
    "ffischer": (9.25, "another file than the notebooks make"),
    "ggupta": (7, "Missing: 03_backward and 04_control."),
    "hhoang": (0, ""),
    "iito": (10, "2 uploads"),
    "jjansen": (9.25, ""),
    "kkim": (None, "cut off"),
    "mmoss": (9, "outside its folder"),
    "ooduya": (10, ""),
    "pperez": (10, ""),
    "ttran": (8, "ended its own process"),
    "wweiss": (0, "Nothing was handed in."),
}


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the outcomes, after the command has run."""
    folder = tmp_path_factory.mktemp("graded")
    source, home = folder / "in", folder / "home"
    write_sample_class(source)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRADER_HOME", "")
        assert main([*_command(source, home), "--jobs", "2"]) == 0
        yield home


def _command(source: Path, home: Path) -> list[str]:
    return [
        *("grade", "lab4a", "--from", str(source), "--into", str(home)),
        *("--roster", str(source / "students.csv")),
    ]


def _rows(home: Path) -> dict[str, dict[str, str]]:
    with (home / "grades/lab4a/grades.csv").open(encoding="utf-8", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def test_the_sample_class_is_the_same_to_the_byte(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_sample_class(tmp_path / name)
    one, two = (
        {p.name: (p.read_bytes(), p.stat().st_mtime) for p in (tmp_path / n).rglob("*.zip")}
        for n in ("one", "two")
    )
    assert one == two
    assert len(one) == len(CLASS)


def test_everybody_has_the_right_grade_among_broken_and_hostile_ones(graded: Path) -> None:
    rows = _rows(graded)
    totals = {student: row["total"] for student, row in rows.items()}
    assert {student: float(total) if total else None for student, total in totals.items()} == {
        student: points for student, (points, _) in WANTED.items()
    }
    for student, (_, word) in WANTED.items():
        assert word in rows[student]["remarks"], rows[student]
    late = {student for student, row in rows.items() if row["late"] == "yes"}
    assert late == {"eeklund", "ggupta"}


def test_what_a_hostile_student_planted_is_text(graded: Path) -> None:
    page = (graded / "grades/lab4a/feedback/mmoss.html").read_text(encoding="utf-8")
    report = (graded / "grades/lab4a/report.html").read_text(encoding="utf-8")
    assert PLANTED not in page + report
    assert "&lt;script&gt;document.title" in page


def test_feedback_teaches_and_keeps_hidden_things_hidden(graded: Path) -> None:
    page = (graded / "grades/lab4a/feedback/ddiaz.html").read_text(encoding="utf-8")
    assert "still reads" in page
    assert "Memory held at each step" in page
    secret = _names("autograder/labs/lab4a/hidden_cases.json") - _names(
        "lab_utils/labs/lab4a/cases"
    )
    assert len(secret) > 50
    for path in (graded / "grades/lab4a/feedback").glob("*.html"):
        page = path.read_text(encoding="utf-8")
        assert not secret & set(re.findall(r"\w+", page))
        # A file that a hostile student handed in is called so.
        assert "autograder" not in page.replace("autograder/labs/lab4a/hidden.py", "")
        assert "Traceback" not in page


def _names(where: str) -> set[str]:
    """Names of nodes in all .dot texts, in a file or in a folder's files; plain words left out."""
    path = ROOT / where
    texts = [p.read_text(encoding="utf-8") for p in (path.iterdir() if path.is_dir() else [path])]
    found = {name for text in texts for name in re.findall(r"(\w+) \[label=", text)}
    return {name for name in found if "_" in name}


def test_the_report_shows_the_class(graded: Path) -> None:
    page = (graded / "grades/lab4a/report.html").read_text(encoding="utf-8")
    for words in ("Students by points", "Points by task", "still held in the step", "Mallory Moss"):
        assert words in page
    verdict = load_verdict(graded, "lab4a", "aadams")
    assert verdict is not None
    assert f"<strong>{verdict.isolation}</strong>" in page


def test_again_for_one_student_gives_the_same_to_the_byte(graded: Path) -> None:
    table = graded / "grades/lab4a/grades.csv"
    before = table.read_bytes()
    source = graded.parent / "in"
    assert main([*_command(source, graded), "--only", "Dave Diaz", "--again"]) == 0
    assert table.read_bytes() == before


def test_nbgraders_feedback_hides_hidden_tests(graded: Path) -> None:
    _nbgrader(graded, "generate_feedback", "lab4a", "--student", "ddiaz")
    pages = sorted((graded / "feedback/ddiaz/lab4a").glob("*.html"))
    assert len(pages) == 4
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert "HIDDEN TESTS" not in text
        read = Loads()
        read.feed(text)
        assert read.found == []
        assert "a picture that is not shown" not in text
        assert "autograder.labs.lab4a" not in text
    assert "(Score: 0.0 / 2.0)" in pages[2].read_text(encoding="utf-8")


def test_nbgraders_own_autograde_finds_what_was_judged(graded: Path) -> None:
    before = load_verdict(graded, "lab4a", "cchen")
    _nbgrader(graded, "autograde", "lab4a", "--student", "cchen", "--force")
    assert load_verdict(graded, "lab4a", "cchen") == before
    _nbgrader(graded, "export", "--to", str(graded / "stock.csv"))
    with (graded / "stock.csv").open() as file:
        stock = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    # nbgrader knows no difference between what cannot be read and nothing.
    assert stock == {student: float(row["total"] or 0) for student, row in _rows(graded).items()}


def _nbgrader(home: Path, *arguments: str) -> None:
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(home / "no-settings")}
    environment.pop("AUTOGRADER_HOME", None)
    command = [sys.executable, "-m", "nbgrader", *arguments]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.needs_chromium
def test_formgrader_opens_in_a_browser(graded: Path, browser: Browser) -> None:  # noqa: F811
    extension = "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}"
    with jupyter_server(graded, extension) as (url, token):
        browser.open(f"{url}lab?token={token}")  # which gives the cookie
        browser.open(f"{url}formgrader/gradebook/lab4a")
        browser.wait(
            "return document.body.innerText.includes('01_profiler')", "the notebooks of the lab"
        )
        browser.open(f"{url}formgrader/gradebook/lab4a/03_backward")
        first = "[...document.querySelectorAll('td a')].find(a => a.href.includes('submissions'))"
        browser.wait(f"return {first}", "a submission")
        browser.screenshot("formgrader submissions")
        address = browser.js(f"return {first}.href")
        browser.open(address)
        browser.wait("return document.body.innerText.includes('rewire_backward')", "a notebook")
        browser.wait("return document.querySelector('.score')", "a field for points")
        browser.screenshot("formgrader submission")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lab9", "--sample"], "lab9 has no sample class"),
        (["lab4a", "--from", "nowhere"], "nowhere is not there"),
        (["lab4a", "--from", "."], "no zip was found in"),
        (["lab4a", "--from", ".", "--roster", "nobody.csv"], "cannot read the class list"),
        (["lab0", "--from", "~/hand_ins"], "/nowhere/ada/hand_ins is not there"),
        (["lab0", "--from", ".", "--workers", "2"], "--engine slurm, not for --engine local"),
        (["lab0", "--from", ".", "--slice-size", "9"], "--slice-size is for --engine slurm, not"),
        (["lab0", "--from", ".", "--engine", "dask", "--jobs", "2"], "--jobs is for --engine"),
    ],
)
def test_a_users_mistake_is_one_line(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AUTOGRADER_HOME", "")
    monkeypatch.setenv("HOME", "/nowhere/ada")
    assert main(["grade", *arguments, "--into", str(tmp_path / "home")]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert told.count("\n") == 1
