"""Trouble with one student is this student's alone, and is never told as zero points."""

from __future__ import annotations

import csv
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from autograder.classroom import grade
from autograder.classroom.feedback import feedback_page
from autograder.classroom.grade import Order, Outcome, grade_class
from autograder.classroom.gradebook import Book
from autograder.classroom.home import Home
from autograder.classroom.report import columns, report_page
from autograder.classroom.sheet import Score, Sheet, unknown
from autograder.classroom.tables import gradescope_results
from autograder.cli import main
from autograder.grading.judge.judges import JudgeFailed
from autograder.grading.sandbox import SandboxFailed
from autograder.grading.sandbox.clean.markup import SAFE
from autograder.grading.sandbox.host.job import Cell, CellResult, Question, Trouble
from autograder.grading.sandbox.host.limits import Limits
from autograder.grading.sandbox.inside.protocol import frame
from autograder.grading.sandbox.wire import talk
from autograder.grading.sandbox.wire.line import Late, Line
from autograder.grading.sandbox.wire.orders import Over, Supervisor
from autograder.grading.sandbox.wire.talk import Talk
from autograder.grading.verdict import CaseVerdict, SubmissionVerdict, TaskVerdict
from lab_utils.kit.course import read_course
from lab_utils.kit.task import Finding
from tests.classroom.test_classroom import (  # noqa: F401  (fixtures)
    Run,
    course,
    fresh_home,
    hand_in,
    own_settings,
    run,
    the_class,
)
from tests.support.collect_class import CLASS
from tests.support.sample_course import LAB, ROOT
from tests.support.stand_in import StandIn

pytestmark = pytest.mark.usefixtures("own_settings")

NONCE = bytes(16)
DEEP = "<svg xmlns='http://www.w3.org/2000/svg'>" + "<g>" * 2000 + "</g>" * 2000 + "</svg>"


class Said:
    """A line on which messages have come already."""

    most = taken = 0

    def __init__(self, *messages: dict[str, Any]) -> None:
        self._messages = list(messages)

    def send(self, message: dict[str, Any], deadline: float) -> None:
        pass

    def receive(self, deadline: float, beside: Line | None = None) -> dict[str, Any]:
        return self._messages.pop(0)


class Nobody:
    line = None


def talk_that_says(*messages: dict[str, Any]) -> Talk:
    return Talk(cast(Line, Said(*messages)), cast(Supervisor, Nobody()), Limits())


def shown(data: dict[str, str]) -> list[dict[str, Any]]:
    """The outputs of a cell that shows this, and then one more thing."""
    result = CellResult("a")
    done = talk_that_says(
        {"output": {"output_type": "display_data", "data": data}},
        {"output": {"output_type": "stream", "name": "stdout", "text": "after"}},
        {"ran": {"count": 1, "failed": False}},
    )
    assert done.run(Cell("a", "…"), result, 10) == []
    return result.outputs


def test_a_picture_that_is_too_deep_is_left_out_and_this_is_said() -> None:
    plain, note, after = shown({"image/svg+xml": DEEP, "text/plain": "a picture"})
    assert plain["data"] == {"text/plain": "a picture"}
    assert "output left out: a picture with more than 100 elements" in note["text"]
    assert after["text"] == "after"


@pytest.mark.parametrize("error", [RecursionError, MemoryError, KeyError("x"), AssertionError])
def test_cleaning_that_fails_ends_nothing(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(text: str) -> str:
        raise error

    monkeypatch.setitem(SAFE, "text/html", fails)
    monkeypatch.setattr(talk, "clean_reply", fails)
    note, after = shown({"text/html": "<b>"})
    assert "output left out: it cannot be cleaned" in note["text"]
    assert after["text"] == "after"
    with pytest.raises(Over, match="what cannot be read") as over:
        talk_that_says({"reply": {"answer": 1}}).ask(Question("a", "1.1", "f"), 10)
    assert over.value.trouble is Trouble.SPOILED


def test_an_answer_that_is_there_is_in_time_however_late_we_look() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line, past = Line(ours, NONCE), time.monotonic() - 1
        theirs.sendall(frame({"answer": 1}, NONCE))
        assert line.receive(past) == {"answer": 1}
        with pytest.raises(Late):
            line.receive(past)


def graded_with(run: Run, error: Exception, whose: str) -> Outcome:  # noqa: F811
    """The class, graded by one who fails on a single student."""

    class Fails(StandIn):
        def examine(self, student: str) -> SubmissionVerdict:
            if student == whose:
                raise error
            return super().examine(student)

    @contextmanager
    def examiner(order: Order) -> Iterator[Fails]:
        yield Fails(order)

    home = Home(run.home, run.course)
    return grade_class(Order(LAB, run.source, home, CLASS, again=True), examiner)


def exported(run: Run) -> tuple[set[str], set[str]]:  # noqa: F811
    """Who has points for Canvas, and who for Gradescope."""
    with (run.grades / "canvas.csv").open(encoding="utf-8", newline="") as file:
        canvas = {row["SIS Login ID"] for row in csv.DictReader(file)}
    return canvas - {""}, {path.parent.name for path in run.grades.glob("gradescope/*/*.json")}


POINTS = ("1.1", "1.2", "q1", "q2", "2.1", "2.2", "total")


@pytest.mark.parametrize("error", [RecursionError("deep"), OSError(28, "No space left on device")])
def test_who_cannot_be_graded_stops_nobody_and_has_no_points(
    run: Run,  # noqa: F811
    error: Exception,
) -> None:
    assert run().failed == 0
    before = exported(run)
    assert "loneil1" in before[0] & before[1]
    outcome = graded_with(run, error, "loneil1")
    assert (outcome.graded, outcome.failed) == (2, 1)
    rows = run.rows()
    assert rows["jdoe3"]["total"] == "7"
    assert {rows["loneil1"][name] for name in POINTS} == {""}
    assert "Not graded: the grader failed on it" in rows["loneil1"]["remarks"]
    assert exported(run) == (before[0] - {"loneil1"}, before[1] - {"loneil1"})
    assert "– of 9 points" in (run.grades / "feedback" / "loneil1.html").read_text("utf-8")
    assert type(error).__name__ in (run.grades / "trouble.log").read_text("utf-8")
    assert run().failed == 0
    assert run.examined == ["loneil1"]
    assert exported(run) == before


@pytest.mark.parametrize("error", [SandboxFailed("no sandbox"), JudgeFailed("no judge")])
def test_what_is_nobodys_doing_ends_it(run: Run, error: Exception) -> None:  # noqa: F811
    with pytest.raises(type(error)):
        graded_with(run, error, "loneil1")


def test_who_is_not_graded_yet_has_no_points(run: Run) -> None:  # noqa: F811
    assert run(only=("jdoe3",)).failed == 0
    row = run.rows()["loneil1"]
    assert {row[name] for name in POINTS} == {""}
    assert exported(run) == ({"wzhang9", "mstone2"}, {"jdoe3", "wzhang9", "mstone2"})
    page = (run.grades / "report.html").read_text("utf-8")
    assert '<b>1</b><span class="small soft">were graded' in page


def test_tasks_are_called_the_same_when_nobody_was_graded() -> None:
    home = Home(ROOT / "autograder")
    order = Order("lab4a", ROOT, home)
    scores = unknown(Book(home, "lab4a").cells())
    sheet = Sheet("a", "A", folder=ROOT, scores=scores, lab=grade._tasks(order))
    labels = [column.label for column in columns([sheet])]
    assert labels[:2] == ["1.1", "1.2"]
    assert len(labels) == len(set(labels)) == len(scores)
    assert not [label for label in labels if label.endswith("_check")]


def test_the_command_says_who_could_not_be_graded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sheets = tuple(Sheet(name, name, trouble="no space") for name in ("a", "b", "c"))
    monkeypatch.setattr(grade, "grade_class", lambda *_: Outcome(sheets, 3, {}))
    assert main(["grade", "lab4a", "--from", str(tmp_path), "--into", str(tmp_path)]) == 1
    assert "3 could not be graded" in capsys.readouterr().out


def test_pages_show_a_few_hundred_characters_of_an_answer() -> None:
    long = "a<" * 20_000
    case = CaseVerdict("a graph", False, (Finding(long, "right", f"Look at {long}."),))
    task = TaskVerdict("1.1", "a task", "01_a", "t11", 0, 1, "graph", (case,))
    verdict = SubmissionVerdict("a", LAB, "full", 1.0, "", (task,))
    scores = (Score("01_a", "t11", 0, 1),)
    sheet = Sheet("a", "A", folder=ROOT, scores=scores, verdict=verdict)
    about = read_course(ROOT / "setup" / "course.toml")
    lab = about.lab("lab4a")
    for text in (
        feedback_page(sheet, about, lab),
        report_page([sheet], about, lab),
        gradescope_results(sheet),
    ):
        assert "40,000 characters" in text
        assert text.replace("&lt;", "<").count("a<") < 1000
