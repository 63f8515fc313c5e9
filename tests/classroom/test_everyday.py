"""What instructors do every day: points by hand, single students, overrides, what has changed."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from urllib.request import urlopen

import nbformat
import pytest
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.classroom import command as grade_command
from autograder.classroom import grade as grading
from autograder.classroom.by_hand import answers_in
from autograder.classroom.chosen import chosen
from autograder.classroom.explain import explain
from autograder.classroom.formgrade import server_command
from autograder.classroom.grade import Order, grade_class
from autograder.classroom.home import Home
from autograder.classroom.lateness import Lateness
from autograder.classroom.overrides import Overrides
from autograder.classroom.times import read_times
from autograder.collect import HandIn, Roster, Student
from autograder.grading.verdict import write_private
from lab_utils.kit.course import read_course
from lab_utils.kit.course.late import DAY, LatePolicy
from lab_utils.kit.errors import LabError
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
from tests.support.browser import jupyter_server
from tests.support.collect_class import FIRST, put
from tests.support.sample_course import LAB
from tests.support.stand_in import stand_in

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


def test_a_part_of_a_name_is_enough_if_it_is_one_persons(tmp_path: Path) -> None:
    def row(student: str, name: str) -> HandIn:
        return HandIn(student, name, False, datetime.now(UTC), tmp_path, None, ())

    people = [
        row("alovelace", "Ada Lovelace"),
        row("alove", "Ann Love"),
        row("zgarcia7", "Zoë García"),
    ]
    for part in ("lovel", "ADA", "ada love", "Lovelace, Ada", "alovelace"):
        assert chosen([part], people) == {"alovelace"}, part
    assert chosen(["garcia", "ann"], people) == {"zgarcia7", "alove"}
    assert chosen([], people) == {"alovelace", "alove", "zgarcia7"}
    with pytest.raises(LabError, match=r"'lov' fits Ada Lovelace \(alovelace\) and Ann Love"):
        chosen(["lov"], people)
    with pytest.raises(LabError, match=r"nobody called 'lovelase' .* did you mean alovelace"):
        chosen(["lovelase"], people)


def test_points_that_are_set_stay_with_their_reason_until_they_are_removed(
    run: Run,  # noqa: F811
    hand_in: Callable[..., bytes],  # noqa: F811
) -> None:
    run(only=ONLY)
    give(run, {"q1": 0.5, "q2": 1})
    home = Home(run.home, run.course)
    place = ("jdoe3", FIRST, "q1")
    for reason, tell in (("<b>secret</b> reason", False), ("the lecture said so", True)):
        Overrides(home, LAB).set(place, 0.75, reason, tell)
        outcome = run(only=ONLY)
        page = (run.grades / "feedback" / "jdoe3.html").read_text()
        assert "Points were set by hand" in page
        assert (reason in page) is tell
    assert given(run) == ("2", "0.75", "1")
    assert "the lecture said so" in run.rows()["jdoe3"]["remarks"]
    changes = (run.grades / "changes.csv").read_text().splitlines()
    assert changes == [
        "student,name,what,old,new,why",
        *("jdoe3,Jane Doe,q1,,0.75,by hand", "jdoe3,Jane Doe,q2,,1,by hand"),
        "jdoe3,Jane Doe,total,7,8.75,by hand",
    ]
    assert "Changed since the last run" not in (run.grades / "report.html").read_text(), (
        "but before"
    )
    text = explain(next(s for s in outcome.sheets if s.student == "jdoe3"), home, LAB)
    for words in ("Jane Doe (jdoe3): 8.75 of 9", "set        : 0.75", "the lecture said so"):
        assert words in text
    assert "return 2 * x  # mine" in text
    assert "doubled(21)" not in text, "that was released so"

    put(run.source, {JANE.format(number=201): hand_in({"q1": "Another answer."})}, 1_800_000_000)
    run(only=ONLY)
    assert given(run) == ("2", "0.75", "1")
    assert "another answer than there is now" in run.rows()["jdoe3"]["remarks"]
    Overrides(home, LAB).remove(place)
    put(run.source, {JANE.format(number=301): hand_in()}, 1_800_000_001)
    run(only=ONLY)
    assert given(run) == ("2", "0.5", "1"), "what was given in formgrader is back"


def test_old_points_against_new_ones_after_a_change_of_tests(
    run: Run,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run(only=("zgarcia7",))
    monkeypatch.setattr("autograder.grading.plan.code_digest", lambda labs: "of other judges")
    monkeypatch.setattr("tests.support.stand_in.WRONG", "nothing is wrong")
    run(only=("zgarcia7",))
    table = (run.grades / "changes.csv").read_text(encoding="utf-8").splitlines()
    name = "zgarcia7,Zoë Ana García Márquez"
    assert table[1:] == [f"{name},1.1,0,2,other tests", f"{name},total,5,7,other tests"]
    assert "Changed since the last run" in (run.grades / "report.html").read_text()


def test_who_is_still_to_be_graded_is_compared_with_the_last_points_there_were(
    run: Run,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run()
    before = run.rows()
    monkeypatch.setattr("autograder.grading.plan.code_digest", lambda labs: "of other judges")
    monkeypatch.setattr("tests.support.stand_in.WRONG", "nothing is wrong")
    run(only=("jdoe3",))
    with monkeypatch.context() as patch:  # as when the workers have not got to it yet
        patch.setattr("tests.support.stand_in.StandIn.each", lambda *_: (yield from ()))
        run()
    assert not (run.grades / "changes.csv").exists()
    assert run.rows()["zgarcia7"]["total"] == ""
    run()
    name = "zgarcia7,Zoë Ana García Márquez"
    table = (run.grades / "changes.csv").read_text(encoding="utf-8").splitlines()
    assert table[1:] == [f"{name},1.1,0,2,other tests", f"{name},total,5,7,other tests"]
    assert before["zgarcia7"]["total"] == "5"


DUE = datetime(2025, 4, 11, 23, 59, tzinfo=UTC)


@pytest.fixture
def policy(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """The lab has a due date; Zoë has two more days; lateness costs."""
    real = read_course(run.course / "setup" / "course.toml")
    late = LatePolicy(timedelta(minutes=15), percent_per_day=10, late_days=3, cap=25)
    lab = replace(real.lab(LAB), due=DUE, late=late, extensions={"zgarcia7": DUE + 2 * DAY})
    before = replace(lab, id="earlier", due=DUE - 7 * DAY)
    known = replace(real, labs={LAB: lab, "earlier": before})
    monkeypatch.setattr("autograder.classroom.grade.read_course", lambda path: known)


@pytest.mark.usefixtures("policy")
def test_lateness_costs_points_and_nbgraders_own_tools_agree(run: Run, tmp_path: Path) -> None:  # noqa: F811
    earlier = {"jdoe3": asdict(Lateness("x.zip", days=2)), "zgarcia7": asdict(Lateness("y"))}
    write_private(run.home / "grades" / "earlier" / "late.json", json.dumps(earlier))
    times = tmp_path / "times.csv"
    times.write_text(
        "Student,SIS Login ID,submitted_at\n"
        f'"Doe, Jane",,{(DUE + 2 * DAY).isoformat()}\n'
        f"Zoë,zgarcia7,{(DUE + 2 * DAY + timedelta(minutes=14)).isoformat()}\n"
        f"A stranger,,{DUE.isoformat()}\n"
    )
    run(times=times)
    rows = run.rows()
    cells = ("total", "late", "days_late", "penalty")
    # Two days late, one of them free: 10 % of 7 and of 2 points.
    assert [rows["jdoe3"][cell] for cell in cells] == ["6.1", "yes", "2", "0.9"]
    assert [rows["zgarcia7"][cell] for cell in cells] == ["5", "no", "", ""]
    # Only the mark of Canvas: one day, which is free.
    assert [rows["loneil1"][cell] for cell in cells] == ["2", "yes", "1", ""]
    page = (run.grades / "feedback" / "jdoe3.html").read_text()
    assert "of which 1 day of your late days cost nothing: 10 % of the points" in page
    assert "at least by 1 day" in (run.grades / "feedback" / "loneil1.html").read_text()
    with Gradebook(f"sqlite:///{run.home}/gradebook.db") as book:
        jane, zoe = (book.find_submission(LAB, student) for student in ("jdoe3", "zgarcia7"))
        assert jane.total_seconds_late == 2 * 24 * 3600
        assert jane.score - jane.late_submission_penalty == pytest.approx(6.1)
        assert (zoe.extension, zoe.total_seconds_late) == (2 * DAY, 14 * 60)
        assert zoe.late_submission_penalty == 0
    run(again=True)
    assert {s: row["total"] for s, row in run.rows().items()} == {
        s: row["total"] for s, row in rows.items()
    }, "the times are remembered"
    nbgrader(run.home, "export", "--to", str(run.home / "stock.csv"))
    with (run.home / "stock.csv").open() as file:
        stock = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    assert stock == {student: float(row["total"] or 0) for student, row in rows.items()}


def test_without_a_due_date_the_mark_of_canvas_counts_whatever_times_are_known(
    run: Run,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = read_course(run.course / "setup" / "course.toml")
    lab = replace(real.lab(LAB), late=LatePolicy(percent_per_day=10))
    known = replace(real, labs={LAB: lab})
    monkeypatch.setattr("autograder.classroom.grade.read_course", lambda path: known)
    times = tmp_path / "times.csv"
    times.write_text(f"id,submitted_at\nloneil1,{DUE.isoformat()}\njdoe3,{DUE.isoformat()}\n")
    run(times=times)
    rows = run.rows()
    cells = ("total", "late", "days_late", "penalty")
    assert [rows["loneil1"][cell] for cell in cells] == ["1.8", "yes", "1", "0.2"]
    assert [rows["jdoe3"][cell] for cell in cells] == ["7", "no", "", ""]
    assert "at least by 1 day" in (run.grades / "feedback" / "loneil1.html").read_text()
    with Gradebook(f"sqlite:///{run.home}/gradebook.db") as book:
        assert book.find_submission(LAB, "loneil1").late_submission_penalty == pytest.approx(0.2)


@pytest.mark.usefixtures("policy")
def test_a_later_date_for_nobody_in_the_class_list_is_told(
    run: Run,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    known = grading.read_course(run.course)
    dates = {"García Márquez, Zoë Ana": DUE + DAY, "Doe Jnae": DUE + DAY}
    dated = replace(known, labs={LAB: replace(known.lab(LAB), extensions=dates)})
    monkeypatch.setattr("autograder.classroom.grade.read_course", lambda path: dated)
    outcome = run(only=ONLY)
    assert outcome.extended_to_nobody == ("Doe Jnae",)
    told = StringIO()
    grade_command._show(Console(file=told), outcome)
    assert "a later date for 'Doe Jnae', and nobody in the class list" in told.getvalue()


def test_the_list_of_another_class_is_told_before_anybody_is_graded(run: Run) -> None:  # noqa: F811
    roster = Roster((Student("x1", "Some", "Body"), Student("x2", "Any", "One")))
    order = Order(LAB, run.source, Home(run.home, run.course), roster)
    with pytest.raises(LabError, match="none of the 4 uploads .*: is it the list of this class"):
        grade_class(order, stand_in)
    assert not (run.grades / "grades.csv").exists()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("student,when\njdoe3,2025-04-11", "needs columns student and submitted_at"),
        ("student,time\njdoe3,2025-04-11T10:00:00", "times.csv:2: .* needs its distance to UTC"),
        ("student,time\njdoe3,tomorrow", "times.csv:2: 'tomorrow' is no moment"),
        ("student,time\nnobody,2025-04-11T10:00:00Z", "no row is of a student"),
    ],
)
def test_bad_upload_times_are_told_with_their_line(
    tmp_path: Path, table: str, message: str
) -> None:
    path = tmp_path / "times.csv"
    path.write_text(table)
    with pytest.raises(LabError, match=message):
        read_times(path, [HandIn("jdoe3", "Jane Doe", False, DUE, path, None, ())], None)


@pytest.mark.slow
def test_formgrader_is_served_on_the_class(run: Run) -> None:  # noqa: F811
    run(only=ONLY)
    home = Home(run.home, run.course)
    with pytest.raises(LabError, match=f"lab9 has not been graded .* there is: {LAB}"):
        server_command(home, "lab9")
    with pytest.raises(LabError, match="no class has been graded in .*: run grade first"):
        server_command(Home(run.home / "empty"))
    command = server_command(home, LAB)
    assert f"--LabApp.default_url=/formgrader/gradebook/{LAB}" in command
    with jupyter_server(run.home, *command[4:]) as (url, token):
        with urlopen(f"{url}formgrader/gradebook/{LAB}?token={token}") as page:
            assert b"formgrader" in page.read()
        with urlopen(f"{url}formgrader/api/notebooks/{LAB}?token={token}") as answer:
            notebooks = {one["name"]: one for one in json.load(answer)}
    assert notebooks[FIRST]["num_submissions"] == 1
    assert notebooks[FIRST]["needs_manual_grade"]
