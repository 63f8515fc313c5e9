"""Nothing of a hidden case reaches a student, however hard a hand-in tries to carry it out.

A canary is planted in each hidden case of every lab. A hostile hand-in finds it, and takes it
through every channel that it knows; then all is searched that grading has written.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from unittest.mock import patch

import nbformat
import pytest

from autograder import cli
from autograder.grading.hidden import Hidden, hidden_of
from autograder.grading.judge import judges
from autograder.grading.plan import LabPlan, read_plan
from autograder.release.hidden_values import hidden_values_in
from lab_utils.kit.course import read_course
from lab_utils.kit.lab import lab_called
from lab_utils.kit.root import ROOT
from tests.grading.attacks import carrier
from tests.grading.planted_judge import plant

pytestmark = [pytest.mark.xdist_group("sandboxes"), pytest.mark.slow, pytest.mark.needs_bwrap]

LABS = [lab for lab in read_course().labs if hidden_of(lab).cases]
CANARIES = "7351926480", "8462037591"
TWICE = ("lab0", "lab4a")
"""Labs that are graded with both canaries."""
_OURS = ("submitted", "nbgrader_config.py")
"""What is not told to anybody: what was handed in, and settings."""
_NOT_FOR_STUDENTS = (".db", ".log", ".cells", "report.html")
"""They tell how long it took."""
_CHANGING = re.compile(
    r"executor-\w+|\d+\.\d+ s\b|\"seconds\": [\d.]+|\d{4}-\d\d-\d\d.\d\d:\d\d:\d\d[.\d]*"
)


def hand_in(lab: str, plan: LabPlan, folder: Path) -> None:
    """Zips of hand-ins whose every function carries what it is given."""
    folder.mkdir()
    hidden = sum(
        len(hidden_of(test.lab).graded_cases(test.task))
        - len(lab_called(test.lab).public_cases(test.task))
        for test in plan.tests
        if test.task and not test.is_of_file
    )
    for number in range(1 if hidden > len(carrier.CHANNELS) else 3):
        name = read_course().zip_file_name(lab, first="abc"[number] + "nn", last="Carrier")
        with zipfile.ZipFile(folder / name, "w") as file:
            for part in plan.notebooks:
                path = ROOT / "notebooks" / lab / f"{part.name}.ipynb"
                book = nbformat.read(path, as_version=4)
                for cell in book.cells:  # so that it is quick: carriers need nothing else
                    if cell.cell_type == "code" and "nbgrader" not in cell.metadata:
                        cell.source = ""
                names = [test.name for test in part.tests.values() if test.name.isidentifier()]
                source = carrier.cell(names, start=number * 8)
                book.cells.append(nbformat.v4.new_code_cell(source))
                file.writestr(path.name, nbformat.writes(book))


def graded(lab: str, canary: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder with all that grading writes, when the hidden cases hold this canary."""
    folder.mkdir()
    monkeypatch.setattr(Hidden, "graded_cases", plant(canary))
    command = (sys.executable, "-m", "tests.grading.planted_judge", canary)
    monkeypatch.setattr(judges, "COMMAND", command)
    hand_in(lab, read_plan(lab, ROOT / "solutions" / lab), folder / "zips")
    into = folder / "home"
    with patch.dict(os.environ):  # where nbgrader finds this class; later tests have others
        cli.main(["grade", lab, "--from", str(folder / "zips"), "--into", str(into), "--jobs", "1"])
    return into


def received(home: Path) -> dict[str, bytes]:
    """All files that came of it: pages, tables, exports, notebooks, logs, the gradebook."""
    files = (path for path in sorted(home.rglob("*")) if path.is_file())
    inside = {path.relative_to(home).as_posix(): path.read_bytes() for path in files}
    return {path: text for path, text in inside.items() if not path.startswith(_OURS)}


def forms(canary: str) -> list[bytes]:
    """How a canary may look."""
    number = int(canary)
    texts = (canary, canary[::-1], f"{number:x}", f"{number:,}", f"{number:.6e}", f"{number:b}")
    return [*(text.encode() for text in texts), base64.b64encode(canary.encode())[:12]]


@pytest.mark.parametrize("lab", LABS)
def test_nothing_of_a_hidden_case_is_in_what_grading_writes(
    lab: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = graded(lab, CANARIES[0], tmp_path / "one", monkeypatch)
    if lab == TWICE[0]:
        generate_feedback(lab, home)
    said, files = capsys.readouterr(), received(home)
    files |= {"stdout": said.out.encode(), "stderr": said.err.encode()}
    assert {f"grades/{lab}/grades.csv", f"grades/{lab}/canvas.csv"} <= set(files)
    assert any(path.endswith("results.json") for path in files)
    found = [(p, form) for p, text in files.items() for form in forms(CANARIES[0]) if form in text]
    assert found == []
    texts = {path: text for path, text in files.items() if not path.endswith(".db")}
    assert list(hidden_values_in(texts, ROOT)) == []
    if lab in TWICE:
        other = graded(lab, CANARIES[1], tmp_path / "other", monkeypatch)
        if lab == TWICE[0]:
            generate_feedback(lab, other)
        assert_same(told(home), told(other))


def generate_feedback(lab: str, home: Path) -> None:
    """nbgrader's own."""
    command = [sys.executable, "-m", "nbgrader", "generate_feedback", lab]
    done = subprocess.run(command, cwd=home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert any(path.startswith("feedback/") for path in received(home))


def told(home: Path) -> dict[str, str]:
    """What students are told, without what changes from run to run."""
    texts = {path: text.decode("utf-8", "replace") for path, text in received(home).items()}
    return {
        path: _CHANGING.sub("", text.replace(str(home.parent), ""))
        for path, text in texts.items()
        if not path.endswith(_NOT_FOR_STUDENTS)
    }


def assert_same(first: dict[str, str], second: dict[str, str]) -> None:
    """Also in what no search can find: line numbers, exit codes, lengths, order."""
    assert first.keys() == second.keys()
    assert {path: second[path] for path in first if first[path] != second[path]} == {}


def test_the_carrier_carries_where_nobody_stops_it(capsys: pytest.CaptureFixture[str]) -> None:
    """Or the tests above would prove nothing."""
    space: dict[str, object] = {}
    exec(carrier.cell(["answer"]), space)
    given = {carrier.CANARY: CANARIES[0]}
    with pytest.raises(Exception, match=CANARIES[0]):
        _asked(space["answer"], given)


def _asked(function: object, given: dict[str, str]) -> object:
    assert given
    return function(1)  # type: ignore[operator]
