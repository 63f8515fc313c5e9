"""The folder in which a submission works: fill it, remember it, put it back.

From one notebook to the next go names and contents, and whether a file can be executed.
"""

from __future__ import annotations

import base64
import json
import os
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Snapshot:
    """Files, links and folders by path, as they were; in memory, out of reach of student code."""

    files: dict[str, tuple[bool, bytes]] = field(default_factory=dict)
    """Whether it can be executed, and what is in it."""
    links: dict[str, str] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    complete: bool = True


def store(snapshot: Snapshot, descriptor: int) -> None:
    """Write a snapshot to a file in place of what is in it."""
    files = {
        name: [runs, base64.b64encode(content).decode("ascii")]
        for name, (runs, content) in snapshot.files.items()
    }
    text = json.dumps({**vars(snapshot), "files": files})
    os.ftruncate(descriptor, 0)
    with open(os.dup(descriptor), "wb") as file:
        file.seek(0)
        file.write(text.encode("ascii"))


def fetch(descriptor: int) -> Snapshot:
    """The snapshot in a file; an empty one if there is none."""
    with open(os.dup(descriptor), "rb") as file:
        file.seek(0)
        text = file.read()
    if not text:
        return Snapshot()
    told = json.loads(text)
    files = {
        name: (runs, base64.b64decode(content)) for name, (runs, content) in told["files"].items()
    }
    return Snapshot(**{**told, "files": files})


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
    found.files[path] = (bool(mode & stat.S_IXUSR), content)
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
    for place in sorted(snapshot.folders):
        (folder / place).mkdir(parents=True, exist_ok=True)
    for name, (runs, content) in sorted(snapshot.files.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        (folder / name).chmod(0o700 if runs else 0o600)
    for name, target in sorted(snapshot.links.items()):
        os.symlink(target, folder / name)
    paths = [*snapshot.files, *snapshot.links, *sorted(snapshot.folders, reverse=True), "."]
    for name in paths:
        os.utime(folder / name, (_LONG_AGO, _LONG_AGO), follow_symlinks=False)


_LONG_AGO = 1_577_836_800  # 2020: earlier than 1980 some formats cannot tell
