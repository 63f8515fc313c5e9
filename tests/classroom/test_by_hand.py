"""Points given by hand stay as long as the answer does, whatever is graded anew."""

from __future__ import annotations

from collections.abc import Callable

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.classroom.by_hand import answers_in
from tests.classroom.test_classroom import (  # noqa: F401  (fixtures)
    WRONG,
    Run,
    course,
    fresh_home,
    hand_in,
    nbgrader,
    own_settings,
    run,
    the_class,
)
from tests.support.collect_class import FIRST, put
from tests.support.sample_course import LAB

pytestmark = pytest.mark.usefixtures("own_settings")
ONLY = ("jdoe3",)
JANE = "doejane_11_{number}_Doe Jane lab.zip"


def give(run: Run, points: dict[str, float]) -> None:  # noqa: F811
    """As formgrader does it."""
    with Gradebook(f"sqlite:///{run.home}/gradebook.db") as book:
        for cell, score in points.items():
            grade = book.find_grade(cell, FIRST, LAB, "jdoe3")
            grade.manual_score, grade.needs_manual_grade = score, False
        book.db.commit()


def given(run: Run) -> tuple[str, str, str]:  # noqa: F811
    jane = run.rows()["jdoe3"]
    return jane["1.1"], jane["q1"], jane["q2"]


def test_points_given_by_hand_survive_every_regrade(
    run: Run,  # noqa: F811
    hand_in: Callable[..., bytes],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(only=ONLY)
    give(run, {"q1": 0.5, "q2": 1, "t11_test": 1.5})
    run(only=ONLY, again=True)
    assert given(run) == ("1.5", "0.5", "1")
    with monkeypatch.context() as patch:
        patch.setattr("autograder.grading.plan.code_digest", lambda labs: "of other judges")
        run(only=ONLY)
    assert run.examined
    assert given(run) == ("1.5", "0.5", "1")
    nbgrader(run.home, "autograde", LAB, "--student", "jdoe3", "--force")
    run(only=ONLY)
    assert given(run) == ("1.5", "0.5", "1")

    put(run.source, {JANE.format(number=201): hand_in({"q1": "Another answer."})}, 1_800_000_000)
    run(only=ONLY)
    assert given(run) == ("1.5", "", "1"), "only the essay is another one"
    put(run.source, {JANE.format(number=301): hand_in(WRONG)}, 1_800_000_001)
    run(only=ONLY)
    assert given(run) == ("", "0.5", "1"), "the first essay is back, and so are its points"


def test_points_that_were_taken_back_stay_away(run: Run) -> None:  # noqa: F811
    run(only=ONLY)
    give(run, {"t11_test": 0.5})
    run(only=ONLY, again=True)
    assert run.rows()["jdoe3"]["1.1"] == "0.5"
    with Gradebook(f"sqlite:///{run.home}/gradebook.db") as book:
        book.find_grade("t11_test", FIRST, LAB, "jdoe3").manual_score = None
        book.db.commit()
    run(only=ONLY, again=True)
    assert run.rows()["jdoe3"]["1.1"] == "2"


def test_an_upload_that_is_withdrawn_and_comes_back_has_its_points(
    run: Run,  # noqa: F811
) -> None:
    run(only=ONLY)
    give(run, {"q1": 0.5, "q2": 1})
    path = run.source / JANE.format(number=101)
    whole = path.read_bytes()
    path.write_bytes(whole[:700])
    run(only=ONLY)
    assert run.rows()["jdoe3"]["total"] == ""
    path.write_bytes(whole)
    run(only=ONLY)
    assert given(run) == ("2", "0.5", "1")


def test_the_answer_to_a_question_ends_at_the_next_cell_of_ours() -> None:
    def cell(source: str, **marks: object) -> nbformat.NotebookNode:
        made = nbformat.v4.new_markdown_cell(source)
        return nbformat.from_dict({**made, "metadata": {"nbgrader": marks} if marks else {}})

    def answer(*below: str, after: str = "") -> str:
        question, ours = cell("?", task=True, grade_id="q"), cell("!", locked=True, grade_id="z")
        cells = [question, *map(cell, below), ours, cell(after)]
        return answers_in(nbformat.v4.new_notebook(cells=cells))["q"]

    assert answer("one") == answer("one", after="changed")
    assert len({answer(), answer("one"), answer("one", "two"), answer("onetwo")}) == 4
