"""Collecting a class: hostile and broken zips."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
from pathlib import Path

import nbformat
import pytest

from autograder.collect.records import MB, Bounds, RemarkKind
from tests.support.collect_class import (
    ANSWERS,
    DOT,
    FIRST,
    JANE,
    SECOND,
    WEI,
    Files,
    Take,
    as_bytes,
    flagged,
    graded,
    kinds,
    names_in,
    only,
    text_of,
    zip_of,
    zip_of_pairs,
)
from tests.support.sample_course import fill

pytest_plugins = ["tests.support.collect_fixtures"]


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
    row = only(take({"Jane Doe.zip": data}, limits=Bounds(total=20 * MB)))
    assert "would unpack to 30 MB" in text_of(row, RemarkKind.ZIP_BOMB)
    assert names_in(row) == set(good)


def test_a_file_beyond_its_limit_is_not_read(take: Take, good: Files) -> None:
    size = max(map(len, good.values())) + 1
    files = {**good, f"{FIRST}.ipynb": b" " * size, "llm_mlp.dot": b" " * size}
    archive = zip_of(files)
    row = only(take({"Jane Doe.zip": archive}, limits=Bounds(notebook=size - 1, file=size - 1)))
    text = text_of(row, RemarkKind.TOO_BIG)
    assert f"{FIRST}.ipynb" in text
    assert "llm_mlp.dot" in text
    assert names_in(row) == set(good) - {f"{FIRST}.ipynb", "llm_mlp.dot"}


def test_all_files_together_have_a_limit(take: Take, good: Files) -> None:
    total = len(good[f"{FIRST}.ipynb"]) + 10
    row = only(take({"Jane Doe.zip": zip_of(good)}, limits=Bounds(total=total)))
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
    row = only(take({"Jane Doe.zip": many}, limits=Bounds(entries=400)))
    assert "entries" in text_of(row, RemarkKind.ZIP_BOMB)
    row = only(take(limits=Bounds(directory=1000)))
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
