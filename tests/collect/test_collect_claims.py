"""Collecting a class: what somebody else named after a student changes nothing by itself."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from autograder.collect.names import Names
from autograder.collect.records import CollectError, HandIn, RemarkKind
from autograder.collect.roster import Roster, Student
from tests.support.collect_class import (
    DOT,
    JANE,
    WEI,
    Files,
    Take,
    kinds,
    names_in,
    only,
    put,
    text_of,
    zip_of,
)

pytest_plugins = ["tests.support.collect_fixtures"]

MINE, OTHER = "Doe Jane ECE 1 TEST fa00 labS.zip", "Jane_Doe.zip"
LATER = 1_800_000_000
MALLORY = Student("mmoss", "Mallory", "Moss", "mmoss@school.edu")


@pytest.fixture
def empty(good: Files) -> bytes:
    """The zip of somebody who wants another student to have no points."""
    return zip_of({"llm_mlp.dot": good["llm_mlp.dot"]})


def is_held(row: HandIn, name: str) -> bool:
    return RemarkKind.HELD_BACK in kinds(row) and (
        f"Held back: '{name}'" in text_of(row, RemarkKind.HELD_BACK)
    )


def row_of(rows: list[HandIn], student: Student) -> HandIn:
    (row,) = [row for row in rows if row.student == student.id]
    return row


@pytest.mark.parametrize("in_two_runs", [False, True])
def test_a_newer_zip_named_after_a_student_does_not_replace_theirs(
    take: Take, good: Files, empty: bytes, tmp_path: Path, in_two_runs: bool
) -> None:
    put(tmp_path / "in", {MINE: zip_of(good)})
    if in_two_runs:
        assert only(take()).remarks == ()
    put(tmp_path / "in", {OTHER: empty}, LATER)
    row = only(take())
    assert row.original.name == MINE
    assert names_in(row) == set(good)
    assert is_held(row, OTHER)
    assert f"'{MINE}' counts" in text_of(row, RemarkKind.SEVERAL_UPLOADS)
    assert only(take()) == row  # and so it stays
    os.utime(tmp_path / "in" / MINE, (LATER + 9, LATER + 9))  # nor do times decide, later on
    os.utime(tmp_path / "in" / OTHER, (1, 1))
    again = only(take())
    assert again.original.name == MINE
    assert is_held(again, OTHER)


def test_their_own_next_version_still_counts(
    take: Take, good: Files, empty: bytes, tmp_path: Path
) -> None:
    take({MINE: empty})
    put(tmp_path / "in", {OTHER: b"PK\3\4 cut off"}, LATER)
    take()
    put(tmp_path / "in", {MINE: zip_of(good)}, LATER + 60)
    row = only(take())
    assert names_in(row) == set(good)
    assert is_held(row, OTHER)
    newer = MINE.replace(".zip", " (2).zip")
    put(tmp_path / "in", {newer: zip_of({**good, "llm_mlp.dot": DOT * 2})}, LATER + 90)
    row = only(take())
    assert row.original.name == newer
    assert is_held(row, OTHER)


def test_what_cannot_be_read_is_not_replaced_by_what_somebody_else_sends(
    take: Take, good: Files
) -> None:
    row = only(take({MINE: b"PK\3\4 cut off", OTHER: zip_of(good)}))
    assert row.folder is None
    assert is_held(row, OTHER)


def test_the_same_content_under_another_name_is_nothing_to_decide(take: Take, good: Files) -> None:
    row = only(take({MINE: zip_of(good), OTHER: zip_of(good)}))
    assert kinds(row) == [RemarkKind.SEVERAL_UPLOADS]
    assert "others have the same content" in row.remarks[0].text


def test_an_instructor_decides_by_a_flag(
    take: Take, good: Files, empty: bytes, tmp_path: Path
) -> None:
    take({MINE: empty, OTHER: zip_of(good)})
    row = only(take(accept=[OTHER]))
    assert (row.original.name, names_in(row)) == (OTHER, set(good))
    assert kinds(row) == [RemarkKind.SEVERAL_UPLOADS]
    assert only(take()) == row  # decided is decided
    put(tmp_path / "in", {"Doe-Jane-labS.zip": empty}, LATER)
    row = only(take())
    assert row.original.name == OTHER
    assert is_held(row, "Doe-Jane-labS.zip")
    assert only(take(accept=[MINE])).original.name == MINE
    with pytest.raises(CollectError, match="no upload is called 'nobody.zip'"):
        take(accept=["nobody.zip"])


def test_an_instructor_decides_by_moving_a_file(
    take: Take, good: Files, empty: bytes, tmp_path: Path
) -> None:
    take({MINE: empty, OTHER: zip_of(good)})
    (tmp_path / "in" / MINE).unlink()
    row = only(take())
    assert (row.original.name, names_in(row)) == (OTHER, set(good))
    assert f"'{MINE}', which counted before" in text_of(row, RemarkKind.OTHER_ORIGIN)
    assert only(take()) == row
    put(tmp_path / "in", {MINE: empty})
    (tmp_path / "in" / OTHER).unlink()
    assert names_in(only(take())) == {"llm_mlp.dot"}


def test_an_account_of_the_lms_decides_before_a_name(
    take: Take, good: Files, empty: bytes, tmp_path: Path
) -> None:
    bulk = {
        "doejane_12_300_lab.zip": zip_of(good),
        "zhangwei_13_301_lab.zip": zip_of(good),
        "oneilliam_14_302_Doe Jane.zip": empty,
    }
    put(tmp_path / "in", bulk)
    put(tmp_path / "in", {"Jane Doe.zip": empty}, LATER)
    jane = row_of(take(), JANE)
    assert jane.original.name == "doejane_12_300_lab.zip"
    assert is_held(jane, "Jane Doe.zip")
    newer = zip_of({"llm_mlp.dot": DOT * 2})
    put(tmp_path / "in", {"doejane_12_400_lab-1.zip": newer}, 1)  # her own: the newest counts
    jane = row_of(take(), JANE)
    assert jane.original.name == "doejane_12_400_lab-1.zip"
    assert is_held(jane, "Jane Doe.zip")


def test_what_looks_like_an_account_in_a_plain_folder_is_a_name_as_any_other(
    take: Take, good: Files, empty: bytes, tmp_path: Path
) -> None:
    names = (MINE, "Zhang Wei labS.zip", "Liam ONeil.zip", "Michael Stone.zip")
    put(tmp_path / "in", {name: zip_of(good) for name in names})
    forged = {"doejane_1_9_labS.zip": empty, "doejane_2_10_labS.zip": zip_of({})}
    put(tmp_path / "in", forged, LATER)
    jane = row_of(take(), JANE)
    assert jane.original.name == MINE
    for name in forged:
        assert f"'{name}'" in text_of(jane, RemarkKind.HELD_BACK)


def test_the_owner_of_a_file_in_a_shared_folder_is_an_origin(
    take: Take, good: Files, empty: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owners = {MINE: 1001, "Wei Zhang.zip": 1002, MINE.replace(".zip", " (1).zip"): 1003}
    real = Path.stat

    def stat(path: Path, **options: Any) -> os.stat_result:
        found = real(path, **options)
        owner = owners.get(path.name, found.st_uid)
        return os.stat_result((*found[:4], owner, *found[5:10]))

    monkeypatch.setattr(Path, "stat", stat)
    forged = MINE.replace(".zip", " (1).zip")
    rows = take({MINE: zip_of(good), "Wei Zhang.zip": zip_of(good), forged: empty})
    assert row_of(rows, JANE).original.name == MINE
    assert is_held(row_of(rows, JANE), forged)
    assert row_of(rows, WEI).remarks == ()


def test_the_folder_of_one_and_the_name_of_another_is_nobodys(
    take: Take, good: Files, empty: bytes, tmp_path: Path
) -> None:
    roster = Roster((JANE, MALLORY))
    theirs = "Doe Jane_11_assignsubmission_file_/Doe Jane labS.zip"
    put(tmp_path / "in", {theirs: zip_of(good)})
    put(tmp_path / "in", {"Moss Mallory_12_assignsubmission_file_/Doe Jane labS.zip": empty}, LATER)
    jane, other = take(roster=roster)
    assert (jane.student, jane.remarks, names_in(jane)) == (JANE.id, (), set(good))
    assert other.student == "unmatched-doe-jane"
    assert other.perhaps == (JANE.id, MALLORY.id)


@pytest.mark.parametrize(
    ("label", "students"),
    [
        ("mmoss_Doe Jane labS", {MALLORY, JANE}),
        ("labS_mmoss_attempt_2025-03-01-10-00-00_Doe Jane labS", {MALLORY, JANE}),
        ("Mallory Moss Doe Jane labS", {MALLORY, JANE}),
        ("mmoss_Moss Mallory labS", {MALLORY}),
        ("mmoss labS", {MALLORY}),
    ],
)
def test_the_login_of_one_and_the_name_of_another_are_both_told(
    label: str, students: set[Student]
) -> None:
    assert set(Names(Roster((JANE, MALLORY, WEI)), ["labS"]).match(label).students) == students
