"""Trouble with one student is this student's alone, and is never told as zero points."""

from __future__ import annotations

import csv
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from autograder.classroom import grade, lock
from autograder.classroom.examiner import Told
from autograder.classroom.feedback import feedback_page
from autograder.classroom.grade import Order, Outcome, grade_class
from autograder.classroom.gradebook import Book
from autograder.classroom.home import Home
from autograder.classroom.lock import Busy, only_run
from autograder.classroom.remarks import UNGRADED
from autograder.classroom.report import columns, report_page
from autograder.classroom.sheet import Score, Sheet, unknown
from autograder.classroom.tables import grades_csv, gradescope_results
from autograder.cli import main
from autograder.collect.records import RemarkKind
from autograder.grading.judge.judges import JudgeFailed
from autograder.grading.sandbox import Isolation, Reached, SandboxFailed
from autograder.grading.sandbox.clean.markup import SAFE
from autograder.grading.sandbox.host.job import CellResult, Code, Question, Trouble
from autograder.grading.sandbox.host.limits import Limits
from autograder.grading.sandbox.inside.protocol import frame
from autograder.grading.sandbox.wire import talk
from autograder.grading.sandbox.wire.line import Late, Line
from autograder.grading.sandbox.wire.orders import Over, Supervisor
from autograder.grading.sandbox.wire.talk import Talk
from autograder.grading.verdict import CaseVerdict, SubmissionVerdict, TaskVerdict
from autograder.remark import Remark
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
from tests.support.collect_class import CLASS, put
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
    assert done.run(Code("a", "…"), result, 10) == []
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
    assert exported(run) == ({"mstone2"}, {"jdoe3", "mstone2"})
    page = (run.grades / "report.html").read_text("utf-8")
    assert '<b>1</b><span class="small soft">were graded' in page


def test_what_cannot_be_read_is_not_graded_and_nothing_is_zero(run: Run) -> None:  # noqa: F811
    assert run().failed == 0
    rows = run.rows()
    assert {rows["wzhang9"][name] for name in POINTS} == {""}
    assert {rows["mstone2"][name] for name in POINTS} == {"0"}
    canvas, gradescope = exported(run)
    assert "mstone2" in canvas & gradescope
    assert "wzhang9" not in canvas | gradescope
    page = (run.grades / "feedback" / "wzhang9.html").read_text("utf-8")
    assert "– of 9 points" in page
    assert "Not graded: nothing that can be graded was found in zhangwei_14_104_lab.zip" in page
    report = (run.grades / "report.html").read_text("utf-8")
    to_decide = report.partition("To decide")[2].partition("Most common mistakes")[0]
    assert "Wei Zhang" in to_decide
    assert "Michael Stone" not in to_decide


def test_what_is_named_after_somebody_else_is_held_back_and_told(
    run: Run,  # noqa: F811
    hand_in: Callable[..., bytes],  # noqa: F811
) -> None:
    run()
    put(run.source, {"Garcia Marquez Zoe labS.zip": hand_in()}, 1_800_000_000)
    run()
    assert run.examined == []
    row = run.rows()["zgarcia7"]
    assert row["total"] == "5"
    assert "Held back: 'Garcia Marquez Zoe labS.zip'" in row["remarks"]
    report = (run.grades / "report.html").read_text("utf-8")
    assert "an upload is held back" in report
    assert "Held back: &#39;Garcia Marquez Zoe labS.zip&#39;" in report
    assert "Held back" not in (run.grades / "feedback" / "zgarcia7.html").read_text("utf-8")
    run(accept=("Garcia Marquez Zoe labS.zip",))
    assert run.examined == ["zgarcia7"]
    row = run.rows()["zgarcia7"]
    assert row["total"] == "7"
    assert "Held back" not in row["remarks"]


def test_who_may_have_handed_something_in_has_no_zero(
    run: Run,  # noqa: F811
    hand_in: Callable[..., bytes],  # noqa: F811
) -> None:
    two = {f"stonemichael_{user}_{user}0_lab.zip": hand_in() for user in (21, 22)}
    put(run.source, two)
    run()
    row = run.rows()["mstone2"]
    assert {row[name] for name in POINTS} == {""}
    assert "perhaps theirs is 'stonemichael_21_210_lab.zip'" in row["remarks"]
    assert "mstone2" not in set.union(*exported(run))


def test_a_student_reads_no_suspicion_and_the_instructor_reads_all() -> None:
    kinds = [*RemarkKind, *Trouble, "forged", "undecided", "files", "of another day"]
    said = tuple(Remark(str(kind), f"said of {kind}", "01_a", "t11") for kind in kinds)
    half = len(RemarkKind)
    task = TaskVerdict("1.1", "a task", "01_a", "t11", 0, 1, "graph", ())
    verdict = SubmissionVerdict("a", LAB, "full", 1.0, "", (task,), said[half:])
    scores = (Score("01_a", "t11", 0, 1),)
    late = Remark(UNGRADED, "Not graded: /ours/trouble.log says why.")
    sheet = Sheet("a", "A", remarks=(*said[:half], late), scores=scores, verdict=verdict)
    about = read_course(ROOT / "setup" / "course.toml")
    page, results = feedback_page(sheet, about, about.lab("lab4a")), gradescope_results(sheet)
    private = {
        *(Trouble.TAMPERED, Trouble.SPOILED, Trouble.SANDBOX, "forged", "undecided"),
        *(RemarkKind.UNSAFE_PATH, RemarkKind.ZIP_BOMB, RemarkKind.NOT_A_FILE, RemarkKind.FAILED),
        *(RemarkKind.CLOSE_MATCH, RemarkKind.AMBIGUOUS, RemarkKind.NOT_IN_ROSTER),
        *(RemarkKind.CHANGED_LOCKED, RemarkKind.CHANGED_MARKS, RemarkKind.EDITED_HERE),
        *(RemarkKind.HELD_BACK, RemarkKind.OTHER_ORIGIN, "of another day"),
    }
    for kind in kinds:
        for shown in (page, results):
            assert (f"said of {kind}" in shown) == (kind not in private), kind
        assert f"said of {kind}" in grades_csv([sheet])
        assert f"said of {kind}" in report_page([sheet], about, about.lab("lab4a"))
    for shown in (page, results):
        assert "/ours/" not in shown
        assert "an answer could not be judged" in shown


class Held:
    """Another process that is at work in a folder, until it is killed."""

    def __init__(self, folder: Path, *, has_locks: bool = True) -> None:
        code = (
            "import sys, time, pathlib; from autograder.classroom import lock\n"
            f"{'' if has_locks else 'lock.fcntl = None'}\n"
            "with lock.only_run(pathlib.Path(sys.argv[1])):\n"
            "    print('held', flush=True); time.sleep(600)\n"
        )
        command = [sys.executable, "-c", code, str(folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        assert self.process.stdout
        assert self.process.stdout.readline() == b"held\n"

    def __enter__(self) -> int:
        return self.process.pid

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_of_two_runs_in_one_folder_the_second_is_told_who_is_there(run: Run) -> None:  # noqa: F811
    with Held(run.home / "grades") as pid:
        with pytest.raises(Busy, match=f"process {pid} of .* on {socket.gethostname()}, since 20"):
            run()
        assert not (run.home / "submitted").exists()
    assert run().graded == 3  # a killed one holds nobody up
    with only_run(run.home / "elsewhere"):
        run()


def enter(folder: Path) -> None:
    with only_run(folder):
        pass


@pytest.mark.parametrize("why", ["killed", "on another machine", "number used again", "garbage"])
def test_without_locks_of_the_system_a_killed_run_holds_nobody_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    monkeypatch.setattr(lock, "fcntl", None)
    with Held(tmp_path, has_locks=False) as pid:
        told = f"process {pid} of .* delete {tmp_path}"
        with pytest.raises(Busy, match=told):
            enter(tmp_path)
    left = tmp_path / lock.STAND_IN
    owner = json.loads(left.read_text())
    if why == "on another machine":
        left.write_text(json.dumps({**owner, "host": "elsewhere"}))
        with pytest.raises(Busy, match="on elsewhere"):
            enter(tmp_path)
    elif why == "number used again":
        left.write_text(json.dumps({**owner, "pid": os.getpid()}))
    elif why == "garbage":
        left.write_text("")
    if why in ("on another machine", "garbage"):
        os.utime(left, (1, 1))
    with only_run(tmp_path):
        assert json.loads(left.read_text())["pid"] == os.getpid()
        with pytest.raises(Busy):
            enter(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {lock.LOCK}


def test_the_command_says_how_well_code_is_shut_in_and_why_no_better(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reached = Reached(Isolation.LIMITS, False, ("there is no bwrap", "[no] namespaces"))

    @contextmanager
    def sandbox(order: Order, told: Told) -> Iterator[None]:
        told(reached)
        yield

    def graded(order: Order, examiner: Any, tell: Any) -> Outcome:
        with examiner(order):
            return Outcome((), 0, {})

    monkeypatch.setattr(grade, "grade_class", graded)
    monkeypatch.setattr("autograder.classroom.examiner.sandbox", sandbox)
    assert main(["grade", "lab4a", "--from", str(tmp_path), "--into", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "isolation: limits\n  there is no bwrap\n  [no] namespaces\n" in told
    assert told.count("there is no bwrap") == 1


def test_tasks_are_called_the_same_when_nobody_was_graded() -> None:
    home = Home(ROOT / "autograder")
    order = Order("lab4a", ROOT, home)
    scores = unknown(Book(home, "lab4a").cells())
    sheet = Sheet("a", "A", folder=ROOT, scores=scores, lab=grade.tasks_of(order.home, order.lab))
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
