"""The course file: what it says about this course, and what it says when it is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab_utils.course import CourseError, read_course
from tests.sample_course import COURSE, LAB


def test_our_course_file_names_the_hand_in() -> None:
    course = read_course()
    for lab in course.labs.values():
        name = course.zip_file_name(lab.id, first="Ada", last="Lovelace")
        assert name == f"Lovelace Ada {course.name} {course.term} {lab.label}.zip"


def test_an_unknown_lab_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    path = tmp_path / "course.toml"
    path.write_text(COURSE)
    with pytest.raises(CourseError, match=rf"no lab 'lab9'.*{LAB}"):
        read_course(path).zip_file_name("lab9", first="Ada", last="Lovelace")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("[course]", "[curse]", "lacks a table, as in [course]"),
        ('term = "fa00"', "", "[course] lacks a text, as in term = "),
        ('term = "fa00"', "term = 2025", "[course] has term = 2025, but needs a text"),
        ("{last}", "{surname}", "may hold only {first}, {last}"),
        ("{last}", "{", "must end in .zip"),
        (".zip", ".tar", "must end in .zip"),
        (f"labs.{LAB}", "labs.Lab_4", "[labs.Lab_4] must be named with a-z"),
        ("notebooks", "notebook", f"[labs.{LAB}] lacks a list, as in notebooks = "),
        ("points = 7", "points = true", "needs a number, as in points = 4"),
        ('"01_first"', '"first"', "must look like 01_profiler"),
        ("notebooks = [", 'notebooks = ["02_second", ', "holds '02_second'; write { name"),
        ("points = 7 }", 'points = 7 }, { name = "01_first", points = 1 }', "01_first twice"),
        ("[course]", "[course", "is not TOML: "),
    ],
)
def test_a_mistake_is_one_line_that_names_file_and_entry(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in COURSE
    path = tmp_path / "course.toml"
    path.write_text(COURSE.replace(old, new))
    with pytest.raises(CourseError, match=re.escape(words)) as caught:
        read_course(path)
    (line,) = str(caught.value).splitlines()
    assert str(path) in line


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="nowhere.toml: No such file"):
        read_course(tmp_path / "nowhere.toml")
