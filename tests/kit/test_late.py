"""The policy for late work: how many days, what they cost, and how the course file says it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab_utils.kit.course import CourseError, read_course
from lab_utils.kit.course.late import DAY, LatePolicy

DUE = datetime(2025, 4, 11, 23, 59, tzinfo=UTC)
COURSE = """
[course]
name = "C"
term = "T"
zip_name = "x.zip"
[late]
grace_minutes = 30
percent_per_day = 10
late_days = 2
{course}
[labs.one]
title = "1"
label = "1"
notebooks = []
[labs.one.late]
{lab}
[labs.two]
title = "2"
label = "2"
notebooks = []
"""


@given(st.integers(0, 20 * 24 * 60), st.integers(0, 600))
def test_days_are_counted_as_one_would_by_hand(minutes: int, grace: int) -> None:
    policy = LatePolicy(timedelta(minutes=grace), 10, cap=35)
    days = policy.days(DUE + timedelta(minutes=minutes), DUE)
    begun = sum(DUE + n * DAY < DUE + timedelta(minutes=minutes) for n in range(21))
    assert days == (begun if minutes > grace else 0)
    assert policy.percent(days) == min(35, 10 * days)


def test_a_lab_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "course.toml"
    path.write_text(COURSE.format(course="cap_percent = 40", lab="grace_minutes = 0"))
    course = read_course(path)
    half = timedelta(minutes=30)
    assert course.lab("two").late == LatePolicy(half, 10, 2, 40)
    assert course.lab("one").late == LatePolicy(timedelta(0), 10, 2, 40)


@pytest.mark.parametrize(
    ("course", "lab", "message"),
    [
        ("cap_percent = 140", "", "course.toml:10: .*must be from 0 to 100"),
        ("grace = 3", "", "course.toml:10: .*may hold only grace_minutes"),
        ("", "late_days = 3", "course.toml:16: .*may hold only"),
        ("", "percent_per_day = -1", "course.toml:16: .*must be from 0 to 100"),
    ],
)
def test_a_bad_policy_is_told_with_its_line(
    tmp_path: Path, course: str, lab: str, message: str
) -> None:
    path = tmp_path / "course.toml"
    path.write_text(COURSE.format(course=course, lab=lab))
    with pytest.raises(CourseError, match=message):
        read_course(path)
