"""Collecting a class: good hand-ins, collecting again, garbage. None stops the others."""

from __future__ import annotations

import json
import random
import re
import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.collect import CollectError, collect
from autograder.collect.notebook import BrokenNotebook, read_cells
from autograder.collect.records import Bounds, HandIn, RemarkKind, shown
from autograder.collect.released import Released
from autograder.collect.repair import repair
from tests.support.collect_class import (
    ANSWERS,
    CLASS,
    DOT,
    FIRST,
    JANE,
    NOTEBOOKS,
    SECOND,
    WEI,
    Files,
    Take,
    below,
    check,
    graded,
    is_clean,
    kinds,
    names_in,
    only,
    put,
    zip_of,
    zip_of_pairs,
)
from tests.support.collect_damage import bad_zips, clean, file_names, garbage
from tests.support.sample_course import LAB

pytest_plugins = ["tests.support.collect_fixtures"]


# ---------------------------------------------------------------- a good hand-in


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
    roster = tmp_path / "students.csv"
    roster.write_text("id,first_name,last_name\n")
    with pytest.raises(CollectError, match="students.csv is no hand-in: give a folder of zips"):
        take(source=roster)
    with pytest.raises(CollectError, match="move it elsewhere"):
        take(source=put(tmp_path / "submitted" / "x", {}) / "..")
    (tmp_path / "setup").mkdir()
    (tmp_path / "setup" / "course.toml").write_text((course / "setup/course.toml").read_text())
    with pytest.raises(CollectError, match="make notebooks makes it"):
        collect(tmp_path, LAB, tmp_path / "submitted", root=tmp_path)


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


def told_uploads(row: HandIn) -> int:
    """How many uploads a row speaks of."""
    several = [r.text for r in row.remarks if r.kind == RemarkKind.SEVERAL_UPLOADS]
    return int(several[0].split()[0]) if several else 1


@given(garbage | st.binary(max_size=300))
def test_a_notebook_of_garbage_is_read_or_refused(
    released: dict[str, Released], data: bytes
) -> None:
    with suppress(BrokenNotebook):
        notebook, _ = repair(read_cells(data, Bounds()), released[FIRST])
        check(notebook)


def test_hostile_texts_take_no_time_that_grows_with_their_square(
    released: dict[str, Released],
) -> None:
    """Only that it ends: a quadratic comparison of these cells would take hours."""
    source = random.Random(0).choices(["x", "y", "(", ")", " ", "=", '"', "def "], k=2000)
    cell = {"cell_type": "code", "source": "".join(source), "metadata": {}}
    data = json.dumps({"cells": [cell] * 300}).encode()
    check(repair(read_cells(data, Bounds()), released[FIRST])[0])


def test_names_are_shown_in_one_short_line() -> None:
    assert shown("a\nb\u202ec") == "a?b?c"
    assert len(shown("x" * 5000 + ".zip")) == 60
    assert shown("x" * 5000 + ".zip").endswith(".zip")
