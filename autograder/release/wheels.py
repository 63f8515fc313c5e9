"""Fills the wheelhouse of the share, for nodes of a cluster that have no internet."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from autograder.release.contents import Release, ReleaseError
from autograder.release.publish import FILE, FOLDER


def fill_wheelhouse(release: Release, share: Path, python: str = sys.executable) -> list[str]:
    """Download what students' kernels need, for the Python named; names of new files.

    ``python`` must be of the version that the cluster's module has.

    Raises:
        ReleaseError: pip could not download it.
    """
    house = share / "wheelhouse"
    with TemporaryDirectory(dir=share, prefix=".wheels-") as scratch:
        folder = Path(scratch)
        for name in ("requirements.txt", "requirements.lock"):
            (folder / name).write_bytes(release.files[name])
        (folder / "kernel.txt").write_text(kernel_requirements(release))
        command = [python, "-m", "pip", "download", "--disable-pip-version-check", "--no-input"]
        options = ["--only-binary=:all:", "-r", "kernel.txt", "-d", "wheels"]
        if subprocess.run([*command, *options], cwd=folder).returncode:
            raise ReleaseError("pip could not download the packages; its reason stands above")
        house.mkdir(exist_ok=True)
        house.chmod(FOLDER)
        new = []
        for wheel in sorted((folder / "wheels").iterdir()):
            wheel.chmod(FILE)
            if not (house / wheel.name).is_file():
                os.replace(wheel, house / wheel.name)
                new.append(wheel.name)
        shutil.rmtree(folder / "wheels")
    return new


def kernel_requirements(release: Release) -> str:
    """What a kernel needs where JupyterLab is there already; lab_setup.sh does the same."""
    lines = release.files["requirements.txt"].decode().splitlines()
    kept = [line for line in lines if line and not line.startswith(("#", "jupyterlab"))]
    return "\n".join([*kept, "ipykernel"]) + "\n"
