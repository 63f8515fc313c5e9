"""lab_setup.sh for real: a bare home, a plain user, twice, at once, offline, full, read-only."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.release.contents import Release
from autograder.release.publish import publish
from tests.support.on_demand import PLAIN_USER, Cluster, fill, make_cluster, obstacle, tiny
from tests.support.released import released

ALIVE = "the session goes on as "


@pytest.fixture(scope="module")
def release() -> Release:
    return tiny(released())


@pytest.fixture
def cluster(tmp_path: Path, release: Release) -> Iterator[Cluster]:
    """A share with a release and a wheelhouse, and an empty home; spaces in all paths."""
    if os.geteuid() == 0 and (reason := obstacle(*PLAIN_USER, "true")):
        pytest.skip(f"root cannot become a plain user: {reason}")
    made = make_cluster(tmp_path / "a cluster")
    publish(release, made.share)
    fill(made.share / "wheelhouse")
    yield made
    subprocess.run(["chmod", "-R", "u+w", made.share], check=True)


def ready(printed: str, folder: Path) -> bool:
    lines = printed.splitlines()
    assert "FAIL" not in printed, printed
    assert f"OK    all is ready. Open {folder}/notebooks/START.ipynb" in lines, printed
    assert lines[-1].startswith(ALIVE), printed
    return True


def test_a_bare_home_of_a_plain_user_offline_then_again(cluster: Cluster, release: Release) -> None:
    (cluster.share / "releases").chmod(0o555)  # read only, as a share is for students
    cluster.share.chmod(0o555)
    if obstacle(*PLAIN_USER, "--net", "true") is None:
        cluster = replace(cluster, inside=("unshare", *PLAIN_USER, "--net"))
    folder = cluster.base / release.name
    first = cluster.session(SLURM_CPUS_ON_NODE="3")
    assert ready(first, folder)
    assert "installing packages" in first
    assert f"{ALIVE}0" not in first
    for what in ("release", "Python 3", "torch 2.13.0", "kernel", "disk", "can write", "clock"):
        assert re.search(rf"^OK    {what}", first, re.MULTILINE), what
    spec = json.loads(
        (cluster.home / ".local/share/jupyter/kernels/recompute-lab/kernel.json").read_text()
    )
    assert spec["env"]["OMP_NUM_THREADS"] == "3"
    assert spec["display_name"] == "ECE 8803 HML sp25"
    kernel = spec["argv"][0]
    assert kernel.startswith(str(cluster.base))
    found = subprocess.run(
        [kernel, "-c", "import torch; print(torch.__version__)"], text=True, capture_output=True
    )
    assert found.stdout == "2.13.0\n"
    notebook = folder / "notebooks" / "lab4a" / "01_profiler.ipynb"
    assert json.loads(notebook.read_text())["metadata"]["kernelspec"]["name"] == "recompute-lab"
    assert not (cluster.home / ".bashrc").exists()
    assert not (cluster.home / ".cache").exists()
    log = (cluster.base / ".setup" / "setup.log").read_text()
    assert "OK    all is ready" in log
    # Again, with work in it: nothing is installed, nothing is overwritten.
    notebook.write_text("my work")
    again = cluster.session()
    assert ready(again, folder)
    assert "installing" not in again
    assert notebook.read_text() == "my work"


def test_at_once(cluster: Cluster, release: Release) -> None:
    sessions = [cluster.start() for _ in range(3)]
    printed = [session.communicate(timeout=300)[0] for session in sessions]
    for text in printed:
        assert ready(text, cluster.base / release.name)
    assert sum("installing packages" in text for text in printed) == 1
    assert not list(cluster.base.glob(".unpacking*"))


def test_at_once_where_flock_does_not_work(cluster: Cluster, release: Release) -> None:
    broken = cluster.modules / "flock"
    broken.write_text("#!/bin/sh\necho 'flock: Function not implemented' >&2\nexit 71\n")
    broken.chmod(0o755)
    stale = cluster.base / ".setup" / "lock.d"
    stale.mkdir(parents=True)
    gone = subprocess.Popen(["true"])
    gone.wait()
    host = subprocess.run(["hostname"], capture_output=True, text=True).stdout.strip()
    (stale / "owner").write_text(f"{host} {gone.pid}\n")
    # Both see that the owner is gone; the second would delete what the first has taken.
    slow = cluster.modules / "rm"
    slow.write_text(
        """#!/bin/sh
case "$*" in *lock.d*) mkdir "$HOME/seen" 2>/dev/null && sleep 0.3 || sleep 1.5 ;; esac
exec /bin/rm "$@"
"""
    )
    slow.chmod(0o755)
    sessions = [cluster.start() for _ in range(2)]
    printed = [session.communicate(timeout=300)[0] for session in sessions]
    for text in printed:
        assert ready(text, cluster.base / release.name)
    assert sum("installing packages" in text for text in printed) == 1
    assert not stale.exists()


def test_a_lock_that_is_never_given_back(cluster: Cluster) -> None:
    (cluster.base / ".setup").mkdir(parents=True)
    lock = cluster.base / ".setup" / "lock"
    with subprocess.Popen(["flock", lock, "sleep", "60"]) as holder:
        while subprocess.run(["flock", "-n", lock, "true"]).returncode == 0:
            pass
        printed = cluster.session(LAB_WAIT="1")
        holder.kill()
    assert "FAIL  another session has been setting up for a long time" in printed
    assert printed.splitlines()[-1].startswith(ALIVE)


def test_a_newer_release_comes_beside_the_work(cluster: Cluster, release: Release) -> None:
    old = cluster.base / release.name
    assert ready(cluster.session(), old)
    newer = tiny(replace(release, version="0.2.0"), README__md=b"newer")
    newer = replace(newer, files={**newer.files, "README.md": b"newer"})
    publish(newer, cluster.share)
    # Nothing was done in the old one: the new one is the folder to open.
    new = cluster.base / newer.name
    printed = cluster.session()
    assert ready(printed, new)
    assert "installing" not in printed
    # Work in the old one: it stays the folder to open, and the student is told.
    shutil.rmtree(new)
    work = old / "notebooks" / "lab4a" / "my_work.py"
    work.write_text("mine")
    mark = (old / ".unpacked").stat().st_mtime
    os.utime(work, (mark + 60, mark + 60))
    printed = cluster.session()
    assert ready(printed, old)
    assert f"NEW   a newer release lies beside your work: {new}" in printed
    assert work.read_text() == "mine"
    assert (new / "README.md").read_text() == "newer"


def test_a_failure_says_what_to_do_and_the_session_goes_on(cluster: Cluster) -> None:
    no_module = cluster.session(before=":")
    assert "FAIL  found no Python 3.11 or newer (python3 is Python 3.6.8)" in no_module
    assert "cure: write module load anaconda3 above" in no_module
    too_small = cluster.session(LAB_NEED_MB="999999999")
    assert re.search(r"FAIL  the disk has \d+ MB left, and the packages need about 99", too_small)
    (cluster.share / "wheelhouse" / "pandas-3.1.1-py3-none-any.whl").unlink()
    no_wheel = cluster.session(PIP_NO_INDEX="1")
    assert "FAIL  pip could not install the packages: ERROR: Could not find a version" in no_wheel
    assert not list((cluster.base / ".setup").glob("venv-*"))
    for text in (no_module, too_small, no_wheel):
        assert text.splitlines()[-2].startswith("FAIL  the lab is not ready")
        assert text.splitlines()[-1].startswith(ALIVE)


def test_what_the_wheelhouse_lacks_comes_from_the_registry(
    cluster: Cluster, release: Release, tmp_path: Path
) -> None:
    shutil.rmtree(cluster.share / "wheelhouse")
    registry = tmp_path / "registry"
    fill(registry)
    settings = tmp_path / "pip.conf"
    key = "find" + "-links"
    settings.write_text(f"[global]\nno-index = true\n{key} = {registry.as_uri()}\n")
    printed = cluster.session(PIP_CONFIG_FILE=str(settings))
    assert ready(printed, cluster.base / release.name)


def test_it_can_be_sourced(cluster: Cluster, release: Release) -> None:
    line = f'set -u; source "{cluster.share}/lab_setup.sh"; echo "$- ${{folder-unset}}"; pwd'
    printed = cluster.session(LINE=line)
    lines = printed.splitlines()
    assert "FAIL" not in printed
    assert lines[-1].startswith(ALIVE)
    assert lines[-2] == str(cluster.home)
    assert "e" in lines[-3].split()[0]
    assert lines[-3].endswith(" unset")


def test_a_torch_of_the_cluster_is_not_installed_again(cluster: Cluster, tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name, version in (("torch", "2.10.0+cu126"), ("numpy", "2.1.0")):
        info = site / f"{name}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        (site / f"{name}.py").write_text("")
    printed = cluster.session(PYTHONPATH=str(site))
    assert "FAIL" not in printed, printed
    assert "OK    torch 2.10.0+cu126" in printed
    assert "OK    numpy 2.1.0" in printed
    (venv,) = (cluster.base / ".setup").glob("venv-*")
    assert "include-system-site-packages = true" in (venv / "pyvenv.cfg").read_text()
    assert not list(venv.glob("lib/python*/site-packages/torch*"))


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.5, "cannot unpack recompute-lab-"), (1, "the disk became full while packages")],
)
def test_a_full_disk(cluster: Cluster, release: Release, share: float, words: str) -> None:
    """A home with room for half the release, or for the release and not for the environment."""
    pages = sum(-(-len(content) // 4096) + 1 for content in release.files.values())
    size = f"{round(4 * pages * share) + 400}k"
    options = ("--user", "--map-root-user", "--mount")
    if reason := obstacle(*options, "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt"):
        pytest.skip(f"cannot make a small disk: {reason}")
    mount = f'mount -t tmpfs -o size={size} tmpfs "$HOME" && cd "$HOME" && exec "$@"'
    inside = ("unshare", *options, "sh", "-c", mount, "sh", "unshare", *PLAIN_USER)
    printed = replace(cluster, inside=inside).session()
    assert f"FAIL  {words}" in printed
    assert "cure: make room (see df -h" in printed
    assert printed.splitlines()[-1].startswith(ALIVE), printed


def test_a_home_that_cannot_be_written(cluster: Cluster) -> None:
    cluster.home.chmod(0o555)
    printed = cluster.session()
    cluster.home.chmod(0o755)
    assert f"FAIL  cannot write in {cluster.base}" in printed
    assert printed.splitlines()[-1].startswith(ALIVE)


def test_no_home_and_a_copy_of_the_script(cluster: Cluster) -> None:
    homeless = cluster.session(HOME="")
    assert "FAIL  HOME is not set" in homeless
    assert "cure: write export LAB_HOME=" in homeless
    copied = shutil.copy(cluster.share / "lab_setup.sh", cluster.home)
    away = cluster.session(LINE=f'bash "{copied}"')
    assert f"FAIL  cannot read a release in {cluster.home}" in away
    assert "cure: run lab_setup.sh where it lies, in the course's folder" in away
    for printed in (homeless, away):
        assert printed.splitlines()[-1].startswith(ALIVE)


def test_umask_and_tmpdir_are_respected(cluster: Cluster, release: Release) -> None:
    printed = cluster.session(before="module load anaconda3; umask 077", TMPDIR="/nowhere/at all")
    assert "TMPDIR=/nowhere/at all cannot be used" in printed
    assert ready(printed, cluster.base / release.name)
    others = 0o007
    for path in (cluster.base, cluster.base / ".setup", *(cluster.base / release.name).rglob("*")):
        assert not path.stat().st_mode & others, path
