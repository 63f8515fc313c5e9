"""Answers go from an older release into a newer one, and nothing is lost."""

from __future__ import annotations

import json
import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.utils import compute_checksum

from lab_utils.__main__ import main
from lab_utils.kit.course import RELEASE_NAME
from lab_utils.kit.course.releases import MARK, with_work
from lab_utils.kit.root import ROOT
from lab_utils.kit.upgrade import Carried, carry, cell_digests, checksum, release_name

NAME = "01_first_steps"
RELEASED = (ROOT / "notebooks" / "lab0" / f"{NAME}.ipynb").read_bytes()
MINE = "def tensor_bytes(shape, dtype):\n    return 42  # mine"


def cell(text: str, **marks: Any) -> dict[str, Any]:
    made: dict[str, Any] = nbformat.v4.new_code_cell(text)
    if marks:
        marks = {"grade": False, "locked": False, **marks}
        made["metadata"] = {"nbgrader": {**marks, "checksum": checksum(text, "code", marks)}}
    return dict(made)


def hole(grade_id: str, text: str) -> dict[str, Any]:
    return cell(text, solution=True, grade_id=grade_id)


def book(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": deepcopy(list(cells)), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def written(one: dict[str, Any], text: str) -> dict[str, Any]:
    return {**deepcopy(one), "source": text}


def texts(notebook: dict[str, Any]) -> list[str]:
    return [one["source"] for one in notebook["cells"]]


def test_the_checksum_is_nbgraders_own() -> None:
    marked = [
        one for one in nbformat.reads(RELEASED.decode(), 4).cells if "nbgrader" in one.metadata
    ]
    assert len(marked) == 5
    for one in marked:
        found = checksum(one.source, one.cell_type, one.metadata["nbgrader"])
        assert found == compute_checksum(one) == one.metadata["nbgrader"]["checksum"]


def test_answers_and_own_cells_are_carried_and_stubs_are_not() -> None:
    first, second, gone = hole("t1", "stub 1"), hole("t2", "stub 2"), hole("t9", "stub 9")
    demo, changed = cell("demo"), cell("an older demo")
    mine = cell("mine, at the top"), cell("mine, below 1")
    old = book(mine[0], demo, written(first, "answer 1"), mine[1], changed, second)
    old["cells"].append(written(gone, "answer 9"))
    newer = [hole(name, f"newer stub of {name}") for name in ("t1", "t2", "t3")]
    new = book(demo, cell("a newer demo"), *newer)
    ours = set(cell_digests(json.dumps(book(demo, first, changed, second, gone)).encode()))
    made, told = carry(old, new, ours)
    assert [text for text in texts(made) if "answer 9" not in text] == [
        *("mine, at the top", "demo", "a newer demo"),
        *("answer 1", "mine, below 1", "newer stub of t2", "newer stub of t3"),
    ]
    assert "answer 9" in "".join(texts(made)), "nothing is lost"
    assert (told.answers, told.changed, told.new, told.kept_apart) == (
        ["t1"],
        ["t1"],
        ["t3"],
        ["t9"],
    )
    assert told.own_cells == 2
    nbformat.validate(nbformat.from_dict({**made, "metadata": {}}))
    unknown, told = carry(old, new, set())
    assert "an older demo" in texts(unknown), "who does not know what was given keeps it"


@pytest.fixture
def releases(tmp_path: Path) -> tuple[Path, Path]:
    """An older release with work in it, and a newer one beside it."""
    folders = []
    for at, (version, text) in enumerate(
        {"0.1.0-aaaaaaaa": "", "0.2.0-bbbbbbbb": "# newer\n"}.items()
    ):
        folder = tmp_path / f"{RELEASE_NAME}-{version}"
        (folder / "notebooks" / "lab0").mkdir(parents=True)
        (folder / "setup").mkdir()
        notebook = json.loads(RELEASED)
        for one in notebook["cells"]:
            marks = one["metadata"].get("nbgrader", {})
            if marks.get("solution"):
                one["source"] = text + "".join(one["source"])
                marks["checksum"] = checksum(one["source"], "code", marks)
        data = json.dumps(notebook)
        (folder / "notebooks" / "lab0" / f"{NAME}.ipynb").write_text(data)
        note = {"name": folder.name, "cells": {f"lab0/{NAME}": cell_digests(data.encode())}}
        (folder / "setup" / "release.json").write_text(json.dumps(note))
        (folder / MARK).touch()
        os.utime(folder / MARK, (1_700_000_000 + at, 1_700_000_000 + at))
        folders.append(folder)
    old, new = folders
    path = old / "notebooks" / "lab0" / f"{NAME}.ipynb"
    path.write_text(json.dumps(_solved(json.loads(path.read_text()), MINE)))
    (old / "notebooks" / "lab0" / "bytes.csv").write_text("tensor,bytes\n")
    return old, new


def _solved(notebook: dict[str, Any], text: str) -> dict[str, Any]:
    for one in notebook["cells"]:
        if one["metadata"].get("nbgrader", {}).get("grade_id") == "t11":
            one["source"] = text
    return notebook


def test_a_student_goes_on_in_the_newer_release(
    releases: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = releases
    before = (old / "notebooks" / "lab0" / f"{NAME}.ipynb").read_bytes()
    assert with_work(old.parent, new) == old
    assert main(["upgrade", "--to", str(new)]) == 0
    said = capsys.readouterr().out
    assert f"lab0/{NAME}.ipynb: 1 answer\n" in said
    assert "the text that you were given is another one now: t11" in said
    made = json.loads((new / "notebooks" / "lab0" / f"{NAME}.ipynb").read_text())
    assert MINE in texts(made)
    assert (new / "notebooks" / "lab0" / "bytes.csv").is_file()
    assert (old / "notebooks" / "lab0" / f"{NAME}.ipynb").read_bytes() == before
    assert with_work(old.parent, new) is None, "it has been carried over"
    assert release_name(new) == new.name


def test_what_was_begun_in_the_newer_release_is_kept(releases: tuple[Path, Path]) -> None:
    old, new = releases
    path = new / "notebooks" / "lab0" / f"{NAME}.ipynb"
    path.write_text(json.dumps(_solved(json.loads(path.read_text()), "begun")))
    assert main(["upgrade", "--from", str(old), "--to", str(new)]) == 0
    (kept,) = path.parent.glob("*before the upgrade.ipynb")
    assert "begun" in texts(json.loads(kept.read_text()))
    assert MINE in texts(json.loads(path.read_text()))
    again = path.read_bytes()
    assert main(["upgrade", "--from", str(old), "--to", str(new)]) == 0
    assert path.read_bytes() == again


def test_a_file_that_is_there_already_stays_and_is_told(
    releases: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = releases
    theirs, there = (folder / "notebooks" / "lab0" / "bytes.csv" for folder in releases)
    for content, told in (("begun\n", True), (theirs.read_text(), False)):
        there.write_text(content)
        assert main(["upgrade", "--from", str(old), "--to", str(new)]) == 0
        assert there.read_text() == content
        said = "lab0/bytes.csv: another one is there already"
        assert (said in capsys.readouterr().out) is told


def test_mistakes_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["upgrade", "--from", str(tmp_path), "--to", str(tmp_path / "no")]) == 2
    assert "is no release" in capsys.readouterr().err
    assert str(Carried("lab0/x.ipynb", skipped="cannot be read")) == "lab0/x.ipynb: cannot be read"


def test_releases_that_were_unpacked_by_hand_are_found(releases: tuple[Path, Path]) -> None:
    _, new = releases
    for folder in releases:
        (folder / MARK).unlink()
    assert main(["upgrade", "--to", str(new)]) == 0
    made = json.loads((new / "notebooks" / "lab0" / f"{NAME}.ipynb").read_text())
    assert MINE in texts(made)
