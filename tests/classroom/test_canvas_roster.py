"""An export of Canvas' gradebook is a class list, and its ids go back to it as they were."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.classroom.sheet import Score, Sheet
from autograder.classroom.tables import canvas_csv
from autograder.collect import read_roster
from autograder.collect.names import Names
from lab_utils.kit.course import Assignment, CourseError, read_course
from tests.support.sample_course import COURSE

EXPORT = """\
Student,ID,SIS User ID,SIS Login ID,Section,Lab 1 (4711),Final Score
,,,,,Manual Posting,
    Points Possible,,,,,10,(read only)
"Lovelace, Ada",1001,903000001,alovelace3,HML-A,,97
"Müller, Ünal",1002,903000002,umueller9,HML-B,,
"Student, Test",1999,,,HML-A,,
"""


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "export.csv"
    path.write_text(EXPORT, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("login", "is_there"), [("", False), ("0123456789abcdef" * 2, False), ("tstudent3", True)]
)
def test_the_test_student_of_canvas_is_nobody(export: Path, login: str, is_there: bool) -> None:
    export.write_text(EXPORT.replace('Test",1999,,,', f'Test",1999,,{login},'), encoding="utf-8")
    assert ("Test Student" in [student.name for student in read_roster(export)]) is is_there


def test_ids_are_kept_apart(export: Path) -> None:
    ada, unal = read_roster(export)
    assert (ada.id, ada.name) == ("alovelace3", "Ada Lovelace")
    assert ada.canvas
    assert (ada.canvas.number, ada.canvas.sis_user, ada.canvas.section) == (
        "1001",
        "903000001",
        "HML-A",
    )
    names = Names(read_roster(export), ())
    assert names.match("muellerunal", "1002").students == (unal,), "Canvas' number says it"


def test_grades_go_back_with_the_ids_and_the_column_of_canvas(export: Path) -> None:
    lab = Assignment("one", "One", "lab1", (), canvas="Lab 1 (4711)")
    sheets = [Sheet("alovelace3", "Ada Lovelace", scores=(Score("01", "t", 7.5, 10),))]
    rows = list(csv.reader(canvas_csv(sheets, lab, read_roster(export)).splitlines()))
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Lab 1 (4711)"],
        ["    Points Possible", "", "", "", "", "10"],
        ["Lovelace, Ada", "1001", "903000001", "alovelace3", "HML-A", "7.5"],
    ]
    plain = canvas_csv(sheets, replace(lab, canvas=""), None).splitlines()[0]
    assert plain == "Student,ID,SIS Login ID,Section,lab1"


def test_a_plain_list_is_read_as_before(tmp_path: Path) -> None:
    path = tmp_path / "students.csv"
    path.write_text("id,first_name,last_name,email\njdoe3,Jane,Doe,j@x.example\n")
    (jane,) = read_roster(path)
    assert (jane.id, jane.canvas) == ("jdoe3", None)


def test_a_column_of_another_form_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "course.toml"
    path.write_text(COURSE.replace('label = "labS"', 'label = "labS"\ncanvas = "Lab 1"'))
    with pytest.raises(CourseError, match=r"course.toml:\d+: .*Lab 1 \(12345\)"):
        read_course(path)
