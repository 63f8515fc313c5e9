"""Collecting a class: whose is it, what is in it, and is it whole? No hand-in stops the others."""

from __future__ import annotations

import io
import json
import os
import random
import re
import shutil
import stat
import struct
import zipfile
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.notebooknode import NotebookNode

from autograder.collect import CollectError, RosterError, collect, read_roster
from autograder.collect.names import Names
from autograder.collect.notebook import BrokenNotebook, read_cells
from autograder.collect.records import MB, Limits, Remark, RemarkKind, Submission, shown
from autograder.collect.released import Released, read_released
from autograder.collect.repair import repair
from autograder.collect.roster import Roster, Student
from autograder.collect.words import squashed
from tests.collect_class import (
    ANSWERS,
    CLASS,
    DOT,
    FIRST,
    JANE,
    LIAM,
    MICHAEL,
    NOTEBOOKS,
    SECOND,
    WEI,
    ZOE,
    as_bytes,
    as_saved,
    below,
    check,
    find,
    flagged,
    graded,
    is_clean,
    kinds,
    names_in,
    only,
    order,
    put,
    sources,
    text_of,
    zip_of,
    zip_of_pairs,
)
from tests.collect_damage import bad_zips, clean, damaged, file_names, garbage
from tests.sample_course import LAB, as_colab, as_vscode, fill

ROOT = Path(__file__).parents[1]
pytest_plugins = ["tests.collect_fixtures"]


# ---------------------------------------------------------------- a good hand-in


Take = Callable[..., list[Submission]]
Files = dict[str, bytes]


def test_a_good_hand_in_arrives_whole_and_without_remarks(take: Take, good: Files) -> None:
    row = only(take({"Doe Jane ECE 1 TEST fa00 labS.zip": zip_of(good)}))
    assert (row.student, row.name, row.late, row.remarks) == ("jdoe3", "Jane Doe", False, ())
    assert names_in(row) == set(good)
    for name in NOTEBOOKS:
        mine = graded(row, name)
        assert {key: mine[key] for key in ANSWERS if key in mine} == {
            key: text for key, text in ANSWERS.items() if key in mine
        }
    assert row.folder is not None
    assert (row.folder / "llm_mlp.dot").read_bytes() == DOT


def test_files_in_folders_are_found_and_nothing_else_is_copied(take: Take, good: Files) -> None:
    inside = {f"My lab/work/{name}": data for name, data in good.items()}
    junk = {
        "__MACOSX/My lab/work/._01_first.ipynb": b"\0\5\x16\7",
        "My lab/.ipynb_checkpoints/01_first-checkpoint.ipynb": b"{}",
        "My lab/.DS_Store": b"\0",
        "My lab/._02_second.ipynb": b"\0\5\x16\7",
        "Thumbs.db": b"",
    }
    extra = {"lab_utils/__init__.py": b"evil", "sitecustomize.py": b"evil", "notes.pdf": b"%PDF"}
    row = only(take({"Jane Doe.zip": zip_of(inside | junk | extra)}))
    assert names_in(row) == set(good)
    assert kinds(row) == [RemarkKind.EXTRA_FILES]
    assert all(name in row.remarks[0].text for name in extra)


def test_collecting_again_changes_nothing_and_touches_nothing(
    take: Take, good: Files, tmp_path: Path
) -> None:
    files = {
        "Jane_Doe.zip": zip_of(good),
        "Wei_Zhang.zip": zip_of({f"{FIRST}.ipynb": b"no"}),
        "Liam ONeil.zip": b"PK\3\4",
    }
    first = take(files)
    originals = below(tmp_path / "in")
    written = below(tmp_path / "submitted")
    assert take() == first
    assert below(tmp_path / "submitted") == written
    assert below(tmp_path / "in") == originals

    put(tmp_path / "in", {"Wei_Zhang.zip": zip_of(good)})
    rows = {row.student: row for row in take()}
    assert rows[WEI.id].remarks == ()
    assert names_in(rows[WEI.id]) == set(good)
    now = below(tmp_path / "submitted")
    assert {path: now[path] for path in now if JANE.id in path} == {
        path: written[path] for path in written if JANE.id in path
    }


def test_what_was_cut_off_is_made_again(take: Take, good: Files, tmp_path: Path) -> None:
    first = take({"Jane_Doe.zip": zip_of(good)})
    whole = {path: data for path, (data, _) in below(tmp_path / "submitted").items()}
    folder = tmp_path / "submitted" / JANE.id / LAB
    card = next((tmp_path / "submitted" / ".collected").rglob(f"{JANE.id}.json"))
    for gone, cut in ((folder / "llm_mlp.dot", ""), (card, ""), (card, "{"), (folder, "")):
        shutil.rmtree(gone) if gone.is_dir() else gone.unlink()
        if cut:
            gone.write_text(cut)
        assert take() == first
        assert {p: data for p, (data, _) in below(tmp_path / "submitted").items()} == whole


def test_what_the_instructor_edits_stays_and_is_told(
    take: Take, good: Files, tmp_path: Path
) -> None:
    first = only(take({"Jane_Doe.zip": zip_of(good)}))
    assert first.folder is not None
    path = first.folder / f"{SECOND}.ipynb"
    path.write_text(path.read_text().replace("sorted", "list"))
    again = only(take())
    assert "list(numbers)" in graded(again, SECOND)["t21"]
    assert kinds(again) == [RemarkKind.EDITED_HERE]
    assert f"{SECOND}.ipynb" in again.remarks[0].text


def test_a_new_release_is_taken_up(course: Path, good: Files, tmp_path: Path) -> None:
    put(tmp_path / "in", {"Jane_Doe.zip": zip_of(good)})
    root = tmp_path / "root"
    for path in (*course.glob(f"notebooks/{LAB}/*.ipynb"), course / "setup" / "course.toml"):
        (root / path.relative_to(course)).parent.mkdir(parents=True, exist_ok=True)
        (root / path.relative_to(course)).write_bytes(path.read_bytes())

    def test_cell() -> str:
        row = only(collect(tmp_path / "in", LAB, tmp_path / "submitted", CLASS, root=root))
        return graded(row, SECOND)["t22_test"]

    assert test_cell() == "assert largest(numbers) == 3"
    path = root / "notebooks" / LAB / f"{SECOND}.ipynb"
    path.write_text(path.read_text().replace("== 3", "== 3.0"))
    assert test_cell() == "assert largest(numbers) == 3.0"


def test_a_class_list_that_comes_later_leaves_no_ghosts(
    take: Take, good: Files, tmp_path: Path
) -> None:
    assert only(take({"Jane_Doe.zip": zip_of(good)}, roster=None)).student == "jane-doe"
    earlier = put(tmp_path / "earlier", {"Liam ONeil.zip": zip_of(good)})
    take(source=earlier, roster=None)
    assert only(take()).student == JANE.id
    students = {path.name for path in (tmp_path / "submitted").iterdir()} - {".collected"}
    assert students == {JANE.id, "liam-oneil"}, "what comes from elsewhere stays"


def test_a_lab_that_is_not_built_and_a_source_that_is_not_there(
    take: Take, course: Path, tmp_path: Path
) -> None:
    with pytest.raises(CollectError, match="nowhere is not there: give a folder of zips"):
        take(source=tmp_path / "nowhere")
    with pytest.raises(CollectError, match="move it elsewhere"):
        take(source=put(tmp_path / "submitted" / "x", {}) / "..")
    (tmp_path / "setup").mkdir()
    (tmp_path / "setup" / "course.toml").write_text((course / "setup/course.toml").read_text())
    with pytest.raises(CollectError, match="make notebooks makes it"):
        collect(tmp_path, LAB, tmp_path / "submitted", root=tmp_path)


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


def test_of_two_uploads_the_newest_counts_and_it_is_said(take: Take, good: Files) -> None:
    older = {**good, f"{FIRST}.ipynb": b"{}"}
    files = {"Jane Doe.zip": zip_of(good), "Doe_Jane_labS.zip": zip_of(older)}
    row = only(take(files))
    assert row.original.name == "Doe_Jane_labS.zip"
    text = text_of(row, RemarkKind.SEVERAL_UPLOADS)
    assert "'Doe_Jane_labS.zip' counts, the newest" in text
    assert "Not graded: 'Jane Doe.zip'" in text
    newer = dict(reversed(files.items()))
    assert only(take(newer)).original.name == "Jane Doe.zip"


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
    rows = take(source=tmp_path / "bulk.zip", limits=Limits(upload=2))
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


# ---------------------------------------------------------------- hostile and broken zips


@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (b"", RemarkKind.NOT_A_ZIP, "is empty"),
        (b"hello", RemarkKind.NOT_A_ZIP, "Not a zip"),
        (b"Rar!\x1a\x07\x01\x00", RemarkKind.NOT_A_ZIP, "a RAR archive"),
        (b"7z\xbc\xaf\x27\x1c", RemarkKind.NOT_A_ZIP, "a 7-Zip archive"),
        (b"<!DOCTYPE html>", RemarkKind.NOT_A_ZIP, "a web page"),
        (zip_of({"x": b"1" * 999})[:60], RemarkKind.TRUNCATED, "cut off"),
        (zip_of({}), RemarkKind.NOTHING_TO_GRADE, "nothing"),
        (zip_of({"notes.txt": b"x"}), RemarkKind.EXTRA_FILES, "notes.txt"),
    ],
)
def test_what_is_no_zip_has_a_row_that_says_so(
    take: Take, good: Files, data: bytes, kind: RemarkKind, words: str
) -> None:
    rows = take({"Jane Doe.zip": data, "Wei Zhang.zip": zip_of(good)})
    assert [row.student for row in rows] == [JANE.id, WEI.id]
    assert words in text_of(rows[0], kind)
    assert rows[0].folder is None
    assert RemarkKind.NOTHING_TO_GRADE in kinds(rows[0])
    assert rows[1].remarks == ()


@pytest.mark.parametrize(
    "place", ["../../{}", "/tmp/{}", "C:\\x\\{}", "..\\..\\{}", "\\\\host\\{}"]
)
def test_a_zip_that_escapes_is_graded_and_stays_inside(
    take: Take, good: Files, tmp_path: Path, place: str
) -> None:
    row = only(take({"Jane Doe.zip": zip_of({place.format(n): d for n, d in good.items()})}))
    assert kinds(row) == [RemarkKind.UNSAFE_PATH]
    assert names_in(row) == set(good)
    assert set(os.listdir(tmp_path)) == {"in", "submitted"}


def test_backslashes_of_an_old_zip_program_are_folders(take: Take, good: Files) -> None:
    row = only(take({"Jane Doe.zip": zip_of({f"lab\\{n}": d for n, d in good.items()})}))
    assert row.remarks == ()
    assert names_in(row) == set(good)


@pytest.mark.parametrize("mode", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK])
def test_links_and_devices_are_left_out(take: Take, good: Files, mode: int) -> None:
    linked = zip_of_pairs([(f"{FIRST}.ipynb", b"/etc/passwd")], mode=mode | 0o777)
    rest = {name: data for name, data in good.items() if FIRST not in name}
    row = only(take({"Jane Doe.zip": merged(linked, zip_of(rest))}))
    assert names_in(row) == set(rest)
    assert FIRST in text_of(row, RemarkKind.NOT_A_FILE)
    assert RemarkKind.MISSING_NOTEBOOK in kinds(row)


def merged(*archives: bytes) -> bytes:
    """One zip with the entries of several, as they are."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as result:
        for data in archives:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for info in archive.infolist():
                    result.writestr(info, archive.read(info))
    return buffer.getvalue()


def test_an_encrypted_zip_is_told(take: Take, good: Files) -> None:
    row = only(take({"Jane Doe.zip": flagged(zip_of(good), 0x1)}))
    assert "password" in text_of(row, RemarkKind.ENCRYPTED)
    assert row.folder is None


def test_a_damaged_entry_costs_that_file_alone(take: Take, good: Files) -> None:
    data = bytearray(zip_of(good))
    at = data.find(f"{FIRST}.ipynb".encode()) + len(f"{FIRST}.ipynb") + 50
    data[at : at + 40] = bytes(40)
    row = only(take({"Jane Doe.zip": bytes(data)}))
    assert f"{FIRST}.ipynb" in text_of(row, RemarkKind.UNREADABLE)
    assert names_in(row) == set(good) - {f"{FIRST}.ipynb"}


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_methods_that_have_no_limit_are_not_used(take: Take, good: Files, method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr(f"{FIRST}.ipynb", good[f"{FIRST}.ipynb"])
    row = only(take({"Jane Doe.zip": buffer.getvalue()}))
    assert FIRST in text_of(row, RemarkKind.UNREADABLE)


def bomb(size: int) -> bytes:
    """Many zeros in few bytes."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("big.bin", "w") as stream,
    ):
        for _ in range(size // MB):
            stream.write(bytes(MB))
    return buffer.getvalue()


def test_a_zip_bomb_is_told_and_what_lies_beside_it_is_graded(take: Take, good: Files) -> None:
    data = merged(bomb(30 * MB), zip_of(good))
    row = only(take({"Jane Doe.zip": data}, limits=Limits(total=20 * MB)))
    assert "would unpack to 30 MB" in text_of(row, RemarkKind.ZIP_BOMB)
    assert names_in(row) == set(good)


def test_a_file_beyond_its_limit_is_not_read(take: Take, good: Files) -> None:
    size = max(map(len, good.values())) + 1
    files = {**good, f"{FIRST}.ipynb": b" " * size, "b.dot": b" " * size}
    archive = zip_of(files)
    row = only(take({"Jane Doe.zip": archive}, limits=Limits(notebook=size - 1, dot=size - 1)))
    text = text_of(row, RemarkKind.TOO_BIG)
    assert f"{FIRST}.ipynb" in text
    assert "b.dot" in text
    assert names_in(row) == set(good) - {f"{FIRST}.ipynb"}


def test_all_files_together_have_a_limit(take: Take, good: Files) -> None:
    total = len(good[f"{FIRST}.ipynb"]) + 10
    row = only(take({"Jane Doe.zip": zip_of(good)}, limits=Limits(total=total)))
    assert names_in(row) == {f"{FIRST}.ipynb"}
    assert f"{SECOND}.ipynb" in text_of(row, RemarkKind.TOO_BIG)


def test_an_entry_that_lies_about_its_size_is_not_believed(take: Take, good: Files) -> None:
    data = bytearray(zip_of(good))
    for signature, offset in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        struct.pack_into("<I", data, data.find(signature) + offset, 10)
    row = only(take({"Jane Doe.zip": bytes(data)}))
    assert f"{FIRST}.ipynb" in text_of(row, RemarkKind.UNREADABLE)
    assert names_in(row) == set(good) - {f"{FIRST}.ipynb"}


def test_too_many_entries_are_refused_before_they_are_read(take: Take, good: Files) -> None:
    many = zip_of({**good, **{f"{n}.txt": b"" for n in range(500)}})
    row = only(take({"Jane Doe.zip": many}, limits=Limits(entries=400)))
    assert "entries" in text_of(row, RemarkKind.ZIP_BOMB)
    row = only(take(limits=Limits(directory=1000)))
    assert "table of contents" in text_of(row, RemarkKind.ZIP_BOMB)
    assert row.folder is None


def test_a_zip_in_a_zip_is_opened_and_no_further(take: Take, good: Files) -> None:
    row = only(take({"Jane Doe.zip": zip_of({"lab/inner.zip": zip_of(good)})}))
    assert names_in(row) == set(good)
    assert row.remarks == ()
    deep = zip_of({"a.zip": zip_of({"b.zip": zip_of(good), "llm_mlp.dot": DOT})})
    row = only(take({"Jane Doe.zip": deep}))
    assert names_in(row) == {"llm_mlp.dot"}
    assert "a.zip/b.zip" in text_of(row, RemarkKind.NESTED_ZIP)
    row = only(take({"Jane Doe.zip": zip_of({"a.zip": b"no", **good})}))
    assert "a.zip" in text_of(row, RemarkKind.UNREADABLE)
    assert names_in(row) == set(good)


def test_absurd_names_do_no_harm(take: Take, good: Files, tmp_path: Path) -> None:
    absurd = [
        f"{'x' * 5000}.ipynb",
        "evil\n\x1b[31m\r.dot",
        "\u202etod.exe.dot",
        "CON.dot",
        "a:b|c?.dot",
        "LLM_MLP.DOT",
        "llm_mlp.dot",
        " .dot",
        "/",
        "\\",
        "//",
        "d.ipynb/",
    ]
    pairs = [(name, b"{}") for name in absurd] + list(good.items())
    row = only(take({"Jane Doe.zip": zip_of_pairs(pairs)}))
    assert names_in(row) >= set(good)
    assert all(path.isascii() and path == path.lower() for path in names_in(row))
    assert "con.dot" not in names_in(row)
    assert all(remark.text.isprintable() for remark in row.remarks)
    assert max(len(remark.text) for remark in row.remarks) < 600


def test_a_file_that_is_there_twice_is_graded_once(take: Take, good: Files) -> None:
    blank = with_empty_solutions(good)
    pairs = [(f"{FIRST}.ipynb", good[f"{FIRST}.ipynb"]), (f"{FIRST}.ipynb", blank)]
    pairs += [("old/llm_mlp.dot", b"old"), *good.items()]
    row = only(take({"Jane Doe.zip": zip_of_pairs(pairs[:3] + pairs[4:])}))
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]
    assert f"{FIRST}.ipynb" in text_of(row, RemarkKind.DUPLICATED_FILE)
    assert row.folder is not None
    assert (row.folder / "llm_mlp.dot").read_bytes() == DOT


def with_empty_solutions(good: Files) -> bytes:
    """The first notebook with nothing in its solutions."""
    notebook = nbformat.reads(good[f"{FIRST}.ipynb"].decode(), as_version=nbformat.NO_CONVERT)
    return as_bytes(fill(notebook, dict.fromkeys(ANSWERS, "")))


# ---------------------------------------------------------------- which notebook is which?


@pytest.mark.parametrize(
    "name",
    [
        f"Copy of {FIRST}.ipynb",
        f"{FIRST} (1).ipynb",
        f"{FIRST}-solution.ipynb",
        f"{FIRST}_final_v2.ipynb",
        f"{FIRST}-Copy1.ipynb",
        f"{FIRST}.ipynb.txt",
        f"{FIRST.upper()}.IPYNB",
        "my homework.ipynb",
        f"{SECOND} (1).ipynb",
    ],
)
def test_a_renamed_notebook_is_known_by_what_is_in_it(take: Take, good: Files, name: str) -> None:
    files = {name: good[f"{FIRST}.ipynb"], f"{SECOND}.ipynb": good[f"{SECOND}.ipynb"]}
    row = only(take({"Jane Doe.zip": zip_of(files)}))
    assert names_in(row) == {f"{FIRST}.ipynb", f"{SECOND}.ipynb"}
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]
    wanted = [] if name.startswith(f"{FIRST}.") else [RemarkKind.RENAMED_FILE]
    assert kinds(row) == wanted


def test_notebooks_whose_names_were_swapped_are_swapped_back(take: Take, good: Files) -> None:
    first, second = f"{FIRST}.ipynb", f"{SECOND}.ipynb"
    row = only(take({"Jane Doe.zip": zip_of({first: good[second], second: good[first]})}))
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]
    assert graded(row, SECOND)["t22"] == ANSWERS["t22"]
    assert kinds(row) == [RemarkKind.RENAMED_FILE]


@pytest.mark.parametrize("name", [f"Copy of {FIRST} (2).ipynb", "01-frist.ipynb"])
def test_a_notebook_with_nothing_familiar_is_known_by_its_name(take: Take, name: str) -> None:
    cell = nbformat.v4.new_code_cell(ANSWERS["t11"])
    row = only(take({"Jane Doe.zip": zip_of({name: nbformat.v4.new_notebook(cells=[cell])})}))
    assert names_in(row) == {f"{FIRST}.ipynb"}
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]


def test_missing_and_extra_notebooks_are_told_and_the_rest_is_graded(
    take: Take, good: Files
) -> None:
    other = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")])
    files = {"scratch.ipynb": as_bytes(other), f"{SECOND}.ipynb": good[f"{SECOND}.ipynb"]}
    row = only(take({"Jane Doe.zip": zip_of(files)}))
    assert names_in(row) == {f"{SECOND}.ipynb"}
    assert "scratch.ipynb" in text_of(row, RemarkKind.EXTRA_NOTEBOOK)
    assert FIRST in text_of(row, RemarkKind.MISSING_NOTEBOOK)
    assert len(row.remarks) == 2


def test_of_two_notebooks_the_one_with_work_in_it_counts(
    take: Take, good: Files, course: Path
) -> None:
    blank = (course / "notebooks" / LAB / f"{FIRST}.ipynb").read_bytes()
    files = {**good, f"{FIRST}.ipynb": blank, f"done/{FIRST}-solved.ipynb": good[f"{FIRST}.ipynb"]}
    row = only(take({"Jane Doe.zip": zip_of(files)}))
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]
    assert f"done/{FIRST}-solved.ipynb counts" in text_of(row, RemarkKind.DUPLICATED_FILE)


def test_what_is_as_released_is_told(take: Take, course: Path) -> None:
    blank = {p.name: p.read_bytes() for p in (course / "notebooks" / LAB).glob("*.ipynb")}
    row = only(take({"Jane Doe.zip": zip_of(blank)}))
    assert kinds(row) == [RemarkKind.NOT_FILLED_IN] * len(NOTEBOOKS)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\0\xff\xfe garbage", "is not a notebook"),
        (b"[1, 2]", "is not a notebook"),
        (b'"text"', "is not a notebook"),
        (b'{"cells": 3}', "has no cells"),
        (b'{"cells": [1, null, "x"]}', "has no cells"),
        (b'{"worksheets": [{"cells": 1}, 2]}', "has no cells"),
        (b'{\n<<<<<<< HEAD\n "cells": []\n}', "git conflict"),
        (b"[" * 100_000, "nested without end"),
        (b'{"cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested without end"),
        (json.dumps({"cells": [{}] * 3000}).encode(), "3,000 cells"),
        (b'{"cells": [' + b"[]," * 600_000 + b"1]}", "too big"),
        (json.dumps({"cells": [{"source": "x" * 6 * MB}]}).encode(), "5 MB of text"),
        (b'{"cells": [{"source": 1e999999, "metadata": ' + b"9" * 9999 + b"}]}", "not a notebook"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_broken_notebook_costs_that_notebook_alone(
    take: Take, good: Files, data: bytes, words: str
) -> None:
    row = only(take({"Jane Doe.zip": zip_of({**good, f"{FIRST}.ipynb": data})}))
    text = text_of(row, RemarkKind.BROKEN_NOTEBOOK)
    assert text.startswith(f"Cannot be graded: {FIRST}.ipynb ")
    assert words in text
    assert names_in(row) == set(good) - {f"{FIRST}.ipynb"}


def test_enormous_outputs_are_dropped_and_the_work_is_graded(
    take: Take, good: Files, solved: dict[str, NotebookNode]
) -> None:
    line, lines = deepcopy(solved[FIRST]), deepcopy(solved[SECOND])
    line.cells[find(line.cells, "t11")].outputs = [
        nbformat.v4.new_output("stream", text='a,[{"\\' * 3 * MB)
    ]
    lines.cells[find(lines.cells, "t22")].outputs = [
        nbformat.v4.new_output("stream", text="a line\n" * 2 * MB)
    ]
    files = {f"{FIRST}.ipynb": as_json(line), f"{SECOND}.ipynb": as_json(lines)}
    row = only(take({"Jane Doe.zip": zip_of({**good, **files})}))
    assert text_of(row, RemarkKind.OUTPUTS_DROPPED).endswith(f"{FIRST} and {SECOND}.")
    assert len(row.remarks) == 1
    assert graded(row, FIRST)["t11"] == ANSWERS["t11"]
    assert row.folder is not None
    assert max(path.stat().st_size for path in row.folder.iterdir()) < MB


def as_json(notebook: NotebookNode) -> bytes:
    """As front ends write it: each line of an output is a text of its own."""
    return json.dumps(nbformat.v4.rwbase.split_lines(deepcopy(notebook))).encode()


def as_format_3(notebook: NotebookNode) -> bytes:
    """The notebook in the format that IPython 2 wrote."""
    return nbformat.writes(deepcopy(notebook), version=3).encode()


@pytest.mark.parametrize(
    "save",
    [
        lambda notebook: as_bytes(as_colab(notebook)),
        lambda notebook: as_bytes(as_vscode(notebook)),
        as_format_3,
        lambda notebook: as_bytes(notebook).decode().encode("utf-16"),
        lambda notebook: b"\xef\xbb\xbf" + as_bytes(notebook),
        lambda notebook: as_bytes(notebook).replace(b"\\n", b"\\r\\n"),
    ],
    ids=["Colab", "VS Code", "format 3", "UTF-16", "byte order mark", "Windows"],
)
def test_every_dialect_is_read(
    take: Take, solved: dict[str, NotebookNode], save: Callable[[NotebookNode], bytes]
) -> None:
    row = only(take({"Jane Doe.zip": zip_of({f"{n}.ipynb": save(solved[n]) for n in NOTEBOOKS})}))
    assert row.remarks == ()
    for name in NOTEBOOKS:
        mine = {key: text.replace("\r", "") for key, text in graded(row, name).items()}
        assert mine == sources(solved[name])


def test_half_a_surrogate_pair_can_be_written(released: dict[str, Released]) -> None:
    data = rb'{"cells": [{"cell_type": "code", "source": ["x = \"\ud800\""]}]}'
    notebook, _ = repair(read_cells(data, Limits()), released[FIRST])
    nbformat.writes(notebook).encode()


def test_pasted_pictures_stay_and_other_attachments_go(
    take: Take, solved: dict[str, NotebookNode]
) -> None:
    answer = deepcopy(solved[FIRST])
    cell = answer.cells[find(answer.cells, "q1")]
    picture = {"image/png": "aGk="}
    cell.attachments = {"p.png": {**picture, "text/html": "<script>"}, "x.js": {"text/html": "x"}}
    row = only(take({"Jane Doe.zip": zip_of({f"{FIRST}.ipynb": answer})}))
    assert row.folder is not None
    found = nbformat.read(row.folder / f"{FIRST}.ipynb", as_version=nbformat.NO_CONVERT)
    assert found.cells[find(found.cells, "q1")].attachments == {"p.png": picture}


# ---------------------------------------------------------------- mending cells


Mended = tuple[NotebookNode, tuple[Remark, ...]]


def mend(notebook: NotebookNode, released: Released) -> Mended:
    """Save, read and repair; the result is sound and has every marked cell once, as released."""
    result, remarks = repair(read_cells(as_saved(notebook), Limits()), released)
    check(result)
    wanted = {released.marked[at]: released.cells[at] for at in released.marked}
    found = [cell for cell in result.cells if "nbgrader" in cell.metadata]
    assert Counter(cell.metadata.nbgrader.grade_id for cell in found) == Counter(wanted.keys())
    for cell in found:
        origin = wanted[cell.metadata.nbgrader.grade_id]
        assert cell.metadata == origin.metadata
        assert cell.cell_type == origin.cell_type
        assert origin.metadata.nbgrader.solution or cell.source == origin.source
    assert all(remark.text.isprintable() for remark in remarks)
    return result, remarks


def told(remarks: tuple[Remark, ...], kind: RemarkKind, *grade_ids: str) -> bool:
    """Whether there is one remark of this kind, and it names these cells."""
    (text,) = [remark.text for remark in remarks if remark.kind == kind]
    return all(re.search(rf"\b{grade_id}\b", text) for grade_id in grade_ids)


def test_a_sound_notebook_is_left_alone(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    for name in NOTEBOOKS:
        result, remarks = mend(solved[name], released[name])
        assert remarks == ()
        assert result == solved[name]


def test_of_copied_solutions_the_last_with_work_in_it_counts(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    at = find(notebook.cells, "t21")
    stub = deepcopy(notebook.cells[at])
    stub.source = released[SECOND].cells[at].source
    draft, final = deepcopy(stub), deepcopy(stub)
    draft.source = "def smallest(numbers):\n    return 'a draft'"
    final.source = "def smallest(numbers):\n    return 'the last'"
    notebook.cells[at : at + 1] = [stub, draft, final, deepcopy(stub)]
    result, remarks = mend(notebook, released[SECOND])
    assert sources(result)["t21"] == final.source
    assert kinds(remarks) == [RemarkKind.DUPLICATED_CELL]
    assert told(remarks, RemarkKind.DUPLICATED_CELL, "t21")
    texts = [cell.source for cell in result.cells]
    assert stub.source not in texts, "an empty copy would undo the solution"
    assert texts.index(draft.source) < texts.index(final.source)


def test_a_solution_after_its_test_is_tested_all_the_same(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    notebook.cells.append(notebook.cells.pop(find(notebook.cells, "t21")))
    result, remarks = mend(notebook, released[SECOND])
    assert order(result).index("t21") < order(result).index("t21_test")
    assert order(result).index("t22") < order(result).index("t22_test")
    assert kinds(remarks) == [RemarkKind.MOVED]


def test_a_copied_test_is_run_once_and_its_edits_do_not_count(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    at = find(notebook.cells, "t21_test")
    copy = deepcopy(notebook.cells[at])
    notebook.cells[at].source = "assert True"
    notebook.cells.append(copy)
    result, remarks = mend(notebook, released[SECOND])
    assert order(result) == order(solved[SECOND])
    assert len(result.cells) == len(solved[SECOND].cells)
    assert set(kinds(remarks)) == {RemarkKind.DUPLICATED_CELL, RemarkKind.CHANGED_LOCKED}


def test_deleted_tests_are_put_back_after_the_students_helpers(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    helper = nbformat.v4.new_code_cell("def helper():\n    return 1")
    notebook.cells[find(notebook.cells, "t21_test")] = helper
    del notebook.cells[find(notebook.cells, "t22_test")]
    result, remarks = mend(notebook, released[SECOND])
    assert order(result) == order(solved[SECOND])
    texts = [cell.source for cell in result.cells]
    assert texts.index(helper.source) < find(result.cells, "t21_test")
    assert find(result.cells, "t21_test") < texts.index("## The largest")
    assert kinds(remarks) == [RemarkKind.MISSING_LOCKED]
    assert told(remarks, RemarkKind.MISSING_LOCKED, "t21_test", "t22_test")


def test_a_deleted_solution_becomes_an_empty_one(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    del notebook.cells[find(notebook.cells, "t21")]
    result, remarks = mend(notebook, released[SECOND])
    assert sources(result)["t21"] == ""
    assert sources(result)["t22"] == ANSWERS["t22"]
    assert order(result) == order(solved[SECOND])
    assert kinds(remarks) == [RemarkKind.MISSING_SOLUTION]


def test_two_solutions_in_one_cell_both_stay(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    both = f"{ANSWERS['t21']}\n\n{ANSWERS['t22']}"
    notebook.cells[find(notebook.cells, "t21")].source = both
    del notebook.cells[find(notebook.cells, "t22")]
    result, _ = mend(notebook, released[SECOND])
    assert (sources(result)["t21"], sources(result)["t22"]) == (both, "")


def test_flags_and_points_are_set_right(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    test = notebook.cells[find(notebook.cells, "t21_test")].metadata.nbgrader
    test.update(points=1000, locked=False, extra="x", schema_version="old")
    solution = notebook.cells[find(notebook.cells, "t22")].metadata.nbgrader
    solution.update(solution=False, locked=True, grade=[1])
    notebook.cells[0].metadata["nbgrader"] = {"grade": True, "grade_id": "free_points", "points": 9}
    notebook.cells[1].metadata["tags"] = ["skip-execution"]
    result, remarks = mend(notebook, released[SECOND])
    assert result == solved[SECOND]
    assert kinds(remarks) == [RemarkKind.CHANGED_MARKS]
    assert told(remarks, RemarkKind.CHANGED_MARKS, "t21_test", "t22")


@pytest.mark.parametrize("cell_type", ["markdown", "raw"])
def test_retyped_cells_are_set_right(
    solved: dict[str, NotebookNode], released: dict[str, Released], cell_type: str
) -> None:
    notebook = deepcopy(solved[FIRST])
    for cell in notebook.cells:
        cell.cell_type = cell_type if cell.cell_type == "code" else "code"
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
    result, remarks = repair(read_cells(as_saved(notebook), Limits()), released[FIRST])
    check(result)
    assert sources(result) == sources(solved[FIRST])
    assert kinds(remarks) == [RemarkKind.RETYPED]
    types = {cell.id: cell.cell_type for cell in solved[FIRST].cells if "nbgrader" in cell.metadata}
    assert types.items() <= {cell.id: cell.cell_type for cell in result.cells}.items()


def test_cells_without_metadata_are_known_by_their_text(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    for name in NOTEBOOKS:
        notebook = deepcopy(solved[name])
        for cell in notebook.cells:
            cell.metadata.clear()
        result, remarks = mend(notebook, released[name])
        assert result == solved[name]
        assert kinds(remarks) == [RemarkKind.RECOGNISED]


def test_renamed_cells_are_known_by_their_text(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[SECOND])
    for grade_id, other in (("t21", "mine"), ("t22", "t21"), ("t22_test", "t22")):
        notebook.cells[find(notebook.cells, grade_id)].metadata.nbgrader.grade_id = other
    result, remarks = mend(notebook, released[SECOND])
    assert result == solved[SECOND]
    assert told(remarks, RemarkKind.RECOGNISED, "t21", "t22", "t22_test")


def test_a_solution_of_which_no_word_is_left_is_known_by_its_place(
    solved: dict[str, NotebookNode], released: dict[str, Released]
) -> None:
    notebook = deepcopy(solved[FIRST])
    cell = notebook.cells[find(notebook.cells, "q1")]
    cell.metadata.clear()
    result, remarks = mend(notebook, released[FIRST])
    assert sources(result)["q1"] == ANSWERS["q1"]
    assert told(remarks, RemarkKind.RECOGNISED, "q1")


@given(st.data())
@settings(max_examples=100)
def test_whatever_happens_to_cells_all_are_there_once_and_untouched_solutions_stay(
    solved: dict[str, NotebookNode], released: dict[str, Released], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(NOTEBOOKS))
    notebook, untouched = data.draw(damaged(solved[name]))
    result, _ = repair(read_cells(as_saved(notebook), Limits()), released[name])
    check(result)
    found = [cell for cell in result.cells if "nbgrader" in cell.metadata]
    assert Counter(order(result)) == Counter(released[name].marked.values())
    originals = {cell.id: cell for cell in released[name].cells}
    for cell in found:
        origin = originals[cell.id]
        assert (cell.metadata, cell.cell_type) == (origin.metadata, origin.cell_type)
        assert origin.metadata.nbgrader.solution or cell.source == origin.source
    mine = sources(solved[name])
    assert {key: sources(result)[key] for key in untouched} == {key: mine[key] for key in untouched}
    # Mending is done once: a mended notebook is sound.
    again, more = repair(read_cells(as_bytes(result), Limits()), released[name])
    assert again == result
    assert set(kinds(more)) <= {RemarkKind.NOT_FILLED_IN}


LAB4A = sorted((ROOT / "notebooks" / "lab4a").glob("*.ipynb"))


@pytest.mark.parametrize("path", LAB4A, ids=lambda path: path.stem)
def test_solved_lab_4a_survives_a_tool_that_strips_everything(path: Path) -> None:
    origin = read_released(path)
    ours = sources(nbformat.read(ROOT / "solutions" / "lab4a" / path.name, as_version=4))
    wanted = {origin.marked[at]: ours[origin.marked[at]] for at in origin.names}
    mine = fill(origin.notebook, wanted)
    stripped = deepcopy(mine)
    for cell in stripped.cells:
        cell.metadata.clear()
    for notebook in (mine, stripped, as_colab(mine), as_vscode(stripped)):
        result, _ = mend(notebook, origin)
        assert sources(result).items() >= wanted.items()
        assert [cell.id for cell in result.cells] == [cell.id for cell in mine.cells]


# ---------------------------------------------------------------- garbage


@given(
    st.lists(st.tuples(file_names, bad_zips() | garbage), max_size=4), st.booleans(), st.booleans()
)
@settings(max_examples=25)
def test_garbage_never_raises_and_never_leaves_its_folder(
    course: Path, uploads: list[tuple[str, bytes]], with_roster: bool, as_bulk: bool
) -> None:
    with TemporaryDirectory() as name:
        top = Path(name)
        source = top / "in"
        source.mkdir()
        if as_bulk:
            source = top / "bulk.zip"
            source.write_bytes(zip_of_pairs([(f"{clean(n)}.zip", d) for n, d in uploads]))
        else:
            for number, (label, data) in enumerate(uploads):
                safe = re.sub(r"[^\w ]", "", label)[:20]
                (source / f"{safe}_{number}_{number}_x.zip").write_bytes(data)
        before = below(top)
        roster = CLASS if with_roster else None
        rows = collect(source, LAB, top / "submitted", roster, root=course)
        found = {kind for row in rows for kind in kinds(row)}
        assert RemarkKind.FAILED not in found
        after = below(top)
        assert {path: after[path] for path in before} == before
        assert all(path.startswith("submitted/") for path in after.keys() - before.keys())
        students = [row.student for row in rows]
        assert len(set(students)) == len(students)
        for row in rows:
            assert all(remark.text.isprintable() for remark in row.remarks)
            assert all(is_clean(path) for path in (row.folder or top / "no").glob("*.ipynb"))
        if not as_bulk:
            told = sum(told_uploads(row) for row in rows)
            assert told == len(uploads)
        assert collect(source, LAB, top / "submitted", roster, root=course) == rows


def told_uploads(row: Submission) -> int:
    """How many uploads a row speaks of."""
    several = [r.text for r in row.remarks if r.kind == RemarkKind.SEVERAL_UPLOADS]
    return int(several[0].split()[0]) if several else 1


@given(garbage | st.binary(max_size=300))
def test_a_notebook_of_garbage_is_read_or_refused(
    released: dict[str, Released], data: bytes
) -> None:
    with suppress(BrokenNotebook):
        notebook, _ = repair(read_cells(data, Limits()), released[FIRST])
        check(notebook)


def test_hostile_texts_take_no_time_that_grows_with_their_square(
    released: dict[str, Released],
) -> None:
    """Only that it ends: a quadratic comparison of these cells would take hours."""
    source = random.Random(0).choices(["x", "y", "(", ")", " ", "=", '"', "def "], k=2000)
    cell = {"cell_type": "code", "source": "".join(source), "metadata": {}}
    data = json.dumps({"cells": [cell] * 300}).encode()
    check(repair(read_cells(data, Limits()), released[FIRST])[0])


def test_names_are_shown_in_one_short_line() -> None:
    assert shown("a\nb\u202ec") == "a?b?c"
    assert len(shown("x" * 5000 + ".zip")) == 60
    assert shown("x" * 5000 + ".zip").endswith(".zip")
