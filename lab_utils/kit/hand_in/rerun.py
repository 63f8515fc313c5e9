"""Runs a notebook from top to bottom in a fresh process, as the autograder will.

``run_cells`` is what that process does: it runs the cells in IPython and writes one line of
JSON for each; what the cells print goes nowhere.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from lab_utils.kit.hand_in.notebook import read_cells
from lab_utils.kit.root import ROOT

SECONDS = 900  # for one notebook; the longest of a solved lab takes less than a minute
# What the autograder sets, whatever the student's shell says.
AS_GRADED = {"LAB4B_SIZE": "full"}
CHILD = """
import pathlib, sys
from lab_utils.kit.hand_in.rerun import run_cells
run_cells(pathlib.Path(sys.argv[1]))
"""

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


def rerun(notebook: Path, progress: Progress) -> Rerun:
    """Run ``notebook`` in the folder in which it lies."""
    code = [cell for cell in read_cells(notebook) if cell.is_code]
    errors: dict[int, str] = {}
    passed = set()
    number = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
        process = _started(notebook, complaints)
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


def _started(notebook: Path, complaints: IO[str]) -> subprocess.Popen[str]:
    path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, notebook.name],
        cwd=notebook.parent,
        env={
            **os.environ,
            **AS_GRADED,
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


def _errors(notebook: Path) -> Iterator[tuple[int, str]]:
    """Number and error of each code cell."""
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    code = [cell for cell in read_cells(notebook) if cell.is_code]
    for number, cell in enumerate(code, 1):
        result = shell.run_cell(cell.source, store_history=True)
        error = result.error_before_exec or result.error_in_exec
        first = str(error).strip().splitlines()[:1]
        yield number, ": ".join([type(error).__name__, *first]) if error else ""


def run_cells(notebook: Path) -> None:
    """Run the cells; the lines go to what was standard output when the process began."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    for number, error in _errors(notebook):
        print(json.dumps([number, error]), file=answers, flush=True)
