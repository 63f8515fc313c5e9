"""Releases: what is in them, what must not be, and how they come into the share."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.authoring.build import Files
from autograder.cli import main
from autograder.release import contents, publish
from autograder.release.contents import Release, ReleaseError, make_release
from autograder.release.leaks import leaks_in_release
from autograder.release.wheels import fill_wheelhouse
from lab_utils.kit.course import read_course
from tests.support.on_demand import fill, tiny
from tests.support.released import released
from tests.support.sample_course import COURSE, ROOT
from tests.support.tiny_wheels import wheel


@pytest.fixture(scope="module")
def release() -> Release:
    return released()


@pytest.fixture
def share(tmp_path: Path) -> Path:
    folder = tmp_path / "the share"
    folder.mkdir(mode=0o755)
    return folder


@pytest.fixture(params=[0o077, 0o000], ids=["umask077", "umask000"])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_a_release_has_all_that_students_need(release: Release, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(release.archive)) as archive:
        assert archive.testzip() is None
        infos = archive.infolist()
        archive.extractall(tmp_path)
    names = [info.filename for info in infos]
    assert names == sorted(names)
    assert {name.partition("/")[0] for name in names} == {release.name}
    assert {info.date_time for info in infos} == {(1980, 1, 1, 0, 0, 0)}
    assert {info.external_attr >> 16 for info in infos} == {0o100644, 0o100755}
    top = tmp_path / release.name
    assert {path.name for path in top.iterdir()} == {
        *("notebooks", "lab_utils", "setup", "README.md", "LICENSE", "Makefile"),
        *("requirements.txt", "requirements.lock", "pyproject.toml"),
    }
    course = read_course(top / "setup" / "course.toml")
    for lab in read_course().labs.values():
        assert replace(lab, extensions={}) == course.lab(lab.id)
        for notebook in lab.notebooks:
            assert (top / "notebooks" / lab.id / f"{notebook.name}.ipynb").is_file()
    note = json.loads((top / "setup" / "release.json").read_text())
    assert note["name"] == release.name
    assert release.name.startswith(f"recompute-lab-{note['version']}-")
    wanted = (top / "requirements.txt").read_text()
    assert "torch==" in wanted
    assert "nbgrader" not in wanted
    readme = (top / "README.md").read_text()
    assert "Last First ECE 8803 HML sp25 lab4A.zip" in readme
    assert f"bash {course.share}/lab_setup.sh" in readme
    assert "$" not in readme


def test_the_same_sources_give_the_same_bytes(release: Release, umask: int) -> None:
    again = make_release()
    assert again.archive == release.archive
    changed = {**release.files, "README.md": b"other"}
    assert replace(release, files=changed).name != release.name


def test_readme_and_makefile_agree(release: Release) -> None:
    makefile = release.files["Makefile"].decode()
    named = set(re.findall(r"`make (\w+)`", release.files["README.md"].decode()))
    assert {"lab", "pack", "setup"} <= named
    assert named <= set(re.findall(r"^(\w+):", makefile, re.MULTILINE))


def test_nothing_leaks(release: Release) -> None:
    assert leaks_in_release(release.files, ROOT) == []


def solution_of(name: str) -> str:
    source = (ROOT / "solutions" / f"{name}.py").read_text()
    return source.partition("### BEGIN SOLUTION")[2].partition("### END SOLUTION")[0]


def hidden_graph() -> str:
    text = (ROOT / "autograder" / "labs" / "lab4a" / "hidden_cases.json").read_text()
    found = re.search(r'"(digraph(?:[^"\\]|\\.)*)"', text)
    assert found
    return json.loads(f'"{found[1]}"')


PLANTED = {
    "solutions/lab4a/01_profiler.py": ("x = 1", "belongs to instructors"),
    "lab_utils/answers.py": (solution_of("lab4a/01_profiler"), "has lines of a solution"),
    "lab_utils/graphs.json": (json.dumps({"a": hidden_graph()}), "has a graph of hidden_cases"),
    "lab_utils/a.dot": (hidden_graph(), "has a graph of hidden_cases.json"),
    "lab_utils/b.dot": (
        (ROOT / "autograder" / "reference" / "llm_mlp_ar.dot").read_text(),
        "has a graph of llm_mlp_ar.dot",
    ),
    "lab_utils/c.py": ("from autograder import judge", "imports the autograder"),
    "README.md": (f"see {ROOT}/README.md", "has a path of somebody's machine"),
    "notebooks/lab4a/notes.ipynb": (
        json.dumps({"cells": [{"source": [solution_of("lab4a/02_recomputation")]}]}),
        "a secret line",
    ),
}


@pytest.fixture
def some_files(release: Release) -> Files:
    """A release with one assignment, and of the code only what is no lab's: soon looked through."""
    wanted = ("notebooks/lab4a/", "setup/", "lab_utils/kit/", "README.md")
    return {path: data for path, data in release.files.items() if path.startswith(wanted)}


@pytest.mark.parametrize("path", PLANTED)
def test_a_planted_leak_is_found(some_files: Files, path: str) -> None:
    text, words = PLANTED[path]
    assert leaks_in_release(some_files, ROOT) == []
    found = leaks_in_release({**some_files, path: text.encode()}, ROOT)
    assert any(words in line and path.partition("/")[0] in line for line in found), found


def test_a_graded_class_keeps_nothing_from_being_released(release: Release, tmp_path: Path) -> None:
    """What students hand in is no secret of ours, whatever it is called and holds."""
    for name in ("lab_utils", "setup", "solutions"):
        (tmp_path / name).symlink_to(ROOT / name)
    for name in ("labs", "reference"):
        shutil.copytree(ROOT / "autograder" / name, tmp_path / "autograder" / name)
    public = release.files["README.md"]
    for place in ("submitted/ada", "autograded/ada", "grades/lab4a/gradescope/ada"):
        folder = tmp_path / "autograder" / place / "lab4a"
        folder.mkdir(parents=True)
        (folder / "llm_mlp.dot").write_bytes(public)
        (folder / "llm_mlp_ar.dot").write_bytes(b"\xff\xfe no text")
        (folder / "hidden.json").write_bytes(b"no cases")
    verdict = tmp_path / "autograder" / "verdicts" / "lab4a" / "hidden-figures.json"
    verdict.parent.mkdir(parents=True)
    verdict.write_text(json.dumps({"student": "hidden-figures", "tasks": []}))
    assert leaks_in_release(release.files, tmp_path) == []
    planted = {**release.files, "lab_utils/a.dot": hidden_graph().encode()}
    assert leaks_in_release(planted, tmp_path)


@pytest.mark.parametrize(
    "path", sorted((ROOT / "autograder" / "labs").glob("*/hidden_cases.json")), ids=str
)
def test_hidden_values_of_every_lab_are_known(some_files: Files, path: Path) -> None:
    files = {**some_files, "lab_utils/copied.json": path.read_bytes()}
    found = leaks_in_release(files, ROOT)
    assert any(f"hidden_cases.json ({path.parent.name})" in line for line in found), found


def test_extensions_stay_with_us(tmp_path: Path) -> None:
    path = tmp_path / "course.toml"
    private = f'{COURSE}\n[labs.sample.extensions]\n"Ada Lovelace" = 2025-04-14T23:59:00-04:00\n'
    path.write_text(f"{private}\n[labs.other]\ntitle = 'b'\nlabel = 'b'\nnotebooks = []\n")
    text = contents._without_extensions(path).decode()
    assert "Ada" not in text
    assert "[labs.other]" in text
    path.write_text(COURSE + "\nextensions = { Ada = 2025-04-14T23:59:00-04:00 }\n")
    with pytest.raises(ReleaseError, match=r"write extensions as a table"):
        contents._without_extensions(path)


def modes(share: Path) -> dict[str, int]:
    return {
        path.relative_to(share).as_posix(): stat.S_IMODE(path.lstat().st_mode)
        for path in share.rglob("*")
        if not path.is_symlink()
    }


def test_students_can_read_and_not_write_and_old_releases_stay(
    release: Release, share: Path, umask: int
) -> None:
    assert publish.publish(release, share) == []
    assert publish.changes(release, share) == []
    newer = replace(release, files={**release.files, "README.md": b"newer"}, version="0.2.0")
    assert publish.publish(newer, share) == []
    assert modes(share) == {
        "lab_setup.sh": 0o755,
        "releases": 0o755,
        f"releases/{release.name}.zip": 0o644,
        f"releases/{newer.name}.zip": 0o644,
    }
    assert (share / "current.zip").read_bytes() == newer.archive
    assert (share / "releases" / f"{release.name}.zip").read_bytes() == release.archive
    publish.publish(release, share)  # and back again
    assert (share / "current.zip").read_bytes() == release.archive


def test_check_says_what_would_change_and_writes_nothing(release: Release, share: Path) -> None:
    lines = "\n".join(publish.changes(release, share))
    assert "nothing is published yet" in lines
    assert list(share.iterdir()) == []
    publish.publish(release, share)
    files = {**release.files, "README.md": b"newer", "lab_utils/new.py": b""}
    del files["LICENSE"]
    files["setup/lab_setup.sh"] = b"#!/bin/sh\n"
    newer = replace(release, files=files)
    lines = "\n".join(publish.changes(newer, share))
    for words in ("added lab_utils/new.py", "removed LICENSE", "changed README.md"):
        assert words in lines
    assert f"would lead to {newer.name}.zip" in lines
    assert f"changed: {share / 'lab_setup.sh'}" in lines
    assert (share / "current.zip").read_bytes() == release.archive


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_students_never_meet_half_a_release(
    release: Release, share: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    """Cut off at each step, with an older release in place: all that can be read is whole."""
    publish.publish(release, share)
    files = {**release.files, "README.md": b"newer", "setup/lab_setup.sh": b"#!/bin/sh\n"}
    newer = replace(release, files=files)
    replaced = os.replace
    calls = 0

    def full_disk(source: str, target: str) -> None:
        nonlocal calls
        calls += 1
        if calls == fails_at:
            raise OSError(28, "No space left on device")
        replaced(source, target)

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(ReleaseError, match="No space left on device"):
        publish.publish(newer, share)
    monkeypatch.undo()
    assert (share / "current.zip").read_bytes() == release.archive
    for path in (share / "releases").iterdir():
        assert not path.name.startswith(".")
        assert path.read_bytes() in (release.archive, newer.archive)
    publish.publish(newer, share)
    assert (share / "current.zip").read_bytes() == newer.archive


def test_a_share_that_is_missing_or_open_to_all_is_refused(release: Release, share: Path) -> None:
    with pytest.raises(ReleaseError, match="there is no folder .*change share in setup/course"):
        publish.publish(release, share / "nowhere")
    share.chmod(0o777)
    with pytest.raises(ReleaseError, match="anybody may write into"):
        publish.publish(release, share)
    share.chmod(0o770)
    (remark,) = publish.publish(release, share)
    assert "the group of" in remark


def test_the_command(share: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["release", "--share", str(share), "--check"]) == 1
    assert main(["release", "--share", str(share)]) == 0
    assert f"bash '{share}/lab_setup.sh'" in capsys.readouterr().out
    assert main(["release", "--share", str(share), "--check"]) == 0
    assert f"nothing would change in {share}" in capsys.readouterr().out
    assert main(["release", "--share", str(share / "no")]) == 2
    assert capsys.readouterr().err.startswith("error: there is no folder")


def test_make_lab_in_a_release_on_a_laptop(release: Release, tmp_path: Path) -> None:
    """For real but for the packages, which are tiny; in a path with spaces, and without dot."""
    small = tiny(release)
    registry = tmp_path / "registry"
    fill(registry)
    code = "import sys\nprint('JupyterLab', *sys.argv[1:])\n"
    wheel(registry, "jupyterlab", "99", needs=("ipykernel",), code=code)
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("make", "bash", "sh", "awk", "cat", "cksum", "dirname", "rm", "uname"):
        (tools / tool).symlink_to(shutil.which(tool) or "/nowhere")
    (tools / "python3").symlink_to(sys._base_executable)  # type: ignore[attr-defined]
    home = tmp_path / "my laptop"
    with zipfile.ZipFile(io.BytesIO(small.archive)) as archive:
        archive.extractall(home)
    environment = {"PATH": str(tools), "HOME": str(home), "PIP_CONFIG_FILE": os.devnull}
    environment |= {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": registry.as_uri()}

    def make(target: str) -> subprocess.CompletedProcess[str]:
        command = [str(tools / "make"), target]
        where = home / small.name
        return subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True)

    lab = make("lab")
    assert "JupyterLab --no-browser --notebook-dir=notebooks" in lab.stdout, lab.stderr
    assert "setup: done" in lab.stderr
    check = make("check")
    assert "setup:" not in check.stderr  # once is enough
    assert "OK    dot is not there; pictures are drawn without it" in check.stdout
    assert "FAIL" not in check.stdout
    assert "make pack" in make("help").stdout


def test_the_wheelhouse_holds_what_a_kernel_needs(
    release: Release, share: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = tmp_path / "registry"
    wheel(registry, "small", "1.0", needs=("smaller",))
    wheel(registry, "smaller", "2.0")
    wheel(registry, "ipykernel", "7.0")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", registry.as_uri())
    wanted = b"-c requirements.lock\nsmall==1.0\njupyterlab==4.0\n"
    files = {**release.files, "requirements.txt": wanted, "requirements.lock": b"smaller==2.0\n"}
    new = fill_wheelhouse(replace(release, files=files), share, sys.executable)
    assert [name.partition("-")[0] for name in new] == ["ipykernel", "small", "smaller"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in (share / "wheelhouse").iterdir()} == {
        0o644
    }
    assert fill_wheelhouse(replace(release, files=files), share, sys.executable) == []
    (registry / "small-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ReleaseError, match="pip could not download"):
        fill_wheelhouse(replace(release, files=files), share, sys.executable)
