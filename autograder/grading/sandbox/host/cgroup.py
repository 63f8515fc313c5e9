"""Control groups: where the machine lets us make one, the kernel counts a room's memory for us.

The supervisor adds up what it can see, ten times a second. A group counts every page at once,
also those in files in memory, in shared memory and in the buffers of sockets, and whoever asks
for one too many is ended by the kernel. Where no group can be had, the supervisor counts alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

_MARGIN = 64_000_000
"""Bytes above what the supervisor allows: it can tell why it ends a notebook, in most cases."""
_EMPTYING = 5.0
"""Seconds to wait for the last process of a group to be gone."""


class Place(NamedTuple):
    """A folder of the kernel's in which groups can be made, and how its files are called."""

    folder: Path
    limits: tuple[str, ...]
    """Take the most bytes: of memory, then of memory and what is swapped, if that is counted."""
    events: str
    """Has a row ``oom_kill`` with how many processes were ended for want of memory."""


def _second_version(own: Path) -> Place:
    """Beside our own group: a group with processes in it may have no groups below it."""
    return Place(own.parent, ("memory.max",), "memory.events")


def _first_version(own: Path) -> Place:
    limits = ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes")
    return Place(own, limits, "memory.oom_control")


def places(root: Path, told: str) -> Iterator[Place]:
    """Where groups that count memory may be; ``told`` is /proc/self/cgroup, ``root`` the mount."""
    for row in told.splitlines():
        _, controllers, path = row.split(":", 2)
        if not controllers:
            for mount in (root, root / "unified"):
                place = _second_version(mount / path.strip("/"))
                if path != "/" and "memory" in _read(place.folder / "cgroup.subtree_control"):
                    yield place
        elif "memory" in controllers.split(","):
            yield _first_version(root / controllers / path.strip("/"))


@cache
def _place() -> Place | None:
    """The first one in which a group can really be made."""
    told = _read(Path("/proc/self/cgroup"))
    for place in places(Path("/sys/fs/cgroup"), told):
        with suppress(OSError), _made(place) as folder:
            _limit(place, folder, 1 << 40)
            return place
    return None


class Group(NamedTuple):
    """Descriptors of a group: what is written to join it, and what tells if it was too full."""

    joining: int
    events: int


@contextmanager
def group(memory: int, place: Place | None = None) -> Iterator[Group | None]:
    """A new group that may hold ``memory`` bytes and a little; None where there can be none."""
    with ExitStack() as stack:
        opened = None
        if place := place or _place():
            with suppress(OSError):
                folder = stack.enter_context(_made(place))
                _limit(place, folder, memory + _MARGIN)
                files = ((folder / "cgroup.procs", os.O_WRONLY), (folder / place.events, 0))
                descriptors = []
                for path, flags in files:
                    descriptors.append(os.open(path, flags | os.O_CLOEXEC))
                    stack.callback(os.close, descriptors[-1])
                opened = Group(*descriptors)
        yield opened


@contextmanager
def _made(place: Place) -> Iterator[Path]:
    folder = Path(mkdtemp(prefix="room-", dir=place.folder))
    try:
        yield folder
    finally:
        deadline = time.monotonic() + _EMPTYING
        while folder.is_dir():
            try:
                folder.rmdir()
            except OSError:  # a process in it is still going
                if time.monotonic() > deadline:
                    break
                time.sleep(0.002)


def _limit(place: Place, folder: Path, most: int) -> None:
    memory, *swap = place.limits
    (folder / memory).write_text(str(most))
    for name in swap:
        with suppress(OSError):  # a kernel may count no swap
            (folder / name).write_text(str(most))
    with suppress(OSError):
        if (folder / "memory.swap.max").exists():
            (folder / "memory.swap.max").write_text("0")


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
