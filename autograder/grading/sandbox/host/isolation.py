"""How well student code can be shut in on this machine."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from autograder.grading.sandbox.host.house import House
from autograder.grading.sandbox.inside.filters import has_landlock
from autograder.grading.sandbox.inside.namespaces import HOME
from lab_utils.kit.errors import LabError


class Isolation(StrEnum):
    """Levels, from the weakest to the strongest; they can be compared with ``<``."""

    NONE = "none"
    """A process of its own, and limits on time and output."""
    LIMITS = "limits"
    """Also limits on memory, processes and disk; files and network by filters of the kernel."""
    NAMESPACES = "namespaces"
    """Also no network, and a file system, processes and memory of its own."""
    FULL = "full"
    """The same inside bubblewrap."""

    @property
    def rank(self) -> int:
        """0 for the weakest."""
        return list(Isolation).index(self)

    def __lt__(self, other: str) -> bool:
        return self.rank < Isolation(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= Isolation(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > Isolation(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= Isolation(other).rank


class NotIsolated(LabError):
    """The machine does not allow the isolation that was asked for."""


class SandboxFailed(LabError):
    """A sandbox did not start, or broke down for another reason than student code."""


@dataclass(frozen=True)
class Reached:
    """The level that works here, and what keeps it from being more."""

    level: Isolation
    rooms: bool
    """Whether a warm process can shut in one submission after the other."""
    obstacles: tuple[str, ...] = ()
    """Why not a higher level, and what this one leaves open."""

    def __str__(self) -> str:
        return "; ".join((f"isolation: {self.level}", *self.obstacles))


@dataclass(frozen=True)
class Command:
    """A stem to start: its command line, and what it does first."""

    arguments: Sequence[str]
    plan: list[list[str]] | None
    """To furnish its house by itself; None if it needs none, or has it already."""
    once: bool
    """It serves a single submission, and is the supervisor itself."""


_PYTHON = [sys.executable, "-s", "-P"]


def command(reached: Reached, house: House, disk_bytes: int, kit: Path | None = None) -> Command:
    """How to start a stem; the number of its socket is to be added.

    ``kit`` is the only one that it can choose, where it serves a single submission.
    """
    if reached.level is Isolation.FULL:
        prefix = [*_bubblewrap(house, disk_bytes, reached.rooms, kit), *_PYTHON]
        return Command([*prefix, "-m", "inside.warm"], None, once=not reached.rooms)
    plan = house.plan() if reached.level is Isolation.NAMESPACES else None
    return Command([*_PYTHON, "-m", "inside.warm"], plan, once=False)


def _bubblewrap(house: House, disk_bytes: int, rooms: bool, kit: Path | None) -> list[str]:
    """The command line of bubblewrap, up to the program to run."""
    spaces = ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    words = [shutil.which("bwrap") or "bwrap", *spaces, "--die-with-parent", "--new-session"]
    if os.geteuid():
        words += ["--unshare-user", "--uid", "1000", "--gid", "1000"]
    rights = ["CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_NET_ADMIN"]
    if not os.geteuid():
        rights += ["CAP_SETUID", "CAP_SETGID", "CAP_CHOWN", "CAP_KILL", "CAP_DAC_OVERRIDE"]
        words += ["--cap-drop", "ALL"]
    if rooms or not os.geteuid():
        words += [word for right in rights for word in ("--cap-add", right)]
    for kind, *where in house.plan(kit):
        # Folders that bubblewrap makes by itself on the way are closed to other users.
        for above in reversed(Path(where[-1]).parents[:-1]):
            words += ["--dir", str(above)]
        option = {"bind": "--ro-bind", "link": "--symlink", "empty": "--tmpfs"}[kind]
        words += [option, *where]
    words += ["--proc", "/proc", "--dev", "/dev", "--dir", str(Path(HOME).parent), "--dir", HOME]
    if not rooms:  # then the house itself is the room
        for folder in (HOME, house.spare, "/dev/shm"):
            words += ["--size", str(disk_bytes), "--tmpfs", folder]
        words.append("--as-pid-1")
    return [*words, "--remount-ro", "/", "--chdir", "/", "--"]


def weaknesses(level: Isolation, house: House) -> list[str]:
    """What a level leaves open on this machine."""
    if level is Isolation.NONE:
        return ["student code can read and write what you can, and use the network"]
    if level is not Isolation.LIMITS:
        return []
    found = []
    if not has_landlock():
        found.append("the kernel has no Landlock: student code can read what you can")
    found += [f"student code can read {path}" for path in house.open_to_readers()]
    if os.geteuid() == 0 and not can_be_nobody():
        found.append("student code runs as root: other users cannot reach this Python")
    return found


def can_be_nobody() -> bool:
    """Whether a user without any rights can reach the interpreter and its packages."""
    for path in (sys.prefix, sys.base_prefix):
        for folder in (Path(path), *Path(path).parents):
            if not os.stat(folder).st_mode & stat.S_IXOTH:
                return False
    return True
