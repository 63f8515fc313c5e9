"""Verdicts go to files and come back as they were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.grading.verdict import (
    CaseVerdict,
    Chart,
    SubmissionVerdict,
    TaskVerdict,
    load_verdict,
    save_verdict,
    verdict_file,
    write_private,
)
from autograder.remark import Remark
from lab_utils.kit.task import Finding

FINDING = Finding("d_l0 still reads l0", "d_l0 reads its clone", "As long as …")
TASK = TaskVerdict(
    "3.1",
    "backward reads the clones",
    "03_backward",
    "t31_check",
    1.33,
    2,
    "graph",
    (CaseVerdict("llm_mlp with 4 blocks", False), CaseVerdict("hidden", True, (FINDING,))),
    Chart("llm_mlp with 4 blocks", {"before": (3, 9, 3), "yours": (3, 5, 3)}, 6),
)
VERDICT = SubmissionVerdict(
    "ada",
    "lab4a",
    "full",
    1.25,
    "abc",
    (TASK, replace(TASK, id="4.1", points=0.5, max_points=0.75, chart=None)),
    (Remark("memory", "used more than …", "02_recomputation", "t22"), Remark("files", "ünïcode")),
)


def test_a_verdict_comes_back_as_it_was(tmp_path: Path) -> None:
    path = save_verdict(VERDICT, tmp_path)
    assert path == tmp_path / "verdicts/lab4a/ada.json"
    assert load_verdict(tmp_path, "lab4a", "ada") == VERDICT
    assert list(path.parent.iterdir()) == [path]


def test_programs_find_sums_and_what_passed(tmp_path: Path) -> None:
    data = json.loads(save_verdict(VERDICT, tmp_path).read_text())
    assert (data["points"], data["max_points"]) == (1.83, 2.75)
    assert [case["passed"] for case in data["tasks"][0]["cases"]] == [True, False]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"student": 1', "\0"])
def test_a_broken_file_is_no_verdict(text: str, tmp_path: Path) -> None:
    assert load_verdict(tmp_path, "lab4a", "ada") is None
    write_private(verdict_file(tmp_path, "lab4a", "ada"), text)
    assert load_verdict(tmp_path, "lab4a", "ada") is None


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_private(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_private(path, "\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
