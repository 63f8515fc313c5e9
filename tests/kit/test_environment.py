"""check-env: every FAIL has a cause that was planted and a cure; a good machine has none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

import pytest

from lab_utils.kit import carry as work
from lab_utils.kit.course import CourseError
from lab_utils.kit.files import MARK
from lab_utils.kit.machine import environment as env
from tests.support.sample_course import ROOT

Usage = namedtuple("Usage", "total used free")


def failures(folder: Path) -> list[str]:
    return [str(fact) for fact in env.environment(folder) if not fact.ok]


def test_this_machine_is_ready(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert failures(tmp_path) == []
    assert env.check_environment(tmp_path)
    (line,) = capsys.readouterr().out.splitlines()
    assert line.startswith(f"Environment OK: Python {sys.version.split()[0]}, torch 2.")
    assert not list(tmp_path.iterdir())


def test_the_command_prints_a_line_for_each_thing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lab_utils", "check-env"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    lines = result.stdout.splitlines()
    assert all(line.startswith("OK    ") for line in lines)
    for what in ("Python", "torch", "ipywidgets", "kernel", "dot", "disk", "can write", "clock"):
        assert any(line.startswith(f"OK    {what}") for line in lines), what


def test_it_works_where_torch_is_missing(tmp_path: Path) -> None:
    """In an interpreter without any package: it must say so, and not fall over."""
    code = "from lab_utils.__main__ import main; import sys; sys.exit(main(['check-env']))"
    command = [sys.executable, "-S", "-c", code]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 1, result.stderr
    assert "FAIL  torch is not installed for" in result.stdout
    assert "pip install 'torch>=2.9,<2.15'" in result.stdout
    assert "FAIL  notebooks cannot run with" in result.stdout


@pytest.mark.parametrize(
    ("found", "requirement", "within"),
    [
        ("2.9.0", "torch>=2.9,<2.15", True),
        ("2.14.1+cu126", "torch>=2.9,<2.15", True),
        ("2.15.0", "torch>=2.9,<2.15", False),
        ("2.15.0a0+git", "torch>=2.9,<2.15", False),
        ("2.8.0", "torch>=2.9,<2.15", False),
        ("3.11.2", "Python>=3.11", True),
        ("3.9.18", "Python>=3.11", False),
        ("1.26", "numpy", True),
        ("2.0.2", "scalesim==2.0.2", True),
        ("3.0.0", "scalesim==2.0.2", False),
    ],
)
def test_bounds(found: str, requirement: str, within: bool) -> None:
    assert env._within(found, requirement) is within


def test_an_old_torch_and_a_missing_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if name == "pandas":
            raise env.PackageNotFoundError(name)
        return "2.4.1+cu121" if name == "torch" else "99"

    monkeypatch.setattr(env, "version", version)
    torch, pandas = failures(tmp_path)
    assert torch.startswith("FAIL  torch 2.4.1+cu121\n      cure: run: ")
    assert "pandas is not installed" in pandas
    assert not env.check_environment(tmp_path)
    (tmp_path / MARK).touch()
    assert env.check_environment(tmp_path), "a sandbox is none of the student's business"


def test_what_one_lab_needs_is_missing_where_it_lies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def version(name: str) -> str:
        if name == "transformers":
            raise env.PackageNotFoundError(name)
        return "99" if name != "torch" else "2.13.0"

    monkeypatch.setattr(env, "version", version)
    assert failures(ROOT / "notebooks" / "lab4a") == []
    assert failures(tmp_path) == []
    assert any("only project needs it" in f.text for f in env.environment(tmp_path))
    (line,) = failures(ROOT / "notebooks" / "project")
    assert line.startswith("FAIL  transformers is not installed for")
    assert "pip install 'transformers>=4.50'" in line
    monkeypatch.setattr(env, "version", lambda name: "4.1" if name == "transformers" else "2.13.0")
    (line,) = [line for line in failures(ROOT / "notebooks" / "project") if "transformers" in line]
    assert line.startswith("FAIL  transformers 4.1\n      cure: run: ")


def test_what_a_lab_can_do_without_is_named_and_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    here = ROOT / "notebooks" / "lab2a"

    def version(name: str) -> str:
        if name == "scalesim":
            raise env.PackageNotFoundError(name)
        return "99" if name != "torch" else "2.13.0"

    monkeypatch.setattr(env, "version", version)
    assert failures(here) == []
    told = [fact.text for fact in env.environment(here)]
    assert any("scalesim is not there; the notebooks do without it" in text for text in told)
    assert any("pip install 'scalesim==2.0.2'" in text for text in told)
    assert "scikit-learn 99" in told
    monkeypatch.setattr(env, "version", lambda name: "3.0.0" if name == "scalesim" else "99")
    told = [fact.text for fact in env.environment(here)]
    assert any("scalesim 3.0.0 is another version" in text for text in told)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9, 5_000_000))
    (line,) = failures(tmp_path)
    assert line.startswith("FAIL  disk: 0.0 GB free\n      cure: delete")


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise OSError(122, "Disk quota exceeded")

    monkeypatch.setattr(env.tempfile, "TemporaryFile", refuse)
    (line,) = failures(tmp_path)
    assert f"cannot write in {tmp_path}: Disk quota exceeded" in line


def test_no_dot_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert failures(tmp_path) == []
    assert any("drawn without it" in fact.text for fact in env.environment(tmp_path))


def test_a_wrong_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "setup").mkdir()
    (tmp_path / "setup" / "release.json").write_text(json.dumps({"date": "2026-11-16"}))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    monkeypatch.setattr(env, "ROOT", tmp_path)
    assert failures(tmp_path) == []
    monkeypatch.setattr(env.time, "time", lambda: 1_000_000_000.0)  # 2001
    (line,) = failures(tmp_path)
    assert "seconds off" in line
    monkeypatch.setattr(env, "CLOCK_SECONDS", 10**12)
    (line,) = failures(tmp_path)
    assert "before this release (2026-11-16)" in line


def test_half_a_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "ROOT", tmp_path)
    (line,) = failures(tmp_path)
    assert "pyproject.toml is missing\n      cure: unpack the release again" in line


@pytest.mark.parametrize(
    "command", ["import lab_utils", "import lab_utils.kit.machine.environment"]
)
def test_an_old_python_is_told_in_one_line(command: str) -> None:
    """Before anything is imported that it does not have."""
    pretend = f"import sys; sys.version_info = (3, 10, 1); {command}"
    code = [sys.executable, "-c", pretend]
    said = subprocess.run(code, cwd=ROOT, capture_output=True, text=True)
    assert said.returncode == 1
    assert said.stderr.startswith("FAIL  the lab needs Python 3.11 or newer, and this is 3.10 (")
    assert "cure: choose the lab's kernel" in said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize("course", ["found", "missing"])
def test_only_folders_of_labs_are_searched_for_earlier_work(
    course: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In a shared folder, another student's my_work.py may lie next door: it is never run."""

    def no_course() -> None:
        raise CourseError("cannot read the course file")

    if course == "missing":
        monkeypatch.setattr(work, "read_course", no_course)
    for folder in ("lab4a", "project", "ada", "work of mallory"):
        (tmp_path / folder).mkdir()
    trap = tmp_path / "sprung"
    for folder in ("ada", "work of mallory"):
        text = f"# part: choose\nopen({str(trap)!r}, 'w')\ndef choose(): ...\n"
        (tmp_path / folder / work.FILE).write_text(text)
    monkeypatch.chdir(tmp_path / "project")
    assert work.load_work("choose") is None
    assert "choose has not been saved yet" in capsys.readouterr().out
    saved = "# part: classify\ndef classify():\n    return 'mine'\n"
    (tmp_path / "lab4a" / work.FILE).write_text(saved)
    assert work.load_work("classify")() == "mine"
    assert work.load_work("choose") is None
    assert not trap.exists()


def test_a_function_below_a_magic_is_carried_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``%%time`` runs a cell in a way that hides its text from Python."""
    cells = (
        "def wrap(f):\n    f.is_wrapped = True\n    return f\n",
        "%%time\n@wrap\ndef twice(x):\n    return more(x) + x\n",
        "def more(x):\n    return x\n",
        "from lab_utils.kit.carry import save_work\nsave_work(twice)\n",
    )
    script = (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        f"for cell in {cells!r}:\n"
        "    shell.run_cell(cell, store_history=True).raise_error()\n"
    )
    paths = {"PYTHONPATH": str(ROOT), "IPYTHONDIR": str(tmp_path / "ipython")}
    subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env={**os.environ, **paths}, check=True
    )
    monkeypatch.chdir(tmp_path)
    assert work.load_work("twice")(3) == 6
    assert work.load_work("twice").is_wrapped
