"""The whole way of a lab that did not exist: made, built, released, solved, packed, graded.

All of it by adding files: nothing of the kit knows the lab.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest

from lab_utils.kit.root import ROOT
from tests.support.sample_course import autograde, fill, folder_of, full_marks, submit
from tests.support.solved_cells import solution_cells
from tests.support.whole_way import grade, pack, python, unpacked

LAB, NOTEBOOK = "toy", "01_first.ipynb"
OF_THE_LAB = ("autograder/labs", "lab_utils/labs", "notebooks", "solutions", "tests/labs")


def copy_of_the_repository(folder: Path) -> Path:
    """What git knows, or would add, in a repository of its own."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout, or git is missing")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "-m", "all")
    return folder


def git(folder: Path, *arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.mark.slow
def test_a_new_lab_goes_all_the_way(tmp_path: Path) -> None:
    repository = copy_of_the_repository(tmp_path / "repository")

    def instructor(*arguments: str) -> str:
        return python(*arguments, cwd=repository, code=repository)

    instructor("autograder", "new-lab", LAB, "--title", "Toys")
    instructor("autograder", "notebooks", LAB)
    instructor("autograder", "notebooks", LAB, "--check")
    changes = git(repository, "status", "--porcelain").splitlines()
    assert sorted(changes) == sorted(
        [" M setup/course.toml", *(f"?? {folder}/{LAB}/" for folder in OF_THE_LAB)]
    )
    added, taken, _ = git(repository, "diff", "--numstat").split()
    assert (int(added) > 0, int(taken)) == (True, 0)

    assert "passed" in instructor("pytest", "-q", f"tests/labs/{LAB}")

    share = tmp_path / "share"
    share.mkdir()
    assert "no leak" in instructor("autograder", "release", "--share", str(share))
    uploads = tmp_path / "uploads"
    uploads.mkdir()

    archive = (share / "current.zip").read_bytes()
    idle = unpacked(archive, tmp_path / "home of charles")
    assert (idle / "lab_utils" / "labs" / LAB / "cases" / "given.json").is_file()
    assert not list(idle.rglob("hidden_cases.json"))
    path, told = pack(idle, LAB, "Charles", "Babbage", "--anyway")
    assert "product_operations (Task 1.1) is still to be written" in told
    assert "Public checks: 0 of 1 point." in told
    shutil.move(path, uploads)

    work = unpacked(archive, tmp_path / "home of ada")
    notebook = work / "notebooks" / LAB / NOTEBOOK
    answers = solution_cells(LAB, repository)
    solved = fill(nbformat.read(notebook, as_version=4), answers)
    nbformat.write(solved, notebook)
    path, told = pack(work, LAB, "Ada", "Lovelace")
    assert "FAIL" not in told
    assert "Public checks: 1 of 1 point." in told
    shutil.move(path, uploads)

    outcomes, rows = grade(repository, LAB, uploads, tmp_path / "grades")
    assert {name: float(row["total"]) for name, row in rows.items()} == {
        "Babbage Charles": 0,
        "Lovelace Ada": 1,
    }
    assert rows["Lovelace Ada"]["remarks"] == ""
    for row in rows.values():
        page = (outcomes / "feedback" / f"{row['student']}.html").read_text(encoding="utf-8")
        assert "operations of a matrix product" in page
        assert ("still to be written" in page) == (row["name"] == "Babbage Charles")

    unfilled = folder_of(repository / "notebooks", LAB)
    submit(repository, LAB, "ada", {"01_first": solved})
    submit(repository, LAB, "charles", unfilled)
    wanted = full_marks(unfilled)
    assert autograde(repository, LAB) == {"ada": wanted, "charles": dict.fromkeys(wanted, 0)}
