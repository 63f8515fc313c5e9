"""Collecting a class: whose is it?"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.collect import RosterError, read_roster
from autograder.collect.names import Names
from autograder.collect.records import Bounds, RemarkKind
from autograder.collect.roster import Roster, Student
from autograder.collect.words import squashed
from tests.support.collect_class import (
    CLASS,
    FIRST,
    JANE,
    LIAM,
    MICHAEL,
    WEI,
    ZOE,
    Files,
    Take,
    flagged,
    kinds,
    names_in,
    only,
    put,
    text_of,
    zip_of,
    zip_of_pairs,
)

pytest_plugins = ["tests.support.collect_fixtures"]


# ---------------------------------------------------------------- whose is it?


@pytest.mark.parametrize(
    ("label", "student"),
    [
        ("Doe Jane ECE 8803 HML sp25 lab4A", JANE),
        ("Doe Jane ECE8803 lab 4a (1)", JANE),
        ("Jane_Doe", JANE),
        ("jane-doe", JANE),
        ("DOE,jane", JANE),
        ("  doe   jane  lab4A final v2 ", JANE),
        ("JaneDoe", JANE),
        ("jane.doe", JANE),
        ("jdoe3", JANE),
        ("lab4a jdoe3 submission", JANE),
        ("garcia marquez zoe", ZOE),
        ("Zoë Ana García Márquez", ZOE),
        ("Zoe\u0308 Garci\u0301a-Ma\u0301rquez lab4A", ZOE),
        ("GarcíaMárquez_Zoë", ZOE),
        ("O'Neil Liam", LIAM),
        ("O’Neil_Liam", LIAM),
        ("liam oneil", LIAM),
        ("o neil liam", LIAM),
    ],
)
def test_a_name_in_full_is_found_however_it_is_written(label: str, student: Student) -> None:
    match = Names(CLASS, ["ECE 8803 HML", "sp25", "lab4A", "lab4a"]).match(label)
    assert match.students == (student,)
    assert match.sure


@pytest.mark.parametrize(
    ("label", "student"),
    [
        ("Stone Micheal", MICHAEL),
        ("Micheal_Stone lab4A", MICHAEL),
        ("stonemicheal", MICHAEL),
        ("Doe Jane Marie", JANE),
        ("doejanemarie", JANE),
        ("Garcia Zoe", ZOE),
        ("Doe J", JANE),
        ("doe", JANE),
        ("zhagn wei", WEI),
    ],
)
def test_a_close_name_is_a_guess(label: str, student: Student) -> None:
    match = Names(CLASS, ["lab4A"]).match(label)
    assert match.students == (student,)
    assert not match.sure


@pytest.mark.parametrize(
    "label",
    ["Doe John", "Zhang Wen", "zhangwen", "Wei Chen", "doejanet", "lab4A", "", "Neil Liz", "王伟"],
)
def test_another_name_is_nobody(label: str) -> None:
    assert Names(CLASS, ["lab4A"]).match(label).students == ()


def test_two_students_whom_a_name_fits_are_both_told() -> None:
    john = Student("jdoe7", "John", "Doe")
    other_jane = Student("doej", "Jane", "Doe", "jane.doe2@school.edu")
    names = Names(Roster((JANE, john, other_jane)), [])
    assert names.match("Doe J").students == (JANE, john, other_jane)
    assert names.match("doe").students == (JANE, john, other_jane)
    assert names.match("Jane Doe").students == (JANE, other_jane)
    assert names.match("jdoe7").students == (john,)
    assert names.match("Doe Jane", user="jdoe3").students == (JANE,)
    # The number of one and the name of another: a person has to look.
    assert set(names.match("Doe John", user="jdoe3").students) == {JANE, john}


def test_a_login_that_is_a_first_name_of_another_student_is_not_believed() -> None:
    mark = Student("stone", "Mark", "Twain")
    assert Names(Roster((mark, MICHAEL)), []).match("Michael Stone").students == (MICHAEL,)


def test_words_of_the_course_are_kept_if_somebody_is_called_so() -> None:
    final = Student("f1", "Ece", "Final")
    match = Names(Roster((final, JANE)), ["ECE 8803"]).match("Final Ece ECE 8803")
    assert match.students == (final,)


FIRSTS = st.sampled_from(["Jan", "Jane", "Janet", "John", "Jon", "Su", "Su Min", "Sumin", "Wei"])
LASTS = st.sampled_from(["Doe", "Dole", "Su", "Wei", "Zhang", "Kim", "Doe Dole"])


@given(
    st.sets(st.tuples(FIRSTS, LASTS), min_size=1, max_size=12),
    st.tuples(FIRSTS, LASTS),
    st.sampled_from(["{1} {0}", "{0}_{1}", "{1}{0}", "{1}-{0} lab4A (2)"]),
)
def test_no_full_name_is_ever_given_to_another_student(
    enrolled: set[tuple[str, str]], who: tuple[str, str], form: str
) -> None:
    students = {name: Student(f"s{n}", *name) for n, name in enumerate(sorted(enrolled))}
    match = Names(Roster(tuple(students.values())), ["lab4A"]).match(form.format(*who))
    if who in students:
        assert students[who] in match.students
    elif match.sure and len(match.students) == 1:
        # Somebody of whose name it has nothing but letters: it may leave out a middle name.
        (found,) = match.students
        assert not Counter(squashed(" ".join(who))) - Counter(squashed(found.name))


@given(
    st.sampled_from(CLASS.students),
    st.booleans(),
    st.sampled_from([" ", "_", "-", ", ", ".", "__", ""]),
    st.sampled_from([str.lower, str.upper, str.title]),
    st.sampled_from(["", " lab4A", "_lab4a_final", " ECE 8803 HML sp25 lab4A", " (2)", "-1"]),
)
def test_every_full_name_finds_its_student(
    student: Student, last_first: bool, between: str, case: Callable[[str], str], after: str
) -> None:
    parts = [student.last, student.first] if last_first else [student.first, student.last]
    label = case(between.join(parts)) + after
    match = Names(CLASS, ["ECE 8803 HML", "sp25", "lab4A", "lab4a"]).match(label)
    assert (match.students, match.sure) == ((student,), True)


def test_canvas_names_tell_student_and_lateness(take: Take, good: Files) -> None:
    rows = take(
        {
            "doejane_1234_98765_Some name.zip": zip_of(good),
            "garcíamárquezzoëana_LATE_77_98766_lab4A-2.zip": zip_of(good),
            "LATE_anon_Xy12z_98767_Wei Zhang lab4A.zip": zip_of(good),
            "wonderlandalice_55_98768_Jane Doe.zip": zip_of(good),
        }
    )
    found = {row.student: (row.late, kinds(row)) for row in rows}
    assert found == {
        JANE.id: (False, []),
        ZOE.id: (True, []),
        WEI.id: (True, []),
        # Called as Jane would, but from another account.
        "unmatched-wonderlandalice": (False, [RemarkKind.AMBIGUOUS]),
    }


def test_who_is_not_in_the_class_list_has_a_row_and_is_graded(take: Take, good: Files) -> None:
    row = only(take({"Alice Wonderland labS.zip": zip_of(good)}))
    assert row.student == "unmatched-alice-wonderland"
    assert "'Alice Wonderland'" in text_of(row, RemarkKind.NOT_IN_ROSTER)
    assert names_in(row) == set(good)


def test_what_could_be_two_students_is_given_to_neither(take: Take, good: Files) -> None:
    john = Student("jdoe7", "John", "Doe")
    files = {name: zip_of(good) for name in ("Doe J.zip", "Doe J (1).zip", "Doe John.zip")}
    rows = take(files, roster=Roster((JANE, john)))
    assert [row.student for row in rows] == ["jdoe7", "unmatched-doe-j-1", "unmatched-doe-j-2"]
    for row in rows[1:]:
        assert "Jane Doe (jdoe3) and John Doe (jdoe7)" in text_of(row, RemarkKind.AMBIGUOUS)
        assert names_in(row) == set(good)


def test_a_guess_never_takes_the_place_of_a_full_name(take: Take, good: Files) -> None:
    rows = take({"Jane Doe.zip": zip_of(good), "Jane Marie Doe.zip": zip_of({})})
    assert [row.student for row in rows] == [JANE.id, "unmatched-jane-marie-doe"]
    assert kinds(rows[0]) == []
    assert "another hand-in fits as well or better" in text_of(rows[1], RemarkKind.AMBIGUOUS)


def test_two_different_guesses_are_not_one_student(take: Take, good: Files) -> None:
    rows = take({"Jane Ann Doe.zip": zip_of(good), "Jane Marie Doe.zip": zip_of(good)})
    assert [row.student for row in rows] == [
        "unmatched-jane-ann-doe",
        "unmatched-jane-marie-doe",
    ]


def test_two_accounts_of_one_name_are_two_students(take: Take, good: Files) -> None:
    files = {f"doejane_{user}_{user}9_x.zip": zip_of(good) for user in (12, 34)}
    assert [row.student for row in take(files, roster=None)] == ["doejane-12", "doejane-34"]
    rows = take()
    assert [row.student for row in rows] == ["unmatched-doejane-12", "unmatched-doejane-34"]
    numbered = Roster((Student("12", "Jane", "Doe"), Student("34", "Jane", "Doe")))
    assert [row.student for row in take(roster=numbered)] == ["12", "34"]


def test_without_a_class_list_names_become_ids(take: Take, good: Files) -> None:
    files = {
        "Doe Jane ECE 1 TEST fa00 labS.zip": zip_of(good),
        "Müller_Łukasz.zip": zip_of(good),
        "王伟.zip": zip_of(good),
        "李娜.zip": zip_of(good),
        "labS.zip": zip_of(good),
        "labS (1).zip": zip_of(good),
        f"{'Long ' * 40}.zip": zip_of(good),
    }
    rows = take(files, roster=None)
    students = {row.student for row in rows}
    assert len(students) == len(files)
    assert {"doe-jane", "muller-lukasz", "labs", "labs-1"} <= students
    assert all(re.fullmatch("[a-z0-9-]{1,70}", student) for student in students)
    assert {row.name for row in rows} >= {"Doe Jane", "王伟"}
    assert not [row for row in rows if row.remarks]


@pytest.mark.parametrize(
    "newer",
    [
        "Doe Jane labS (1).zip",
        "Doe Jane labS-2.zip",
        "doe_jane_labS v2.zip",
        "Doe Jane labS new.zip",
    ],
)
def test_of_two_uploads_of_one_name_the_newest_counts_and_it_is_said(
    take: Take, good: Files, newer: str
) -> None:
    other = {**good, f"{FIRST}.ipynb": b"{}"}
    files = {"Doe Jane labS.zip": zip_of(good), newer: zip_of(other)}
    row = only(take(files))
    assert row.original.name == newer
    assert RemarkKind.HELD_BACK not in kinds(row)
    text = text_of(row, RemarkKind.SEVERAL_UPLOADS)
    assert f"'{newer}' counts, the newest" in text
    assert "Not graded: 'Doe Jane labS.zip'" in text
    assert only(take(dict(reversed(files.items())))).original.name == "Doe Jane labS.zip"


def test_canvas_numbers_decide_before_the_clock(take: Take, good: Files) -> None:
    files = {
        "doejane_12_300_Doe Jane-1.zip": zip_of(good),
        "doejane_12_200_Doe Jane.zip": zip_of(good),
    }
    assert only(take(files)).original.name == "doejane_12_300_Doe Jane-1.zip"


@pytest.mark.parametrize(("older", "newer"), [(2, 3), (9, 10)])
def test_the_number_of_the_attempt_decides_when_times_are_equal(
    take: Take, good: Files, tmp_path: Path, older: int, newer: int
) -> None:
    put(tmp_path / "in", {f"Jane Doe ({number}).zip": zip_of(good) for number in (newer, older)})
    for path in (tmp_path / "in").iterdir():
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert only(take()).original.name == f"Jane Doe ({newer}).zip"


def test_a_broken_newest_upload_does_not_hide_a_good_one(take: Take, good: Files) -> None:
    row = only(take({"Jane Doe.zip": zip_of(good), "Jane Doe (1).zip": b"PK\3\4 cut off"}))
    assert row.original.name == "Jane Doe.zip"
    assert "the newest that can be graded" in text_of(row, RemarkKind.SEVERAL_UPLOADS)
    assert names_in(row) == set(good)


def test_a_bulk_download_may_be_one_zip(take: Take, good: Files, tmp_path: Path) -> None:
    bulk = zip_of_pairs(
        [
            ("doejane_12_300_Doe Jane.zip", zip_of(good)),
            ("zhangwei_LATE_13_301_lab.zip", zip_of(good)),
            ("oneilliam_14_302_lab.zip", b"not a zip"),
            ("../../../stonemichael_15_303_lab.zip", zip_of(good)),
            ("sub/garcíamárquezzoë_16_304_a\0b\n.zip", zip_of(good)),
            ("doejane_12_299_Doe Jane.zip", zip_of({})),
            ("__MACOSX/._doejane_12_300_Doe Jane.zip", b"\0"),
        ]
    )
    put(tmp_path, {"submissions.zip": bulk})
    rows = take(source=tmp_path / "submissions.zip")
    assert [row.student for row in rows] == sorted(student.id for student in CLASS)
    assert {row.student: row.late for row in rows}[WEI.id]
    for row in rows:
        wanted = {LIAM.id: [RemarkKind.NOT_A_ZIP, RemarkKind.NOTHING_TO_GRADE]}
        wanted[JANE.id] = [RemarkKind.SEVERAL_UPLOADS]
        assert kinds(row) == wanted.get(row.student, [])
        assert row.original.is_relative_to(tmp_path / "submitted" / ".collected")
        assert row.uploaded.year == 2025
    assert set(os.listdir(tmp_path)) == {"in", "submissions.zip", "submitted"}
    assert take(source=tmp_path / "submissions.zip") == rows


def test_a_bulk_download_with_bad_entries_loses_nobody(take: Take, tmp_path: Path) -> None:
    entries = [(f"{name}_1_{n}_x.zip", b"zip") for n, name in enumerate(["doejane", "zhangwei"])]
    for bulk, kind in (
        (flagged(zip_of_pairs(entries), 0x1), RemarkKind.ENCRYPTED),
        (zip_of_pairs(entries, mode=stat.S_IFLNK | 0o777), RemarkKind.NOT_A_FILE),
    ):
        put(tmp_path, {"bulk.zip": bulk})
        rows = take(source=tmp_path / "bulk.zip")
        assert [row.student for row in rows] == [JANE.id, WEI.id]
        for row in rows:
            assert kinds(row) == [kind, RemarkKind.NOTHING_TO_GRADE]
            assert row.folder is None
    rows = take(source=tmp_path / "bulk.zip", limits=Bounds(upload=2))
    assert len(rows) == len(entries)


def test_entries_of_one_name_in_a_bulk_download_are_all_looked_at(
    take: Take, good: Files, tmp_path: Path
) -> None:
    entries = [("Jane Doe.zip", b"no"), ("Jane Doe.zip", zip_of(good)), ("Jane Doe.zip/x.zip", b"")]
    put(tmp_path, {"bulk.zip": zip_of_pairs(entries)})
    jane, other = take(source=tmp_path / "bulk.zip")
    assert text_of(jane, RemarkKind.SEVERAL_UPLOADS).startswith("2 uploads; ")
    assert names_in(jane) == set(good)
    assert other.student == "unmatched-x"


def test_one_zip_of_one_student_is_a_source_too(take: Take, good: Files, tmp_path: Path) -> None:
    put(tmp_path, {"Jane Doe.zip": zip_of(good), "Wei Zhang.zip": b"no"})
    assert names_in(only(take(source=tmp_path / "Jane Doe.zip"))) == set(good)
    assert only(take(source=tmp_path / "Wei Zhang.zip")).student == WEI.id


def test_loose_notebooks_of_one_account_are_one_hand_in(take: Take, good: Files) -> None:
    files = {f"doejane_12_{n}_{name}": data for n, (name, data) in enumerate(good.items())}
    files["doejane_12_77_screenshot.png"] = b"\x89PNG"
    files |= {f"Wei Zhang/{name}": data for name, data in good.items()}
    rows = take(files)
    assert [row.student for row in rows] == [JANE.id, WEI.id]
    assert all(names_in(row) == set(good) for row in rows)


def test_a_folder_may_name_the_student(take: Take, good: Files) -> None:
    files = {
        "Doe Jane_1234_assignsubmission_file_/labS.zip": zip_of(good),
        "Zhang Wei/x/labS.zip": zip_of(good),
    }
    assert [row.student for row in take(files, roster=None)] == ["doe-jane", "zhang-wei"]
    assert [(row.student, row.remarks) for row in take()] == [(JANE.id, ()), (WEI.id, ())]


# ---------------------------------------------------------------- the class list


@pytest.mark.parametrize(
    "text",
    [
        "id,first_name,last_name,email\njdoe3,Jane,Doe,jane@x.edu\n",
        "\ufeffStudent ID;First Name;Last Name;E-Mail\r\njdoe3;Jane;Doe;jane@x.edu\r\n",
        "Email Address\tSurname\tGiven name\tUsername\njane@x.edu\tDoe\tJane\tjdoe3\n",
        'Student,ID,SIS Login ID,Email\n    Points Possible,,,\n"Doe, Jane",jdoe3,x,jane@x.edu\n',
        "Name,Login,Email,Other\n\nJane Doe,jdoe3,jane@x.edu,1,2,3\n",
    ],
)
def test_headers_and_separators_of_a_class_list_may_vary(tmp_path: Path, text: str) -> None:
    path = tmp_path / "students.csv"
    path.write_text(text, encoding="utf-8")
    (student,) = read_roster(path)
    wanted = ("jdoe3", "Jane", "Doe", "jane@x.edu")
    assert (student.id, student.first, student.last, student.email) == wanted


def test_a_class_list_from_an_old_spreadsheet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "students.csv"
    path.write_bytes("id,first,last\nz1,Zoë,García\n".encode("cp1252"))
    assert [student.name for student in read_roster(path)] == ["Zoë García"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty; its first line must be: id,first_name"),
        ("a,b\n1,2\n", ":1: needs columns id, first_name and last_name; has: a, b"),
        ("PK\x03\x04\0\0", "is not a CSV file: a spreadsheet must be saved as CSV"),
        ("id,first,last\n../x,A,B\n", r":2: id '../x' cannot name a folder"),
        ("id,first,last\nunmatched-a,A,B\n", ":2: id 'unmatched-a' cannot"),
        ("id,first,last\na,A,B\nA,C,D\n", ":3: id 'A' is there twice"),
    ],
)
def test_a_mistake_in_a_class_list_is_told(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "students.csv"
    path.write_text(text)
    with pytest.raises(RosterError, match=words):
        read_roster(path)
    with pytest.raises(RosterError, match="cannot read the class list"):
        read_roster(tmp_path / "no.csv")
