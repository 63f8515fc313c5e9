"""The tables that the solved notebook 06 writes, with ``PROJECT_SIZE=small``."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

from lab_utils.labs.project.experiments import collect
from lab_utils.labs.project.tables import settings
from tests.labs.lab4a.solved import functions, solution_text

METHODS = ("none", "recomputed")


@cache
def tables() -> dict[str, str]:
    """``memory.csv`` and ``latency.csv`` by name, measured once in a run of the tests."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")  # the same in all of its processes
    if run is None:
        return _measured()
    with Path(gettempdir(), f"tables-{run}.json").open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        if text := file.read():
            return json.loads(text)
        found = _measured()
        json.dump(found, file)
        return found


def _measured() -> dict[str, str]:
    space: dict[str, Any] = functions(lab="project") | {"size": settings()}
    for name in ("recompute", "without", "planned", "timed"):
        exec(solution_text(name, "project"), space)
    size = settings()
    with TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        memory, latency = Path(folder, "memory.csv"), Path(folder, "latency.csv")
        for method, measure in zip(METHODS, ("without", "planned"), strict=True):
            collect(memory, _keys(size["models"], size["batches"], method), space[measure])
        for method in METHODS:
            keys = _keys(size["timed"], size["timed_batches"], method)
            collect(latency, keys, space["timed"])
        return {path.name: path.read_text(encoding="utf-8") for path in (memory, latency)}


def _keys(models: dict[str, Any], batches: tuple[int, ...], method: str) -> list[dict[str, Any]]:
    return [{"model": m, "method": method, "batch": b} for m in models for b in batches]
