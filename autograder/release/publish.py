"""Puts a release into the course's shared folder.

::

    SHARE/lab_setup.sh                       what students' sessions run
    SHARE/current.zip                          a link to the newest release
    SHARE/releases/recompute-lab-0.1.0-….zip   this and all earlier ones
    SHARE/wheelhouse/                          packages for nodes without internet

Each file appears whole or not at all, and a session that has begun with one release can
finish with it: nothing that was published is changed or taken away.
"""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path

from autograder.release.contents import Release, ReleaseError
from lab_utils.kit.files import write_whole

SCRIPT = "setup/lab_setup.sh"
FILE, FOLDER = 0o644, 0o755


def changes(release: Release, share: Path) -> list[str]:
    """What publishing would change, one line for each thing; nothing is written."""
    target, script = _places(release, share)
    lines = []
    if not target.is_file():
        lines.append(f"new: {target}")
        lines += [f"  {line}" for line in _since(release, share)]
    if _points_to(share) != target.name:
        lines.append(f"{share / 'current.zip'} would lead to {target.name}")
    if not script.is_file() or script.read_bytes() != release.files[SCRIPT]:
        lines.append(f"{'changed' if script.is_file() else 'new'}: {script}")
    return lines


def publish(release: Release, share: Path) -> list[str]:
    """Publish into ``share``, an existing folder; remarks about it, one line each.

    Raises:
        ReleaseError: the folder is not there, anybody may write into it, or it is full.
    """
    remarks = _check_share(share)
    target, script = _places(release, share)
    try:
        _make_folder(target.parent)
        if not target.is_file():
            write_whole(target, release.archive, FILE)
        if not script.is_file() or script.read_bytes() != release.files[SCRIPT]:
            write_whole(script, release.files[SCRIPT], FOLDER)
        _link(share / "current.zip", target)
    except OSError as error:
        raise ReleaseError(f"cannot publish into {share}: {error.strerror}") from None
    return remarks


def _places(release: Release, share: Path) -> tuple[Path, Path]:
    return share / "releases" / f"{release.name}.zip", share / Path(SCRIPT).name


def _check_share(share: Path) -> list[str]:
    if not share.is_dir():
        raise ReleaseError(
            f"there is no folder {share}: make it, change share in setup/course.toml, or name "
            "another one: make release SHARE=/path/to/folder"
        )
    mode = share.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise ReleaseError(f"anybody may write into {share}: chmod o-w '{share}' first")
    remarks = []
    if mode & stat.S_IWGRP:
        remarks.append(f"the group of {share} may write into it: no student should be in it")
    if not mode & (stat.S_IXOTH | stat.S_IXGRP):
        remarks.append(f"students cannot read {share}: chmod go+rx '{share}'")
    return remarks


def _since(release: Release, share: Path) -> list[str]:
    """How the release differs from the one that students have now."""
    before: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(share / "current.zip") as archive:
            for name in archive.namelist():
                before[name.partition("/")[2]] = archive.read(name)
    except (OSError, zipfile.BadZipFile):
        return [f"{len(release.files)} files; nothing is published yet"]
    before.pop("setup/release.json", None)
    now = release.files
    return [
        *(f"added {path}" for path in sorted(now.keys() - before.keys())),
        *(f"removed {path}" for path in sorted(before.keys() - now.keys())),
        *(f"changed {p}" for p in sorted(now.keys() & before.keys()) if now[p] != before[p]),
    ]


def _points_to(share: Path) -> str:
    try:
        return Path(os.readlink(share / "current.zip")).name
    except OSError:
        return ""


def _make_folder(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    folder.chmod(FOLDER)


def _link(link: Path, target: Path) -> None:
    unfinished = link.with_name(f".{link.name}.{os.getpid()}")
    unfinished.unlink(missing_ok=True)
    unfinished.symlink_to(target.relative_to(link.parent))
    os.replace(unfinished, link)
