"""A new lab is made of files that fit, and of nothing else; bad names are refused."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest

from autograder.authoring.new_lab import COURSE, TEMPLATE, new_lab
from autograder.cli import main
from lab_utils.kit.course import read_course
from lab_utils.kit.errors import LabError
from lab_utils.kit.root import ROOT
from tests.support.sample_course import write


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with nothing but its course file."""
    write(tmp_path / COURSE, (ROOT / COURSE).read_text(encoding="utf-8"))
    return tmp_path


def everything(root: Path) -> set[str]:
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}


def test_it_adds_files_and_an_entry_and_changes_nothing_else(root: Path) -> None:
    before = (root / COURSE).read_text(encoding="utf-8")
    written = new_lab("toy", "Toys and their parts", root)
    assert everything(root) == {path.as_posix() for path in written}
    after = (root / COURSE).read_text(encoding="utf-8")
    assert after.startswith(before)
    lab = read_course(root / COURSE).lab("toy")
    assert lab.title == "Toys and their parts"
    assert [(notebook.name, notebook.points) for notebook in lab.notebooks] == [("01_first", 1)]
    assert list(tomllib.loads(after)["labs"])[-1] == "toy"


def test_the_name_and_the_title_are_everywhere(root: Path) -> None:
    for path in new_lab("toy", "Toys", root):
        text = (root / path).read_text(encoding="utf-8")
        assert "newlab" not in f"{path} {text}"
        assert "A new lab" not in text
    assert "# Toys, notebook 1:" in (root / "solutions/toy/01_first.py").read_text()


@pytest.mark.parametrize("title", ["A new lab", "T" * 60])
def test_what_it_writes_needs_no_tidying(root: Path, title: str) -> None:
    new_lab("abcdefghijklmnopqrst", title, root)
    write(root / "tests" / "support" / "catalogue.py", "")  # which it imports: ruff looks for it
    write(root / "pyproject.toml", (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for command in (["check"], ["format", "--check"]):
        result = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "."],
            cwd=root,
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    "name", ["", "a", "5lab", "Lab5", "lab-5", "lab_5", "class", "../lab5", "lab 5", "l" * 21]
)
def test_a_name_that_could_not_be_a_folder_is_refused(root: Path, name: str) -> None:
    with pytest.raises(LabError, match="cannot be called"):
        new_lab(name, root=root)
    assert everything(root) == {COURSE.as_posix()}


@pytest.mark.parametrize("title", ["", 'a "toy"', "two\nlines", "back\\slash", "T" * 61])
def test_a_title_that_could_not_stand_in_all_files_is_refused(root: Path, title: str) -> None:
    with pytest.raises(LabError, match="cannot have the title"):
        new_lab("toy", title, root)
    assert everything(root) == {COURSE.as_posix()}


def test_what_is_there_stays(root: Path) -> None:
    with pytest.raises(LabError, match="has a lab lab0 already"):
        new_lab("lab0", root=root)
    write(root / "tests/labs/toy/mine.py", "mine")
    before = everything(root)
    with pytest.raises(LabError, match="a folder tests/labs/toy already"):
        new_lab("toy", root=root)
    assert everything(root) == before


def test_the_command_says_what_comes_next(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lab_utils.kit.root.ROOT", root)
    assert main(["new-lab", "toy"]) == 0
    told = capsys.readouterr().out
    for words in ("notebooks toy", "verify toy", "make grade LAB=toy", "docs/add-a-lab.md"):
        assert words in told
    assert (root / "lab_utils/labs/toy/__init__.py").is_file()
    assert main(["new-lab", "Toy"]) == 2
    assert "cannot be called 'Toy'" in capsys.readouterr().err


def test_the_template_knows_the_kit_as_it_is() -> None:
    for side, names in (
        ("lab_utils", ("ask", "judge", "show")),
        ("autograder", ("build", "hidden", "sample_class")),
    ):
        for name in names:
            import_module(f"autograder.authoring.template.{side}.labs.newlab.{name}")
    sample = import_module("autograder.authoring.template.autograder.labs.newlab.sample_class")
    source = (TEMPLATE / "solutions/newlab/01_first.py").read_text(encoding="utf-8")
    assert all(change.old in source for one in sample.CLASS for change in one.changes)


def test_the_template_lies_as_the_lab_will() -> None:
    for path in TEMPLATE.rglob("*"):
        assert (
            (ROOT / path.relative_to(TEMPLATE)).exists()
            or "newlab" in path.as_posix()
            or ("__pycache__" in path.parts)
        )
