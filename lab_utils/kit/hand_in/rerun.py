"""Runs a notebook from top to bottom in a fresh process, as the autograder will.

That process is ``child``: it writes one line of JSON for each code cell.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from lab_utils.kit.hand_in.notebook import read_cells
from lab_utils.kit.root import ROOT

SECONDS = 900  # for one notebook; the longest of a solved lab takes less than a minute

Progress = Callable[[str], None]
"""Is told what is going on, in one short line."""


@dataclass(frozen=True)
class Rerun:
    """What happened: errors by the number of the code cell, counted from 1."""

    errors: Mapping[int, str]
    passed: frozenset[str]
    """The ``grade_id`` of every check that raised nothing."""
    trouble: str = ""
    """Why it did not come to its end; empty if it did."""


def rerun(
    notebook: Path, progress: Progress, environment: Mapping[str, str] | None = None
) -> Rerun:
    """Run ``notebook`` in the folder in which it lies; ``environment`` is what grading sets."""
    code = [cell for cell in read_cells(notebook) if cell.is_code]
    errors: dict[int, str] = {}
    passed = set()
    number = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        process = _started(notebook, complaints, environment or {})
        assert process.stdout
        too_long = threading.Timer(SECONDS, process.kill)
        too_long.start()
        try:
            for line in process.stdout:
                number, error = json.loads(line)
                progress(f"running {notebook.stem}: cell {number} of {len(code)}")
                if error:
                    errors[number] = error
                elif code[number - 1].is_check:
                    passed.add(code[number - 1].name)
        finally:
            in_time = too_long.is_alive()
            too_long.cancel()
            process.kill()
            process.wait()
            process.stdout.close()
        complaints.seek(0)
        last_words = complaints.read()[-500:].strip().splitlines()[-1:]
    trouble = ""
    if number < len(code):
        why = f"Python ended ({' '.join(last_words) or 'no reason given'})"
        why = why if in_time else f"more than {SECONDS} s"
        trouble = f"{why} in code cell {number + 1} of {len(code)}"
    return Rerun(errors, frozenset(passed), trouble)


def _started(
    notebook: Path, complaints: IO[str], environment: Mapping[str, str]
) -> subprocess.Popen[str]:
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-m", "lab_utils.kit.hand_in.child", notebook.name],
        cwd=notebook.parent,
        env={
            **os.environ,
            **environment,
            "PYTHONPATH": os.pathsep.join(path),
            "MPLBACKEND": "agg",
            "IPYTHONDIR": str(notebook.parent / ".ipython"),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
        text=True,
        encoding="utf-8",
    )
