"""The first cell on Colab: a fresh environment that has torch and numpy, and keeps them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from dataclasses import replace
from importlib.metadata import distribution, version
from pathlib import Path
from types import ModuleType

import pytest
from nbformat.v4 import new_notebook

from autograder.authoring.frame import add_frame
from autograder.release.contents import Release
from lab_utils.kit.course import read_course
from lab_utils.kit.machine import colab
from tests.support.released import released
from tests.support.tiny_wheels import wheel

MISSING = ("graphviz", "ipywidgets")
STAND_IN = """
import sys, types, pathlib, shutil, os
colab = types.ModuleType("google.colab")
content = pathlib.Path({content!r})
def mount(where):
    if {drive!r} == "refused":
        raise ValueError("mount failed")
    (pathlib.Path(where) / "MyDrive").mkdir(parents=True, exist_ok=True)
def upload():
    print("asked to upload")
    if {upload!r}:
        shutil.copy({upload!r}, os.getcwd())
colab.drive = types.SimpleNamespace(mount=mount)
colab.files = types.SimpleNamespace(upload=upload)
sys.modules["google.colab"] = colab
sys.modules["google"] = types.ModuleType("google")
sys.modules["google"].colab = colab
os.chdir(content)
"""


@pytest.fixture(scope="module")
def release() -> Release:
    return released()


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with all that we have here, torch and numpy too, but for MISSING."""
    venv = tmp_path_factory.mktemp("runtime")
    base = sys._base_executable  # type: ignore[attr-defined]
    subprocess.run([base, "-m", "venv", venv], check=True)
    (site,) = venv.glob("lib/python*/site-packages")
    ours = Path(str(distribution("torch").locate_file("")))
    for path in ours.iterdir():
        left_out = path.name.lower().startswith((*MISSING, "pip", "__pycache__"))
        if not left_out and path.suffix != ".pth" and not (site / path.name).exists():
            (site / path.name).symlink_to(path)
    return venv / "bin" / "python"


@pytest.fixture
def content(tmp_path: Path) -> Path:
    folder = tmp_path / "content"
    folder.mkdir()
    return folder


def start_cell(lab: str, url: str = "") -> str:
    course = replace(read_course(), release_url=url)
    notebook = new_notebook()
    add_frame(notebook, course, course.lab(lab), course.lab(lab).notebooks[0])
    return notebook.cells[0].source


def run(
    python: Path,
    content: Path,
    *,
    url: str = "",
    upload: str = "",
    drive: str = "refused",
    times: int = 1,
    after: str = "",
    registry: Path | None = None,
) -> str:
    """Run the cell as it is shipped, with another folder for /content, in a fresh runtime."""
    cell = start_cell("lab4a", url).replace("/content", str(content))
    where = "import lab_utils; print('lab_utils from', lab_utils.__file__)"
    code = STAND_IN.format(content=str(content), upload=upload, drive=drive)
    code += f"cell = {cell!r}\nfor _ in range({times}):\n    exec(cell, globals())\n{where}\n"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIP"))}
    environment |= {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}
    environment |= {"PIP_FIND_LINKS": (registry or content / "nothing").as_uri()}
    result = subprocess.run(
        [python, "-c", code + textwrap.dedent(after)],
        env=environment,
        capture_output=True,
        text=True,
    )
    return result.stdout + result.stderr


def kept(python: Path) -> dict[str, str]:
    """Where torch and numpy lie, and their versions."""
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    return {
        path.name: os.readlink(path) if path.is_symlink() else "replaced"
        for name in ("torch", "numpy")
        for path in site.glob(f"{name}*")
    }


def test_an_uploaded_zip_then_again_then_after_a_restart(
    python: Path, content: Path, release: Release, tmp_path: Path
) -> None:
    registry = tmp_path / "registry"
    wheel(registry, "graphviz", "0.21", needs=("numpy",))
    wheel(registry, "ipywidgets", "8.1.9", needs=("torch", "numpy"))
    archive = tmp_path / f"{release.name}.zip"
    archive.write_bytes(release.archive)
    before = kept(python)
    folder = content / release.name
    first = run(python, content, upload=str(archive), registry=registry, times=2)
    assert "Drive is not used: mount failed" in first
    assert "run this cell again, and allow Drive" in first
    assert first.count("asked to upload") == 1, first
    assert first.count("installing graphviz ipywidgets") == 1
    assert f"The lab's files: {folder}/notebooks/lab4a" in first
    assert first.count(f"Environment OK: Python {sys.version.split()[0]}") == 2, first
    assert f"lab_utils from {folder}/lab_utils/__init__.py" in first
    assert kept(python) == before
    assert before
    assert "replaced" not in before.values()
    # A restart, with work in the folder: nothing is asked, installed or overwritten.
    notebook = folder / "notebooks" / "lab4a" / "01_profiler.ipynb"
    notebook.write_text("my work")
    after = """
        import os, torch, numpy
        print(torch.__version__, numpy.__version__, os.getcwd())
    """
    again = run(python, content, after=after)
    assert "asked to upload" not in again
    assert "installing" not in again
    here = folder / "notebooks" / "lab4a"
    assert f"{version('torch')} {version('numpy')} {here}" in again, again
    assert notebook.read_text() == "my work"


def test_from_the_release_url_into_drive(
    python: Path, content: Path, release: Release, tmp_path: Path
) -> None:
    archive = tmp_path / "anything.zip"
    archive.write_bytes(release.archive)
    printed = run(python, content, url=archive.as_uri(), drive="granted")
    home = content / "drive" / "MyDrive" / release.name
    assert f"The lab's files: {home}/notebooks/lab4a" in printed, printed
    assert "open the notebooks from there next time" in printed
    assert "asked to upload" not in printed
    # The next day, in a new runtime: all that is left is Drive.
    for path in content.glob("*.zip"):
        path.unlink()
    again = run(python, content, drive="granted")
    assert f"lab_utils from {home}/lab_utils/__init__.py" in again, again
    assert "asked to upload" not in again


def test_a_zip_that_lies_in_drive(python: Path, content: Path, release: Release) -> None:
    drive = content / "drive" / "MyDrive"
    drive.mkdir(parents=True)
    (drive / f"{release.name}.zip").write_bytes(release.archive)
    printed = run(python, content, drive="granted")
    assert f"lab_utils from {drive / release.name}/lab_utils/__init__.py" in printed, printed


def test_no_release_at_all_is_told(python: Path, content: Path) -> None:
    (content / "recompute-lab-broken.zip").write_text("half a download")
    printed = run(python, content)
    last = printed.strip().splitlines()[-1]
    assert "There is no recompute-lab-….zip yet: run this cell again and choose it." in last


def test_a_newer_zip_comes_beside_the_work(python: Path, content: Path, release: Release) -> None:
    (content / "recompute-lab-a.zip").write_bytes(release.archive)
    run(python, content)
    work = content / release.name / "notebooks" / "lab4a" / "my_work.py"
    work.write_text("mine")
    mark = (content / release.name / ".unpacked").stat().st_mtime
    os.utime(work, (mark + 60, mark + 60))
    newer = replace(release, files={**release.files, "README.md": b"newer"})
    (content / "recompute-lab-b.zip").write_bytes(newer.archive)
    printed = run(python, content)
    assert f"A newer release lies beside your work: {content / newer.name}" in printed, printed
    assert f"The lab's files: {content / release.name}/notebooks" in printed
    assert work.read_text() == "mine"


def test_a_package_that_wants_another_numpy_is_not_installed(
    python: Path, content: Path, release: Release, tmp_path: Path
) -> None:
    """Last: it breaks what the other tests share, if anything does."""
    registry = tmp_path / "registry"
    wheel(registry, "graphviz", "0.30", needs=("numpy>=99",))
    wheel(registry, "numpy", "99.0")
    (site,) = python.parents[1].glob("lib/python*/site-packages")
    for path in site.glob("graphviz*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    (content / f"{release.name}.zip").write_bytes(release.archive)
    before = kept(python)
    printed = run(python, content, registry=registry)
    assert "pip could not install them: ERROR" in printed, printed
    assert "FAIL  graphviz is not installed" in printed
    assert kept(python) == before


def test_the_open_notebook_is_packed_as_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def notebook(name: str, text: str) -> dict:
        return {"cells": [{"metadata": {"nbgrader": {"grade_id": name}}, "source": text}]}

    for name in ("t1", "t2"):
        (tmp_path / f"{name}.ipynb").write_text(json.dumps(notebook(name, "saved")))
    assert colab.save_open_notebook(tmp_path) == ""  # not on Colab
    page = ModuleType("google.colab._message")
    shown = {"ipynb": notebook("t2", "shown")}
    page.blocking_request = lambda *_, **__: shown  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "google", ModuleType("google"))
    monkeypatch.setitem(sys.modules, "google.colab", ModuleType("google.colab"))
    monkeypatch.setitem(sys.modules, "google.colab._message", page)
    assert colab.save_open_notebook(tmp_path) == "t2.ipynb"
    assert "shown" in (tmp_path / "t2.ipynb").read_text()
    assert "saved" in (tmp_path / "t1.ipynb").read_text()
    shown["ipynb"] = notebook("other", "shown")
    assert colab.save_open_notebook(tmp_path) == ""
