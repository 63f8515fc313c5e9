"""A stand-in for a cluster: a share, homes, a module command, a plain user, namespaces."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from autograder.release.contents import Release
from tests.support.tiny_wheels import wheel

#: In place of real packages: all that a release asks for, each a few bytes.
PACKAGES = {"torch": "2.13.0", "numpy": "2.4.6", "graphviz": "0.21", "ipython": "9.18.1"} | {
    "ipywidgets": "8.1.9",
    "matplotlib": "3.11.2",
    "pandas": "3.1.1",
    "PyYAML": "6.0.3",
    "ipykernel": "7.4.0",
}


def tiny(release: Release, **changed: bytes) -> Release:
    """The release with requirements that install in a second."""
    wanted = [f"{name}=={version}" for name, version in PACKAGES.items() if name != "ipykernel"]
    text = "\n".join(["-c requirements.lock", "# a comment", *wanted, "jupyterlab==99"])
    files = {**release.files, "requirements.txt": text.encode()}
    files["requirements.lock"] = b"ipykernel==7.4.0\n"
    return replace(release, files=files | {k.replace("__", "/"): v for k, v in changed.items()})


def fill(folder: Path, *but: str) -> None:
    """A wheelhouse with all packages except those named."""
    for name, version in PACKAGES.items():
        if name not in but:
            wheel(folder, name, version)


@cache
def obstacle(*options: str) -> str | None:
    """Why this machine cannot run something in these namespaces; None when it can."""
    if shutil.which("unshare") is None:
        return "unshare not found: apt-get install util-linux"
    trial = subprocess.run(["unshare", *options], capture_output=True, text=True)
    return f"unshare does not work here ({trial.stderr.strip()})" if trial.returncode else None


PLAIN_USER = ("--user", "--map-user=1000", "--map-group=1000")


@dataclass
class Cluster:
    """Where a student's session runs."""

    share: Path
    home: Path
    modules: Path
    """What ``module load anaconda3`` puts in front of PATH."""
    variables: Mapping[str, str] = field(default_factory=dict)
    inside: tuple[str, ...] = ()
    """A command in front of everything, as for a namespace."""

    def session(self, before: str = "module load anaconda3", **variables: str) -> str:
        """Start a session with the two lines of the pre-load field; what it printed."""
        process = self.start(before, **variables)
        printed, _ = process.communicate(timeout=300)
        return printed

    def start(self, before: str = "", **variables: str) -> subprocess.Popen[str]:
        """The same, without waiting for its end."""
        plain = ("unshare", *PLAIN_USER) if os.geteuid() == 0 and not self.inside else ()
        script = f"""
            set -e  # as strict as a batch script may be
            module() {{ [ "$1" = load ] && PATH="{self.modules}:$PATH"; }}
            {before or "module load anaconda3"}
            {variables.pop("LINE", f'bash "{self.share}/lab_setup.sh"')}
            echo "the session goes on as $(id -u)"
        """
        return subprocess.Popen(
            [*self.inside, *plain, "bash", "-c", script],
            env={
                "HOME": str(self.home),
                "PATH": f"{self.home.parent / 'old'}:/usr/bin:/bin:/usr/sbin:/sbin",
                "LAB_NEED_MB": "1",
                "PIP_CONFIG_FILE": os.devnull,
                **self.variables,
                **variables,
            },
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    @property
    def base(self) -> Path:
        """Where the script works."""
        return self.home / "recompute-lab"


def make_cluster(folder: Path) -> Cluster:
    """An empty share and home; the module brings this Python, without it there is an old one."""
    cluster = Cluster(folder / "the share", folder / "home of ada", folder / "modules")
    for path in (cluster.share, cluster.home, cluster.modules, folder / "old"):
        path.mkdir(parents=True)
    (cluster.modules / "python3").symlink_to(sys._base_executable)  # type: ignore[attr-defined]
    for name in ("python3", "python", "python3.11", "python3.12", "python3.13"):
        old = folder / "old" / name
        old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.6.8\nexit 1\n')
        old.chmod(0o755)
    return cluster
