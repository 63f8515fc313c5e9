"""The project through ``autograder grade``, and packed: the tables come along."""

from __future__ import annotations

import csv
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest
from nbformat.notebooknode import NotebookNode

from autograder.cli import main
from autograder.grading.verdict import SubmissionVerdict, load_verdict
from lab_utils.kit.course import read_course
from lab_utils.kit.files import HandedIn
from lab_utils.kit.hand_in import Owner, inspection, pack
from lab_utils.kit.lab import Small
from lab_utils.labs import project
from tests.labs.project.data import tables
from tests.support.sample_course import ROOT, folder_of, full_marks, solved_by_a_student

pytestmark = pytest.mark.slow

REFERENCE = ROOT / "autograder" / "reference"
GRAPHS = ("llm_mlp.dot", "llm_mlp_ar.dot")
LAB = "project"
LAB_AS_IT_IS = project.LAB


def hand_in(
    folder: Path,
    lab: str,
    student: str,
    books: Mapping[str, NotebookNode],
    files: Mapping[str, str],
) -> None:
    """A zip as the packer writes it."""
    first, last = student.split()
    name = read_course().zip_file_name(lab, first=first, last=last)
    with zipfile.ZipFile(folder / name, "w") as archive:
        for notebook, book in books.items():
            archive.writestr(f"{notebook}.ipynb", nbformat.writes(book))
        for file, text in files.items():
            archive.writestr(file, text)


def grade(source: Path, lab: str, into: Path) -> dict[str, SubmissionVerdict]:
    """The verdict on each hand-in, by the student's name."""
    assert main(["grade", lab, "--from", str(source), "--into", str(into), "--jobs", "2"]) == 0
    verdicts = {}
    with (into / "grades" / lab / "grades.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            verdict = load_verdict(into, lab, row["student"])
            assert verdict is not None
            assert float(row["total"]) == pytest.approx(sum(t.points for t in verdict.tasks))
            verdicts[row["name"]] = verdict
    return verdicts


def points(verdict: SubmissionVerdict) -> dict[str, float]:
    return {f"{task.notebook}/{task.grade_id}": task.points for task in verdict.tasks}


def test_solved_gets_full_marks_and_unfilled_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOGRADER_HOME", "")
    source = tmp_path / "in"
    source.mkdir()
    filled = solved_by_a_student(LAB)
    graphs = {name: (REFERENCE / name).read_text(encoding="utf-8") for name in GRAPHS}
    hand_in(source, LAB, "Ada Lovelace", filled, graphs | tables())
    hand_in(source, LAB, "Charles Babbage", folder_of(ROOT / "notebooks", LAB), {})
    hand_in(source, LAB, "Mary Somerville", filled, graphs)
    verdicts = grade(source, LAB, tmp_path / "home")
    wanted = full_marks(folder_of(ROOT / "solutions", LAB))
    solved, unfilled = verdicts["Lovelace Ada"], verdicts["Babbage Charles"]
    assert points(solved) == pytest.approx(wanted), solved
    assert not solved.remarks
    assert points(unfilled) == dict.fromkeys(wanted, 0)
    assert_only_the_tables_are_missing(verdicts["Somerville Mary"], wanted)


def assert_only_the_tables_are_missing(
    verdict: SubmissionVerdict, wanted: dict[str, float]
) -> None:
    """Nothing is measured in a sandbox, so that nothing runs into its limits."""
    assert not verdict.remarks
    lost = {name for name, reached in points(verdict).items() if reached < wanted[name]}
    assert lost == {
        "05b_checkin/t62_check",
        *(f"06_experiments/{task}_check" for task in ("t62", "t64", "t65")),
    }
    for task in verdict.tasks:
        if task.points == 0:
            (finding,) = task.cases[0].findings
            assert "hand in memory.csv" in finding.look or "hand in latency.csv" in finding.look


def test_packing_takes_the_tables_along_and_measures_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    lab = read_course().lab(LAB)
    work = tmp_path / LAB
    shutil.copytree(ROOT / "notebooks" / LAB, work)
    for name, book in solved_by_a_student(LAB).items():
        nbformat.write(book, work / f"{name}.ipynb")
    for name in GRAPHS:
        shutil.copy(REFERENCE / name, work)
    for table, text in tables().items():
        (work / table).write_text(text, encoding="utf-8")
    trial = inspection.inspect(lab, work, lambda _: None, run=False)
    assert str(trial).count("has the rows of PROJECT_SIZE=small") == len(tables()), trial
    # From here on as if the tiny models were those of the hand-in.
    small = Small("PROJECT_SIZE", "small", "small")
    files = tuple(HandedIn(f.name, True) if f.measured else f for f in LAB_AS_IT_IS.files)
    monkeypatch.setattr(project, "LAB", replace(LAB_AS_IT_IS, small=small, files=files))
    report = inspection.inspect(lab, work, lambda _: None)
    assert report.ready, report
    assert report.points == lab.points - report.by_hand, report
    assert "06_experiments.ipynb: Question 6.7 has no answer (1.5 points)" in str(report)
    path = pack(lab, work, Owner("Ada", "Lovelace"), report)
    assert set(tables()) < set(zipfile.ZipFile(path).namelist())
    assert {name: (work / name).read_text(encoding="utf-8") for name in tables()} == tables()
