"""A class is graded: resumed after any end, the same twice, and told to everybody."""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode
from nbgrader.api import Gradebook

from autograder.classroom.grade import Order, Outcome, grade_class
from autograder.classroom.gradebook import Book
from autograder.classroom.home import Home
from autograder.grading import code
from autograder.grading.code import code_files
from autograder.grading.plan import read_plan
from autograder.grading.sandbox import Isolation
from lab_utils.kit.errors import LabError
from tests.support.collect_class import ANSWERS, CLASS, FIRST, put, zip_of
from tests.support.sample_course import LAB, ROOT, fill, folder_of
from tests.support.stand_in import stand_in, stand_in_course

pytestmark = pytest.mark.usefixtures("own_settings")
WRONG = {"t11": "def doubled(x):\n    return 'wrong'"}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stand_in_course(tmp_path_factory.mktemp("course"))


@pytest.fixture
def own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run tells nbgrader through the environment ends with the test."""
    monkeypatch.setenv("AUTOGRADER_HOME", "")


@pytest.fixture(scope="module")
def hand_in(course: Path) -> Callable[..., bytes]:
    """A zip of a student, whose answers may be other ones."""
    released = folder_of(course / "notebooks", LAB)

    def zipped(answers: dict[str, str] | None = None, leave_out: str = "") -> bytes:
        filled: dict[str, NotebookNode] = {
            f"{name}.ipynb": fill(notebook, {**ANSWERS, **(answers or {})})
            for name, notebook in released.items()
            if name != leave_out
        }
        return zip_of(filled)

    return zipped


@pytest.fixture
def the_class(tmp_path: Path, hand_in: Callable[..., bytes]) -> Path:
    """Right, wrong, late with a notebook missing, and broken; one hands in nothing."""
    files = {
        "doejane_11_101_Doe Jane lab.zip": hand_in(),
        "Zoë García Márquez.zip": hand_in(WRONG),
        "oneilliam_LATE_13_103_lab.zip": hand_in(leave_out=FIRST),
        "zhangwei_14_104_lab.zip": hand_in()[:700],
    }
    return put(tmp_path / "in", files)


class Run:
    """Grades the class in a folder; remembers whom the stand-in was shown."""

    def __init__(self, course: Path, source: Path, home: Path) -> None:
        self.home, self.source, self.course = home, source, course
        self.examined: list[str] = []

    def __call__(self, **options: Any) -> Outcome:
        order = Order(LAB, self.source, Home(self.home, self.course), CLASS, **options)

        @contextmanager
        def watched(order: Order) -> Any:
            with stand_in(order) as examiner:
                yield examiner
                self.examined = sorted(examiner.examined)

        self.examined = []
        return grade_class(order, watched)

    @property
    def grades(self) -> Path:
        return self.home / "grades" / LAB

    def rows(self) -> dict[str, dict[str, str]]:
        with (self.grades / "grades.csv").open(encoding="utf-8", newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}


@pytest.fixture(scope="module")
def fresh_home(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Path]:
    """Makes a home with an empty gradebook; nbgrader takes seconds to make the first."""
    made = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRADER_HOME", "")
        Book(Home(made, course), LAB).prepare(None)
    return lambda path: shutil.copytree(made, path)


@pytest.fixture
def run(course: Path, the_class: Path, tmp_path: Path, fresh_home: Callable[[Path], Path]) -> Run:
    return Run(course, the_class, fresh_home(tmp_path / "home"))


def test_everybody_has_a_row_with_points_and_remarks(run: Run) -> None:
    run()
    rows = run.rows()
    assert list(rows) == sorted(student.id for student in CLASS)
    jane, zoe, liam = (rows[student] for student in ("jdoe3", "zgarcia7", "loneil1"))
    assert [jane[task] for task in ("1.1", "1.2", "q1", "q2", "2.1", "2.2")] == [
        "2",
        "3",
        "",
        "",
        "1",
        "1",
    ]
    assert (jane["total"], jane["out_of"], jane["late"]) == ("7", "9", "no")
    assert "Still to be graded by hand: q1, q2." in jane["remarks"]
    assert (zoe["1.1"], zoe["total"]) == ("0", "5")
    assert (liam["late"], liam["total"]) == ("yes", "2")
    assert "Missing: 01_first." in liam["remarks"]
    assert "cut off" in rows["wzhang9"]["remarks"]
    assert (rows["wzhang9"]["total"], rows["mstone2"]["total"]) == ("", "0")
    assert "Nothing was handed in." in rows["mstone2"]["remarks"]


def test_the_gradebook_has_points_and_names(run: Run) -> None:
    run()
    with Gradebook(f"sqlite:///{run.home}/gradebook.db") as book:
        assert book.find_submission(LAB, "jdoe3").score == 7
        assert book.find_submission(LAB, "zgarcia7").score == 5
        assert book.find_student("zgarcia7").last_name == "García Márquez"


def test_points_given_by_hand_arrive_in_all_tables(run: Run) -> None:
    run()
    with Gradebook(f"sqlite:///{run.home}/gradebook.db") as book:
        for cell, points in (("q1", 0.5), ("q2", 1.0)):
            grade = book.find_grade(cell, FIRST, LAB, "jdoe3")
            grade.manual_score, grade.needs_manual_grade = points, False
        book.find_comment("q1", FIRST, LAB, "jdoe3").manual_comment = "Well <i>put</i>."
        book.db.commit()
    run()
    assert run.examined == []
    jane = run.rows()["jdoe3"]
    assert (jane["q1"], jane["q2"], jane["total"]) == ("0.5", "1", "8.5")
    assert "Well &lt;i&gt;put&lt;/i&gt;." in (run.grades / "feedback" / "jdoe3.html").read_text()
    assert "8.5" in (run.grades / "canvas.csv").read_text()


def test_twice_is_the_same_to_the_byte_and_grades_nobody_again(run: Run) -> None:
    run()
    assert run.examined == ["jdoe3", "loneil1", "zgarcia7"]
    first = (run.grades / "grades.csv").read_bytes()
    run()
    assert run.examined == []
    assert (run.grades / "grades.csv").read_bytes() == first
    run(again=True)
    assert run.examined == ["jdoe3", "loneil1", "zgarcia7"]
    assert (run.grades / "grades.csv").read_bytes() == first


def test_one_student_alone_and_who_was_not_meant(run: Run) -> None:
    run(only=("Jane Doe",))
    assert run.examined == ["jdoe3"]
    assert "Not graded yet." in run.rows()["zgarcia7"]["remarks"]
    run(only=("zgarcia7", "jdoe3"))
    assert run.examined == ["zgarcia7"]
    run(only=("jdoe3",), again=True)
    assert run.examined == ["jdoe3"]
    with pytest.raises(LabError, match=r"nobody called 'jane dow' .* did you mean jane doe"):
        run(only=("jane dow",))


def test_what_was_graded_with_less_isolation_than_required_is_graded_anew(run: Run) -> None:
    run(only=("jdoe3",))
    run(only=("jdoe3",), require=Isolation.LIMITS)
    assert run.examined == ["jdoe3"]


def test_a_newer_upload_is_graded_anew_and_nobody_else(
    run: Run, hand_in: Callable[..., bytes]
) -> None:
    run()
    newer = {"doejane_11_201_Doe Jane lab-1.zip": hand_in(WRONG)}
    put(run.source, newer, 1_800_000_000)
    run()
    assert run.examined == ["jdoe3"]
    row = run.rows()["jdoe3"]
    assert row["total"] == "5"
    assert "2 uploads" in row["remarks"]


def test_other_tests_grade_everybody_anew(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run()
    run()
    assert run.examined == []
    monkeypatch.setattr("autograder.grading.plan.code_digest", lambda labs: "of other judges")
    run()
    assert len(run.examined) == 3


def test_a_grade_depends_on_the_code_and_cases_of_its_own_labs() -> None:
    files = {path.relative_to(ROOT).as_posix() for path in code_files(["lab0"])}
    assert {"lab_utils/labs/lab0/judge.py", "lab_utils/kit/ask.py"} <= files
    assert "autograder/grading/judge/ruling.py" in files
    assert not any("lab4a" in file or "steps/" in file for file in files)
    borrowing = read_plan("project", ROOT / "solutions" / "project")
    assert set(borrowing.labs) == {"lab4a", "project"}
    files = {path.relative_to(ROOT).as_posix() for path in code_files(borrowing.labs)}
    assert {"lab_utils/labs/lab4a/judge/rewire.py", "lab_utils/steps/memory.py"} <= files


def test_a_hidden_case_of_a_borrowed_lab_grades_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("lab_utils", "autograder"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    monkeypatch.setattr(code, "ROOT", tmp_path)
    digest = code.code_digest.__wrapped__
    before = digest(("lab4a", "project"))
    assert digest(("lab4a", "project")) == before
    cases = tmp_path / "autograder" / "labs" / "lab4a" / "hidden_cases.json"
    cases.write_text(cases.read_text() + "\n")
    assert digest(("lab4a", "project")) != before


def test_a_submission_that_nbgrader_refuses_stops_nobody(run: Run) -> None:
    run(only=("jdoe3",))
    path = run.home / "submitted" / "zgarcia7" / LAB / f"{FIRST}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[-1].metadata.nbgrader.schema_version = 99
    path.write_text(nbformat.writes(notebook))
    run()
    rows = run.rows()
    assert "nbgrader could not grade it" in rows["zgarcia7"]["remarks"]
    assert rows["zgarcia7"]["total"] == ""
    assert rows["loneil1"]["total"] == "2"


def test_exports_have_the_form_that_canvas_and_gradescope_read(run: Run) -> None:
    run()
    with (run.grades / "canvas.csv").open(encoding="utf-8", newline="") as file:
        head, possible, *rows = csv.reader(file)
    assert head == ["Student", "ID", "SIS Login ID", "Section", "labS"]
    assert (possible[0].strip(), possible[4]) == ("Points Possible", "9")
    liam = next(row for row in rows if row[2] == "loneil1")
    assert (liam[0], liam[1], liam[4]) == ("O'Neil, Liam", "13", "2")
    assert "jdoe3" not in [row[2] for row in rows], "its essays are still to be read"
    results = json.loads((run.grades / "gradescope" / "zgarcia7" / "results.json").read_text())
    assert results["score"] == sum(test["score"] for test in results["tests"]) == 5
    first = results["tests"][0]
    assert (first["score"], first["max_score"], first["status"]) == (0, 2, "failed")
    assert "look  : Do not write it." in first["output"]


def test_pages_show_students_text_as_text_and_load_nothing(run: Run) -> None:
    run()
    for path in (run.grades / "feedback" / "zgarcia7.html", run.grades / "report.html"):
        page = path.read_text(encoding="utf-8")
        assert "&lt;b&gt;wrong&lt;/b&gt;" in page
        assert "<b>wrong" not in page
        assert "<script" not in page
        assert "http://" not in page.replace("http://www.w3.org", "")
        assert "https://" not in page
    page = (run.grades / "feedback" / "zgarcia7.html").read_text(encoding="utf-8")
    assert "Do not write it." in page
    assert "Right on 0 of 1 public graph and on 1 of 1 hidden graph." in page
    assert 'aria-label="Bytes held at each step, on a small graph' in page


def test_nbgraders_own_commands_work_in_the_folder(run: Run) -> None:
    run()
    assert "wrote" not in nbgrader(run.home, "autograde", LAB, "--force")
    with Gradebook(f"sqlite:///{run.home}/gradebook.db") as book:
        assert book.find_submission(LAB, "jdoe3").score == 7
    nbgrader(run.home, "export", "--to", str(run.home / "stock.csv"))
    with (run.home / "stock.csv").open() as file:
        stock = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    # nbgrader knows no difference between what cannot be read and nothing.
    assert stock == {student: float(row["total"] or 0) for student, row in run.rows().items()}


def nbgrader(home: Path, *arguments: str) -> str:
    elsewhere = str(home / "no-settings")
    settings = {"PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": elsewhere, "IPYTHONDIR": elsewhere}
    command = [sys.executable, "-m", "nbgrader", *arguments]
    environment = {**os.environ, **settings}
    del environment["AUTOGRADER_HOME"]
    done = subprocess.run(command, cwd=home, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_killed_at_random_moments_it_goes_on_and_ends_the_same(
    course: Path, hand_in: Callable[..., bytes], tmp_path: Path, fresh_home: Callable[[Path], Path]
) -> None:
    """What was graded when it was killed is not graded again."""
    answers = {"Jane Doe": {}, "Zoe Garcia Marquez": WRONG, "Liam ONeil": {}, "Wei Zhang": WRONG}
    zips = {f"{name}.zip": hand_in(wrong) for name, wrong in answers.items()}
    source = put(tmp_path / "in", zips)
    wanted = Run(course, source, fresh_home(tmp_path / "undisturbed"))
    started = time.monotonic()
    wanted()
    took = time.monotonic() - started
    killed = Run(course, source, fresh_home(tmp_path / "killed"))
    noted = killed.grades / "graded"
    chance = random.Random(os.environ.get("KILL_SEED"))
    for _ in range(5):
        before = {path.name: path.read_bytes() for path in noted.glob("*.json")}
        process = get_context("fork").Process(target=killed)
        process.start()
        process.join(chance.uniform(0, 0.6 * took))
        process.kill()
        process.join()
        after = {path.name: path.read_bytes() for path in noted.glob("*.json")}
        assert before.items() <= after.items()
    killed()
    assert set(killed.examined) == {"jdoe3", "zgarcia7", "loneil1", "wzhang9"} - {
        Path(name).stem for name in after
    }
    assert _grades(killed) == _grades(wanted)


def _grades(run: Run) -> tuple[bytes, dict[str, float]]:
    with Gradebook(f"sqlite:///{run.home}/gradebook.db") as book:
        points = {one.student.id: one.score for one in book.assignment_submissions(LAB)}
    return (run.grades / "grades.csv").read_bytes(), points
