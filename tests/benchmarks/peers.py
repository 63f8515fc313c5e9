"""What other graders take for the same hand-ins: stock nbgrader, and otter-grader."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import nbformat
from nbformat.notebooknode import NotebookNode

from lab_utils.kit.root import ROOT
from tests.benchmarks.watch import Watch
from tests.labs.lab4a.class_of_four import STOCK
from tests.support.sample_course import copy_course, submit, write

OTTER = ("otter-grader==7.*", "ipykernel", "ipywidgets", "numpy")
"""What a lab without torch needs to be graded by otter-grader."""
INSTALLING = 900.0
"""Seconds that installing it may take."""


@dataclass(frozen=True)
class Spent:
    """What a command took; ``cpu`` is its own and that of all processes below it."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds of the processor."""

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.wall + other.wall, self.cpu + other.cpu)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.wall - other.wall, self.cpu - other.cpu)

    def __truediv__(self, parts: float) -> Spent:
        return Spent(self.wall / parts, self.cpu / parts)

    def __mul__(self, times: float) -> Spent:
        return Spent(self.wall * times, self.cpu * times)


NOTHING = Spent(0.0, 0.0)


def spent_on(
    command: Sequence[str | Path],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    beside: Callable[[int], object] = lambda process: None,
) -> Spent:
    """Run a command; ``beside`` is told its number when it has started.

    Raises:
        RuntimeError: it failed; the text has its last words.
    """
    started = time.monotonic()
    with TemporaryFile() as told:
        run = subprocess.Popen(
            list(map(str, command)),
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdout=told,
            stderr=told,
        )
        beside(run.pid)
        watch = Watch(run.pid)
        watch.start()
        _, status, used = os.wait4(run.pid, 0)
        took = time.monotonic() - started
        seen = watch.end()
        run.returncode = os.waitstatus_to_exitcode(status)
        if run.returncode:
            told.seek(0)
            words = told.read().decode(errors="replace")[-2000:]
            raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{words}")
    return Spent(took, max(seen, used.ru_utime + used.ru_stime))


class StockNbgrader:
    """Plain ``nbgrader autograde``, one hand-in after the other; some are tried."""

    def __init__(self, folder: Path, lab: str) -> None:
        self._course, self._lab = copy_course(folder), lab
        for name in ("solutions", "notebooks"):
            for path in (ROOT / name / lab).glob("*.ipynb"):
                write(self._course / name / lab / path.name, path.read_text())
        settings = self._course / "autograder" / "nbgrader_config.py"
        write(settings, settings.read_text() + STOCK)
        self._graded, self._spent = 0, NOTHING
        self._start = NOTHING
        self._starts = 0

    def grade(self, hand_ins: Sequence[Mapping[str, NotebookNode]]) -> None:
        """Grade some more, and then nothing: which takes what starting takes."""
        for books in hand_ins:
            submit(self._course, self._lab, f"student{self._graded}", books)
            self._graded += 1
        self._spent += self._run()
        self._start += self._run()
        self._starts += 1

    def spent(self, hand_ins: int) -> Spent:
        """What a class of so many takes, by those that were tried: it starts once."""
        start = self._start / self._starts
        each = (self._spent - start * self._starts) / self._graded
        return start + each * hand_ins

    def _run(self) -> Spent:
        elsewhere = str(self._course / "no-settings")  # of the person who measures
        own = {"JUPYTER_CONFIG_DIR": elsewhere, "IPYTHONDIR": elsewhere, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "nbgrader", "autograde", self._lab]
        return spent_on(command, self._course, own)


class OtterRun:
    """``otter run`` without a container, one hand-in after the other, in its own environment."""

    def __init__(self, folder: Path) -> None:
        """Installs otter-grader into a throwaway environment.

        Raises:
            RuntimeError: it cannot be installed here; the text says why.
        """
        self._folder = folder
        folder.mkdir(parents=True)
        spent_on([sys.executable, "-m", "venv", folder / "venv"], folder)
        python = folder / "venv" / "bin" / "python"
        try:
            subprocess.run(
                [python, "-m", "pip", "install", "--quiet", *OTTER],
                cwd=folder,
                check=True,
                capture_output=True,
                text=True,
                timeout=INSTALLING,
            )
        except subprocess.SubprocessError as error:
            told = str(getattr(error, "stderr", "") or error).strip().splitlines()
            raise RuntimeError(told[-1] if told else "pip failed") from None
        self._otter = folder / "venv" / "bin" / "otter"
        self._graded, self._spent = 0, NOTHING

    def prepare(self, tests: Mapping[str, str]) -> None:
        """Make the autograder from its tests: by name, the text of a test file."""
        for name, text in tests.items():
            write(self._folder / "tests" / f"{name}.py", text)
        write(self._folder / "requirements.txt", "")
        command: list[str | Path] = [self._otter, "generate", "-t", "tests", "-o", "autograder.zip"]
        spent_on([*command, "-r", "requirements.txt"], self._folder)

    def grade(self, hand_ins: Sequence[NotebookNode], points: float) -> None:
        """Grade some more.

        Raises:
            RuntimeError: it gives other points; then it does other work than we do.
        """
        autograder = self._folder / "autograder.zip"
        for book in hand_ins:
            here = self._folder / f"hand-in{self._graded}"
            write(here / "notebook.ipynb", nbformat.writes(book))
            command: list[str | Path]
            command = [self._otter, "run", "-a", autograder, "-o", here, "--no-logo"]
            environment = {"PYTHONPATH": str(ROOT)}
            self._spent += spent_on([*command, here / "notebook.ipynb"], here, environment)
            got = _points(here / "results.json")
            if abs(got - points) > 1e-6:
                raise RuntimeError(f"otter gives {got:g} points and not {points:g}")
            self._graded += 1

    def spent(self, hand_ins: int) -> Spent:
        """What a class of so many takes, by those that were tried."""
        return self._spent / self._graded * hand_ins


def _points(results: Path) -> float:
    told: Any = json.loads(results.read_text())
    return sum(float(test.get("score", 0)) for test in told["tests"] if "score" in test)


def otter_test(name: str, points: float, code: Sequence[str]) -> str:
    """The text of a test file of otter: each piece of ``code`` is a doctest, all must pass."""
    cases = [{"code": text, "hidden": False, "locked": False} for text in code]
    suite = {"cases": cases, "scored": True, "setup": "", "teardown": "", "type": "doctest"}
    test = {"name": name, "points": points, "suites": [suite]}
    return f"OK_FORMAT = True\n\ntest = {test!r}\n"
