"""Notebook 06: tables that cannot be lose their points with the right words; right ones none."""

from __future__ import annotations

import csv
import io

import pytest

from autograder.labs.project.hidden import HIDDEN
from lab_utils.kit.judge import Verdict, judge_all
from lab_utils.labs.project import LAB
from lab_utils.labs.project.judge import JUDGE
from tests.labs.project.catalogue import RIGHT_TABLES, WRONG_TABLES, Rows, TableChange
from tests.labs.project.data import tables

FILE_OF = {"6.2": "memory.csv", "6.4": "memory.csv", "6.5": "latency.csv"}


def verdict_on(task_id: str, text: str) -> Verdict:
    """The verdict on a table, on all cases that grading has."""
    cases = HIDDEN.graded_cases(task_id)
    replies = [{"answer": {"file": FILE_OF[task_id], "text": text}}] * len(cases)
    return judge_all(LAB.task_called(task_id), JUDGE[task_id], cases, replies)


def changed(file: str, change: TableChange, separator: str = ",") -> str:
    return written(change.change(list(csv.DictReader(io.StringIO(tables()[file])))), separator)


def written(rows: Rows, separator: str = ",") -> str:
    text = io.StringIO()
    if rows:
        writer = csv.DictWriter(text, list(rows[0]), delimiter=separator)
        writer.writeheader()
        writer.writerows(rows)
    return text.getvalue()


@pytest.mark.parametrize("task_id", FILE_OF)
def test_what_the_solution_measures_has_full_marks(task_id: str) -> None:
    verdict = verdict_on(task_id, tables()[FILE_OF[task_id]])
    assert verdict.passed, verdict


@pytest.mark.parametrize("change", WRONG_TABLES, ids=lambda change: change.name)
def test_a_wrong_table_loses_its_points(change: TableChange) -> None:
    verdict = verdict_on(change.task, changed(change.file, change))
    assert verdict.points < LAB.task_called(change.task).points
    for word in change.says:
        assert word in str(verdict), verdict


@pytest.mark.parametrize("change", RIGHT_TABLES, ids=lambda change: change.name)
def test_a_right_table_has_full_marks(change: TableChange) -> None:
    for task_id, file in FILE_OF.items():
        verdict = verdict_on(task_id, changed(file, change))
        assert verdict.passed, verdict


def test_as_a_spreadsheet_saves_it() -> None:
    for task_id, file in FILE_OF.items():
        as_it_is = TableChange("", "", lambda rows: rows)
        text = "\ufeff" + changed(file, as_it_is, separator=";").replace("\n", "\r\n")
        assert verdict_on(task_id, text).passed


def test_what_was_measured_to_try_the_notebook_is_not_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROJECT_SIZE", "full")
    for task_id, file in FILE_OF.items():
        verdict = verdict_on(task_id, tables()[file])
        assert verdict.points == 0
        assert "hand in what it measures without" in str(verdict)
