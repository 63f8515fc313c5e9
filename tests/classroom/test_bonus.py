"""A bonus counts, and nobody is graded "of" it: from the text of a notebook to every export."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.authoring.adapt import points_and_bonus
from autograder.authoring.build import build, register
from autograder.authoring.cells import SourceError, solved_notebook
from autograder.classroom.feedback import feedback_page
from autograder.classroom.gradebook import Book
from autograder.classroom.home import VARIABLE, Home
from autograder.classroom.report import report_page
from autograder.classroom.sheet import Score, Sheet
from autograder.classroom.tables import canvas_csv, grades_csv, gradescope_results
from lab_utils.kit.course import CourseError, read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.hand_in.report import Report
from lab_utils.kit.start import Page, standings
from tests.support.sample_course import HEADER, LAB, NOTEBOOK, make_course, write

SOURCE = f"""{HEADER}\
# %% test=t11_check points=3
assert True

# %% test=t12_check points=1 bonus
assert True
"""


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with one notebook of 3 points and a bonus of 1."""
    folder = make_course(tmp_path / "course", SOURCE)
    path = folder / "setup" / "course.toml"
    write(path, path.read_text().replace("points = 4", "points = 3, bonus = 1"))
    build(folder)
    return folder


def test_text_and_course_file_must_agree(course: Path) -> None:
    path = course / "setup" / "course.toml"
    text = path.read_text()
    lab = read_course(path).lab(LAB)
    assert (lab.points, lab.bonus) == (3, 1)
    write(path, text.replace("points = 3, bonus = 1", "points = 4"))
    with pytest.raises(LabError, match=r"worth 3 points together, but .* says 4"):
        build(course)
    write(path, text.replace("bonus = 1", "bonus = 2"))
    with pytest.raises(LabError, match=r"with `bonus` are worth 1 point together.* says bonus = 2"):
        build(course)
    write(path, text.replace("bonus = 1", "bonus = -1"))
    with pytest.raises(CourseError, match="cannot be less than 0"):
        read_course(path)


def test_only_what_is_graded_is_a_bonus() -> None:
    with pytest.raises(SourceError, match="a bonus belongs to a cell with"):
        solved_notebook(f"{HEADER}# %% readonly=intro bonus\n1\n", "x.py")
    with pytest.raises(SourceError, match="it may have"):
        solved_notebook(f"{HEADER}# %% test=t1 points=1 bonus=2\n1\n", "x.py")


def test_a_student_is_told_of_it(course: Path) -> None:
    released = course / "notebooks" / LAB / f"{NOTEBOOK}.ipynb"
    book = nbformat.read(released, as_version=4)
    assert points_and_bonus(book) == (3, 1)
    for cell in book.cells[:-1]:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="passed")]
            cell.execution_count = 1
    nbformat.write(book, released)
    about = read_course(course / "setup" / "course.toml")
    (standing,) = standings(about, course / "notebooks")
    assert not standing.notebooks[0].trouble
    words = Page(about, [standing])._repr_html_()
    assert "3 points and a bonus of 1" in words
    assert "4 of 3 (bonus: 1)" in words

    report = Report(possible=3, bonus=1, points=4, has_run=True)
    assert "Public checks: 4 of 3 points and a bonus of 1." in str(report)


def test_one_may_leave_a_bonus(course: Path) -> None:
    path = course / "notebooks" / LAB / f"{NOTEBOOK}.ipynb"
    book = nbformat.read(path, as_version=4)
    first, last = (c for c in book.cells if "nbgrader" in c.metadata)
    first.outputs, first.execution_count = [nbformat.v4.new_output("stream", text="passed")], 1
    last.outputs = [nbformat.v4.new_output("error", ename="E", evalue="", traceback=[])]
    last.execution_count = 2
    nbformat.write(book, path)
    (standing,) = standings(read_course(course / "setup" / "course.toml"), course / "notebooks")
    assert standing.is_done


def test_the_cells_of_the_gradebook_know_it(
    course: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, "")  # what a gradebook sets is gone when this is over
    home = Home(tmp_path / "home", course)
    home.path.mkdir()
    cells = Book(home, LAB).cells()
    assert [(cell.max_points, cell.is_bonus) for cell in cells] == [(3, False), (1, True)]
    # nbgrader's own gradebook knows no bonus: a cell is worth its points there, all of them.
    register(LAB, course, f"sqlite:///{tmp_path}/g.db")
    with Gradebook(f"sqlite:///{tmp_path}/g.db") as book:
        assert book.find_assignment(LAB).max_score == 4


@pytest.mark.parametrize(("bonus", "total"), [(1.0, "4"), (0.0, "3")])
def test_everything_that_leaves_says_of_three(course: Path, bonus: float, total: str) -> None:
    about = read_course(course / "setup" / "course.toml")
    lab = about.lab(LAB)
    scores = (
        Score("01_first", "t11_check", 3, 3),
        Score("01_first", "t12_check", bonus, 1, is_bonus=True),
    )
    sheet = Sheet("ada", "Ada Lovelace", scores=scores, folder=course)
    (row,) = csv.DictReader(io.StringIO(grades_csv([sheet])))
    assert (row["total"], row["out_of"]) == (total, "3")
    rows = list(csv.reader(io.StringIO(canvas_csv([sheet], lab, None))))
    assert [line[-1] for line in rows] == ["labS", "3", total]
    results = json.loads(gradescope_results(sheet))
    assert results["score"] == float(total)
    assert [test["name"].endswith("(bonus)") for test in results["tests"]] == [False, True]
    page = feedback_page(sheet, about, lab)
    assert f"{total} of 3 points" in page
    assert "(and a bonus of up to 1)" in page
    assert f"bonus: {bonus:g} of 1" in page
    assert 'style="width: 100%"' in page
    report = report_page([sheet], about, lab)
    assert '<b>1</b><span class="small soft">all points</span>' in report
    assert "(bonus)" in report
