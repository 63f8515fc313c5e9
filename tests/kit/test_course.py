"""The course file: what it says about this course, and what it says when it is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lab_utils.kit.course import CourseError, read_course
from lab_utils.kit.root import ROOT
from tests.support.sample_course import COURSE, LAB, NOTEBOOK


def test_our_course_file_names_the_hand_in() -> None:
    course = read_course()
    for lab in course.labs.values():
        name = course.zip_file_name(lab.id, first="Ada", last="Lovelace")
        assert name == f"Lovelace Ada {course.name} {course.term} {lab.label}.zip"


def test_our_course_file_says_all_that_the_start_page_tells() -> None:
    for lab in read_course().labs.values():
        assert lab.about.endswith("."), lab.id
        assert all(notebook.minutes for notebook in lab.notebooks), lab.id
        assert lab.minutes == sum(notebook.minutes for notebook in lab.notebooks)
        for notebook in lab.notebooks:
            assert (ROOT / "solutions" / f"{notebook.source}.py").is_file(), notebook


def test_minutes_are_those_that_the_source_promises() -> None:
    for lab in read_course().labs.values():
        for notebook in lab.notebooks:
            source = (ROOT / "solutions" / f"{notebook.source}.py").read_text()
            found = re.search(r"points?, about (\d+) (hour|minute)", source)
            if found and not notebook.until:
                promised = int(found[1]) * (60 if found[2] == "hour" else 1)
                assert notebook.minutes == promised, f"{lab.id}/{notebook.name}"


def test_a_source_is_ones_own_or_borrowed() -> None:
    (own, borrowed) = read_course().lab("project").notebooks[1::-1]
    assert (own.source, own.home) == ("project/05_selection", "project")
    assert (borrowed.source, borrowed.home) == ("lab4a/01_profiler", "lab4a")


def test_the_order_of_the_file_is_that_of_the_course(tmp_path: Path) -> None:
    path = tmp_path / "course.toml"
    path.write_text(LONG)
    course = read_course(path)
    assert list(course.labs) == [LAB, "other"]
    assert course.lab("other").builds_on == (LAB,)
    first, second = course.lab(LAB).notebooks
    assert (first.minutes, second.minutes, course.lab(LAB).minutes) == (20, 0, 20)


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
        ("notebooks = ", "", "is not TOML: "),
        ("notebooks", "notebook", f"[labs.{LAB}] has notebook, but may hold only title, "),
        ("name = ", "nmae = ", "[course] has nmae, but may hold only name, term"),
        ("points = 7", "points = true", "needs a number, as in points = 4"),
        ('"01_first"', '"first"', "must look like 01_profiler"),
        ("notebooks = [", 'notebooks = ["02_second", ', "holds '02_second'; write { name"),
        ("points = 7 }", 'points = 7 }, { name = "01_first", points = 1 }', "01_first twice"),
        ("points = 7", "points = 7, worth = 7", "has worth, but may hold only name, points"),
        ("points = 7", 'points = 7, minutes = "90"', "needs a whole number, as in minutes = 90"),
        ("points = 7", "points = 7, minutes = 1.5", "needs a whole number, as in minutes = 90"),
        ("points = 7", "points = 7, minutes = 0", "minutes = 0 must be a whole number above 0"),
        ("points = 7", 'points = 7, source = "01_first"', "is called mine/01_profiler"),
        ("points = 7", 'points = 7, source = "../x/01_first"', "is called mine/01_profiler"),
        ("points = 7", 'points = 7, source = "x/01_first.py"', "is called mine/01_profiler"),
        ('label = "labS"', 'label = "labS"\nabout = 7', "has about = 7, but needs a text"),
        ('label = "labS"', 'label = "labS"\nbuilds_on = ["lab0"]', "write no other: it is the"),
        ('label = "labS"', f'label = "labS"\nbuilds_on = ["{LAB}"]', "only on labs above it"),
        ("[course]", "[course", "is not TOML: "),
        ("{last}", "a/{last}", "must end in .zip"),
        ('label = "labS"', 'label = "labS"\ndue = "soon"', "has due = 'soon', but needs a moment"),
        ('label = "labS"', 'label = "labS"\ndue = 2025-04-11', "needs a moment, as in due = 2025"),
        ('label = "labS"', 'label = "S"\ndue = 2025-04-11T23:59:00', "needs its distance to UTC"),
        ('term = "fa00"', 'term = "fa00"\nsample = "other"', "sample = 'other' is no assignment"),
        ("points = 7 }]", f"points = 7 }}]\n[labs.{LAB}.extensions]\nAda = 7", "has Ada = 7, but"),
        ('term = "fa00"', 'term = "fa00"\nshare = "here"', "share = 'here' must be a whole path"),
        ('term = "fa00"', 'term = "fa00"\nrelease_url = "x.zip"', "must look like https://"),
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


LONG = f"""# a comment, then a value over several lines
{COURSE.replace(f'[{{ name = "{NOTEBOOK}", points = 7 }}]', "[")}
    {{ name = "01_first", points = 3, minutes = 20 }},
    # in between
    {{ name = "02_second", points = 4 }},
]
due = 2025-04-11T23:59:00-04:00
about = "It is about something."

[labs.{LAB}.extensions]
"Lovelace, Ada" = 2025-04-14T23:59:00-04:00
student-7 = 2025-04-15T23:59:00-04:00

[labs.other]
title = "Another"
label = "labT"
builds_on = ["{LAB}"]
notebooks = []
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('term = "fa00"', "term = 7"),
        ("{last}", "{surname}"),
        ('name = "01_first"', 'name = "first"'),
        ("points = 4", 'points = "four"'),
        ('{ name = "02_second", points = 4 }', "4"),
        ("minutes = 20", "minutes = -20"),
        ('"It is about something."', "7"),
        (f'builds_on = ["{LAB}"]', 'builds_on = ["lab0"]'),
        (f'builds_on = ["{LAB}"]', "builds_on = [7]"),
        # which builds on this one: a circle
        ('about = "It is about something."', 'builds_on = ["other"]'),
        ("2025-04-11T23:59:00-04:00", "2025-04-11"),
        ("student-7 = 2025-04-15T23:59:00-04:00", "student-7 = 15"),
        ('title = "Another"', "title = []"),
        ('label = "labT"', 'lable = "labT"'),
        ("[labs.other]", "[labs.Other]"),
        ('title = "Another"', "[labs.other.extensions]"),  # the title is missing from [labs.other]
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, old: str, new: str) -> None:
    path = tmp_path / "course.toml"
    path.write_text(LONG)
    read_course(path)
    assert LONG.count(old) == 1
    before, _, _ = LONG.partition(old)
    path.write_text(LONG.replace(old, new))
    with pytest.raises(CourseError) as caught:
        read_course(path)
    line = before.count("\n") + 1
    if new.endswith("extensions]"):
        line -= 1
    assert str(caught.value).startswith(f"{path}:{line}: ")


def test_a_due_date_has_exceptions_by_name_or_id(tmp_path: Path) -> None:
    path = tmp_path / "course.toml"
    path.write_text(LONG)
    lab = read_course(path).lab(LAB)
    days = {
        name: moment.day
        for name in ("Lovelace Ada", "ada lovelace", "student-7", "student-8", "Ada", "")
        if (moment := lab.due_for("nobody", name))
    }
    assert days == {
        "Lovelace Ada": 14,
        "ada lovelace": 14,
        "student-7": 15,
        "student-8": 11,
        "Ada": 11,
        "": 11,
    }
    assert read_course(path).lab("other").due_for("Ada") is None


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="nowhere.toml: No such file"):
        read_course(tmp_path / "nowhere.toml")
