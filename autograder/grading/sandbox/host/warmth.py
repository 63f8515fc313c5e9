"""Starting and ending stems, and finding out which ones this machine allows."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from autograder.grading.sandbox.clean.hostile import Spoiled
from autograder.grading.sandbox.host.house import KIT, KITS, House
from autograder.grading.sandbox.host.isolation import (
    Isolation,
    NotIsolated,
    Reached,
    SandboxFailed,
    command,
    weaknesses,
)
from autograder.grading.sandbox.wire.line import Closed, Late, Line

STARTING = 900.0
"""Seconds that a process may take to import everything, on a slow and busy machine."""
ENDING = 120.0
"""Seconds that a supervisor may take to do what it is told, once its processes are killed."""
_TRIAL = 120.0


class Started:
    """A process of ours in a house, and the line to it."""

    def __init__(self, process: subprocess.Popen[bytes], line: Line, said: IO[bytes]) -> None:
        self.process, self.line = process, line
        self._said = said

    @property
    def runs(self) -> bool:
        """Whether it has not ended yet."""
        return self.process.poll() is None

    def ready(self, line: Line, seconds: float = STARTING) -> str | None:
        """Wait for its word on ``line``; why it is not ready, None if it is."""
        try:
            told = line.receive(time.monotonic() + seconds) or {}
            return told.get("failed")
        except (Closed, Late, Spoiled) as error:
            return f"{self._last_words()} ({type(error).__name__.lower()})"

    def end(self) -> None:
        """Kill it; what runs in its sandbox dies with it."""
        self.line.close()
        self.process.kill()
        self.process.wait()
        self._said.close()

    def _last_words(self) -> str:
        self._said.seek(0)
        lines = self._said.read(100_000).decode("utf-8", "replace").strip().splitlines()
        return lines[-1] if lines else "it ended without a word"


def start_stem(
    reached: Reached,
    house: House,
    libraries: Sequence[str] = (),
    disk_bytes: int = 1_000_000,
    only: Path | None = None,
    trial: str = "",
) -> Started:
    """A stem that is ready. With ``trial`` it only tries to start.

    ``only`` is the kit of one that serves a single submission.

    Raises:
        SandboxFailed: it does not come up; the text tells what it said.
    """
    start = command(reached, house, disk_bytes, only)
    in_house = reached.level >= Isolation.NAMESPACES
    bare, temporary = (KIT, house.spare) if in_house else (str(house.bare), str(house.temporary))
    outside = reached.level is Isolation.FULL
    path = bare if outside else str(house.bare)
    ours, theirs = socket.socketpair()
    said = tempfile.TemporaryFile()  # noqa: SIM115
    process = subprocess.Popen(
        [*start.arguments, str(theirs.fileno())],
        pass_fds=[theirs.fileno()],
        env={**house.environment(temporary), "PYTHONPATH": path},
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=said,
    )
    theirs.close()
    started = Started(process, Line(ours), said)
    order = {
        "plan": start.plan,
        "site": str(house.site),
        "kit": bare,
        "bare": [f"{KITS}/{house.bare.name}", KIT, KITS],
        "trial": trial,
        "libraries": list(libraries),
        "once": start.once,
    }
    seconds = _TRIAL if trial else STARTING
    with suppress(Closed, Late):  # it tells below why it has gone
        started.line.send(order, time.monotonic() + seconds)
    if why := started.ready(started.line, seconds):
        started.end()
        raise SandboxFailed(f"{reached.level}: {why}")
    return started


def reach(house: House, require: Isolation, wanted: Isolation = Isolation.FULL) -> Reached:
    """The highest level up to ``wanted`` that works on this machine.

    Raises:
        NotIsolated: it is lower than ``require``; the text tells why.
    """
    obstacles: list[str] = []
    for level, rooms in _LADDER:
        if level > wanted:
            continue
        why = _obstacle(level, rooms, house)
        if why is None:
            found = Reached(level, rooms, (*obstacles, *weaknesses(level, house)))
            break
        if (reason := f"{level} does not work here ({why})") not in obstacles:
            obstacles.append(reason)
    if found.level < require:
        raise NotIsolated(
            f"isolation {require} is required, but only {found.level} can be had: "
            f"{'; '.join(found.obstacles)}"
        )
    return found


_LADDER = (
    (Isolation.FULL, True),
    (Isolation.FULL, False),
    (Isolation.NAMESPACES, True),
    (Isolation.LIMITS, False),
    (Isolation.NONE, False),
)


def _obstacle(level: Isolation, rooms: bool, house: House) -> str | None:
    """Why a level does not work here; None if it does."""
    if level is Isolation.NONE:
        return None
    if sys.platform != "linux":
        return "it needs Linux"
    trial = "room" if rooms else "house" if level is Isolation.FULL else "filter"
    only = house.bare if level is Isolation.FULL and not rooms else None
    try:
        start_stem(Reached(level, rooms), house, only=only, trial=trial).end()
    except (SandboxFailed, OSError) as error:
        return str(error).removeprefix(f"{level}: ")
    return None
