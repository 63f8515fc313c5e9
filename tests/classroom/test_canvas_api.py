"""Hand-ins come from Canvas, and points and pages go back; against a stand-in on this machine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.classroom import canvas_command
from autograder.classroom.canvas_api import CanvasLab
from autograder.classroom.home import Home
from autograder.classroom.times import read_times
from autograder.collect import read_roster
from autograder.collect.uploads import CANVAS
from lab_utils.kit.course import Course, read_course
from lab_utils.kit.errors import LabError
from tests.support.canvas_server import COURSE, LAB, TOKEN, CanvasStandIn, canvas_server

pytest.importorskip("canvasapi", reason="pip install canvasapi")


@pytest.fixture
def canvas(monkeypatch: pytest.MonkeyPatch) -> Iterator[CanvasStandIn]:
    monkeypatch.setenv("CANVAS_TOKEN", TOKEN)
    with canvas_server() as server:
        for number, name in (
            (1001, "Lovelace, Ada"),
            (1002, "Müller, Ünal"),
            (1003, "Absent, Abe"),
        ):
            login = f"login{number}"
            server.users.append({"id": number, "sortable_name": name, "login_id": login})
        server.hand_in(1001, "../../ada's lab.zip", b"one", "2025-04-11T20:00:00Z", False)
        server.hand_in(1002, "lab.zip", b"two", "2025-04-12T20:00:00Z", True)
        server.submissions[1003] = {"id": 3, "user_id": 1003, "submitted_at": None, "score": None}
        yield server


@pytest.fixture
def course(canvas: CanvasStandIn) -> Course:
    real = read_course()
    lab = replace(real.lab("lab0"), canvas=f"Lab 0 ({LAB})")
    return replace(real, labs={"lab0": lab}, canvas_url=canvas.url, canvas_course=COURSE)


def test_hand_ins_come_as_in_the_bulk_download(course: Course, tmp_path: Path) -> None:
    got = CanvasLab(course, "lab0").fetch(tmp_path)
    names = sorted(path.name for path in got.hand_ins.iterdir())
    assert names == ["lovelaceada_1001_900_ada_s lab.zip", "müllerünal_LATE_1002_901_lab.zip"]
    late = [match["late"] for name in names if (match := CANVAS.fullmatch(name))]
    assert late == [None, "LATE"]
    roster = read_roster(got.students)
    assert [student.id for student in roster] == ["login1001", "login1002", "login1003"]
    people = [Who(student.id, student.name) for student in roster]
    assert list(read_times(got.times, people, roster)) == ["login1001", "login1002"]
    assert CanvasLab(course, "lab0").fetch(tmp_path).files == 0, "nothing is fetched twice"


class Who:
    def __init__(self, student: str, name: str) -> None:
        self.student, self.name = student, name


def test_points_and_pages_go_back_once(
    canvas: CanvasStandIn,
    course: Course,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(canvas_command, "read_course", lambda path: course)
    home = Home(tmp_path / "home")
    folder = home.grades("lab0")
    (folder / "feedback").mkdir(parents=True)
    (folder / "feedback" / "login1001.html").write_text("<p>well done</p>")
    (folder / "canvas.csv").write_text(
        "Student,ID,SIS Login ID,Section,Lab 0\n    Points Possible,,,,1\n"
        '"Lovelace, Ada",1001,login1001,,0.75\n"A stranger",,x,,1\n'
    )
    roster = CanvasLab(course, "lab0").fetch(tmp_path).students
    assert canvas_command.send(home, "lab0", roster, False, True) == 0
    said = capsys.readouterr().out
    assert "1001: – → 0.75" in said
    assert "Canvas' number is not known: A stranger" in said
    assert "would change 1 of 1 points, 1 pages" in said
    assert canvas.submissions[1001]["score"] is None
    assert not any(request.startswith(("POST", "PUT")) for request in canvas.requests)
    for todo in ("1 of 1 points, 1 pages", "0 of 1 points, 0 pages"):
        assert canvas_command.send(home, "lab0", roster, True, True) == 0
        assert f"changed {todo}" in capsys.readouterr().out
        assert canvas.submissions[1001]["score"] == 0.75
        assert canvas.comments == {1001: [5002]}


def test_what_canvas_refuses_is_one_line(
    canvas: CanvasStandIn, course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(LabError, match=r"must say where the assignment is in Canvas"):
        CanvasLab(replace(course, canvas_url=""), "lab0")
    with pytest.raises(LabError, match="Canvas refuses: ResourceDoesNotExist"):
        CanvasLab(replace(course, canvas_course=8), "lab0")
    monkeypatch.setenv("CANVAS_TOKEN", "another")
    with pytest.raises(LabError, match="Canvas refuses: InvalidAccessToken"):
        CanvasLab(course, "lab0")
    monkeypatch.delenv("CANVAS_TOKEN")
    with pytest.raises(LabError, match="set CANVAS_TOKEN"):
        CanvasLab(course, "lab0")
