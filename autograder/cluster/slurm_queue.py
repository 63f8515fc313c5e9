"""Slurm's own commands, for jobs of one name."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence

from autograder.cluster.work import Refused
from lab_utils.kit.errors import LabError

PATIENCE = 120.0
"""Seconds that jobs may take to end."""


def require_slurm() -> None:
    """Raises LabError where there is no Slurm."""
    absent = [tool for tool in ("sbatch", "squeue", "scancel") if shutil.which(tool) is None]
    if absent:
        text = f"there is no {' and no '.join(absent)} here: --engine slurm runs where jobs are"
        raise LabError(f"{text} submitted; collect, examine and report need no Slurm")


class Queue:
    """The jobs called ``name`` that are ours."""

    def __init__(self, name: str) -> None:
        """Asks nobody yet."""
        self._ours = [f"--name={name}", f"--user={os.getuid()}"]
        self._name, self._reason = name, ""

    def submit(self, script: str, array: str, options: Sequence[str]) -> str:
        """Send a job array; its number.

        Raises:
            Refused: Slurm does not take it; the message has its reason.
        """
        command = ["sbatch", "--parsable", f"--job-name={self._name}", f"--array={array}"]
        done = _run([*command, *options, f"--wrap={script}"])
        if done.returncode:
            raise Refused(f"sbatch refused the job: {_told(done)}")
        return done.stdout.strip().partition(";")[0]

    def tasks(self, say: Callable[..., None] = lambda *_: None) -> set[str] | None:
        """Those that wait or run; None while Slurm does not answer.

        If all wait, the reason is said; and so is what keeps Slurm from answering.
        """
        listing = ["squeue", "--noheader", "--array", *self._ours, "--format=%i|%t|%r"]
        done = _run(listing)
        if done.returncode:
            self._note(f"slurm does not answer: {_told(done)}", say)
            return None
        rows = [line.strip().split("|", 2) for line in done.stdout.splitlines() if line.strip()]
        if rows and all(state == "PD" for _, state, _ in rows):
            reasons = sorted({reason for _, _, reason in rows} - {"None", "Priority", "Resources"})
            if reasons:
                self._note(f"slurm: waiting ({', '.join(reasons)})", say)
        return {task for task, _, _ in rows}

    def end_all(self) -> None:
        """End all that there are, and wait until they have ended."""
        if not self.tasks():
            return
        _run(["scancel", *self._ours])
        until = time.monotonic() + PATIENCE
        while self.tasks() and time.monotonic() < until:
            time.sleep(0.5)

    def _note(self, text: str, say: Callable[..., None]) -> None:
        if text != self._reason:
            self._reason = text
            say(text)


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def _told(done: subprocess.CompletedProcess[str]) -> str:
    lines = done.stderr.strip().splitlines() or ["no word"]
    return lines[-1]
