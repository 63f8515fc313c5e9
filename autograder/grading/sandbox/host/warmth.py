"""Starting and ending warm processes, and finding out which ones this machine allows."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from autograder.grading.sandbox.clean.hostile import Spoiled
from autograder.grading.sandbox.host.house import KIT, House
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
"""Seconds that a warm process may take to import everything, on a slow and busy machine."""
ENDING = 120.0
"""Seconds that a supervisor may take to do what it is told, once its processes are killed."""
_TRIAL = 120.0


def start_warm(
    reached: Reached,
    house: House,
    disk_bytes: int = 1_000_000,
    preload: Sequence[str] = (),
    warm_up: Sequence[str] = (),
    trial: str = "",
    processors: Sequence[int] = (),
) -> tuple[subprocess.Popen[bytes], Line]:
    """A warm process that is ready, and the line to it. With ``trial`` it only tries to start.

    It and all that comes of it keeps to ``processors``, if there are any.

    Raises:
        SandboxFailed: it does not come up; the text tells what it said.
    """
    start = command(reached, house, disk_bytes)
    in_house = reached.level >= Isolation.NAMESPACES
    kit, temporary = (KIT, house.spare) if in_house else (str(house.kit), str(house.temporary))
    outside = reached.level is Isolation.FULL
    ours, theirs = socket.socketpair()
    line = Line(ours)
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            [*start.arguments, str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            env={**house.environment(temporary), "PYTHONPATH": kit if outside else str(house.kit)},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
        )
        theirs.close()
        order = {
            "plan": start.plan,
            "site": str(house.site),
            "kit": kit,
            "trial": trial,
            "preload": list(preload),
            "warm_up": list(warm_up),
            "once": start.once,
            "processors": list(processors),
        }
        deadline = time.monotonic() + (_TRIAL if trial else STARTING)
        try:
            line.send(order, deadline)
            told = line.receive(deadline) or {}
            why = told.get("failed")
        except (Closed, Late, Spoiled) as error:
            why = f"{_last_words(said)} ({type(error).__name__.lower()})"
        if why is None:
            return process, line
    line.close()
    end(process)
    raise SandboxFailed(f"{reached.level}: {why}")


def _last_words(said: Any) -> str:
    said.seek(0)
    lines = said.read(100_000).decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it ended without a word"


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a warm process; what runs in its sandbox dies with it."""
    process.kill()
    process.wait()


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
    try:
        process, line = start_warm(Reached(level, rooms), house, trial=trial)
    except (SandboxFailed, OSError) as error:
        return str(error).removeprefix(f"{level}: ")
    line.close()
    end(process)
    return None
