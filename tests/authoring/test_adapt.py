"""A notebook that one lab borrows from another: its points, its end, and its pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.authoring.build import derive
from lab_utils.kit.course import CourseError, read_course
from lab_utils.kit.errors import LabError
from tests.support.sample_course import (
    HEADER,
    LAB,
    NOTEBOOK,
    make_course,
    write,
)

SOURCE = f"{LAB}/{NOTEBOOK}"
TEST = """\
# %% [markdown]
# # A sample

# %% test=first points=2
check = lambda task, answer: 2 * answer
### BEGIN HIDDEN TESTS
check = lambda task, answer: 2.0 * answer
### END HIDDEN TESTS
check("1.1", 0.5)

# %% [markdown] readonly=later
# ## Later

# %% test=second points=6
### BEGIN HIDDEN TESTS
check = lambda task, answer: 6.0 * answer
### END HIDDEN TESTS
check("1.2", 1)
"""


def borrowing(folder: Path, entry: str, source: str = HEADER + TEST) -> Path:
    course = make_course(folder, source)
    lab = f'\n[labs.other]\ntitle = "Other"\nlabel = "labO"\nnotebooks = [{entry}]\n'
    path = course / "setup" / "course.toml"
    write(path, path.read_text() + lab)
    return course


def cells(course: Path, path: str) -> list[dict[str, Any]]:
    return json.loads(derive(course)[path])["cells"]


def points(course: Path, lab: str, name: str) -> dict[str, float]:
    gradings = [
        c["metadata"].get("nbgrader", {}) for c in cells(course, f"solutions/{lab}/{name}.ipynb")
    ]
    return {g["grade_id"]: g["points"] for g in gradings if "points" in g}


def test_points_are_scaled_and_the_lender_stays(tmp_path: Path) -> None:
    course = borrowing(tmp_path, f'{{ name = "03b_mine", source = "{SOURCE}", points = 20 }}')
    assert points(course, "other", "03b_mine") == {"first": 5, "second": 15}
    assert points(course, LAB, NOTEBOOK) == {"first": 2, "second": 6}
    released = cells(course, "notebooks/other/03b_mine.ipynb")
    text = "".join(released[0]["source"])
    assert "worth **20 points**" in text
    assert "counts 2.5 times" in text
    assert "notebooks/other/images/dot.svg" in derive(course)


def test_it_may_end_early(tmp_path: Path) -> None:
    entry = f'{{ name = "03_mine", source = "{SOURCE}", until = "later", points = 5 }}'
    course = borrowing(tmp_path, entry)
    assert points(course, "other", "03_mine") == {"first": 5}
    assert not any(
        "Later" in "".join(c["source"]) for c in cells(course, "solutions/other/03_mine.ipynb")
    )


@pytest.mark.parametrize(
    ("entry", "source", "words"),
    [
        ('until = "nowhere", ', HEADER + TEST, "no cell 'nowhere' before which to end"),
        ("", HEADER + "# %% [markdown]\n# text\n", "has no points that could be scaled to 20"),
    ],
)
def test_what_cannot_be_borrowed_is_told(
    tmp_path: Path, entry: str, source: str, words: str
) -> None:
    entry = f'{{ name = "03_mine", source = "{SOURCE}", {entry}points = 20 }}'
    with pytest.raises(LabError, match=words):
        derive(borrowing(tmp_path, entry, source))


def test_a_source_must_be_a_name(tmp_path: Path) -> None:
    course = borrowing(tmp_path, '{ name = "03_mine", source = 7, points = 20 }')
    with pytest.raises(CourseError, match="source = 7"):
        read_course(course / "setup" / "course.toml")
