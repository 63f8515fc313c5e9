"""A release may hold one assignment or several, each from its day on."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from autograder.release.contents import _without_extensions, make_release
from autograder.release.held import held_labs, homes_of, only_labs
from lab_utils.kit.course import read_course
from lab_utils.kit.errors import LabError
from tests.support.sample_course import ROOT

NOW = datetime(2025, 3, 1, tzinfo=UTC)
FILE = ROOT / "setup" / "course.toml"


def test_what_is_not_open_is_left_out() -> None:
    course = read_course(FILE)
    first, second, *rest = course.labs
    later = NOW + timedelta(days=1)
    opens = {first: None, second: NOW, **dict.fromkeys(rest, later)}
    labs = {lab: replace(one, open=opens[lab]) for lab, one in course.labs.items()}
    course = replace(course, labs=labs)
    assert held_labs(course, (), NOW) == [first, second]
    assert held_labs(course, (), later) == list(course.labs)
    assert held_labs(course, [rest[0]], NOW) == [rest[0]], "who is named is held"
    with pytest.raises(LabError, match="there is no lab 'lab99'"):
        held_labs(course, ["lab99"], NOW)
    shut = replace(course, labs={rest[0]: labs[rest[0]]})
    with pytest.raises(LabError, match="no assignment is open yet: the first opens 2025-03-02"):
        held_labs(shut, (), NOW)


def test_the_course_file_of_a_release_names_no_other_assignment(tmp_path: Path) -> None:
    course = read_course(FILE)
    for lab in course.labs:
        text = only_labs(_without_extensions(FILE), course.labs.keys() - {lab})
        path = tmp_path / "course.toml"
        path.write_bytes(text)
        alone = read_course(path)
        assert list(alone.labs) == [lab]
        wanted = replace(course.lab(lab), extensions={}, builds_on=())
        assert alone.lab(lab) == wanted


def test_borrowed_notebooks_bring_the_code_that_they_need() -> None:
    course = read_course(FILE)
    borrowing = [
        lab for lab in course.labs.values() if any(n.home != lab.id for n in lab.notebooks)
    ]
    for lab in borrowing:
        homes = homes_of(replace(course, labs={lab.id: lab}))
        assert homes == {lab.id, *(note.home for note in lab.notebooks)}


@pytest.mark.slow
def test_a_release_of_one_assignment_has_nothing_of_the_others() -> None:
    course = read_course(FILE)
    first = next(iter(course.labs))
    files = make_release(labs=[first]).files
    rooms = {path.split("/")[1] for path in files if path.startswith("notebooks/")}
    assert rooms == {first, "START.ipynb"}
    code = {path.split("/")[2] for path in files if path.startswith("lab_utils/labs/")}
    assert not code & (course.labs.keys() - {first})
    assert first in code
