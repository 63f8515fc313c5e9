"""The folder in which a submission works: fill it, remember it, put it back."""

from __future__ import annotations

import os
import stat
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Snapshot:
    """Files, links and folders by path, as they were; in memory, out of reach of student code."""

    files: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    complete: bool = True


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Put files (by relative path) into ``folder``."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def take_snapshot(folder: Path, most: int) -> Snapshot:
    """What is in ``folder``, up to ``most`` bytes. Links are noted, never followed.

    Student processes may change the folder meanwhile: each file is opened below a
    handle of its folder, so that nothing outside is ever read.
    """
    found = Snapshot()
    try:
        for where, folders, names, handle in os.fwalk(folder, follow_symlinks=False):
            place = os.path.relpath(where, folder)
            found.folders.append(place)
            for name in (*names, *folders):
                most -= _note(found, os.path.normpath(os.path.join(place, name)), handle, most)
    except (OSError, RecursionError):  # folders nested beyond all sense
        found.complete = False
    return found


def _note(found: Snapshot, path: str, handle: int, most: int) -> int:
    """Take down one entry; the bytes that it holds."""
    name = os.path.basename(path)
    try:
        mode = os.stat(name, dir_fd=handle, follow_symlinks=False).st_mode
        if stat.S_ISLNK(mode):
            found.links[path] = os.readlink(name, dir_fd=handle)
        if not stat.S_ISREG(mode):
            return 0
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(name, flags, dir_fd=handle), "rb") as file:
            content = file.read(most + 1)
    except OSError:  # gone meanwhile, or not to be read
        return 0
    if len(content) > most:
        found.complete = False
        return 0
    found.files[path] = (stat.S_IMODE(mode), content)
    return len(content)


def put_back(folder: Path, snapshot: Snapshot) -> None:
    """Make ``folder`` what it was. Whatever else is in it, or noted on it, goes."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o700)
    for attribute in os.listxattr(folder) if hasattr(os, "listxattr") else ():
        os.removexattr(folder, attribute)
    with os.scandir(folder) as entries:
        present = list(entries)
    for entry in present:
        if entry.is_dir(follow_symlinks=False):
            # These two cope with any depth; Python's own do not.
            subprocess.run(["chmod", "-R", "u+rwx", entry.path], stderr=subprocess.DEVNULL)
            subprocess.run(["rm", "-rf", entry.path], stderr=subprocess.DEVNULL)
        else:
            os.unlink(entry.path)
    for place in snapshot.folders:
        (folder / place).mkdir(parents=True, exist_ok=True)
    for name, (mode, content) in snapshot.files.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(mode)
    for name, target in snapshot.links.items():
        os.symlink(target, folder / name)
    os.utime(folder, (0, 0))
