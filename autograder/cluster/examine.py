"""A worker: examines a share of the work, and says so if this machine must not."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from pathlib import Path

from autograder.classroom.examiner import Told, sandbox
from autograder.classroom.home import Home
from autograder.classroom.ledger import Ledger
from autograder.classroom.pool import Examined, NotExamined
from autograder.cluster.work import Refused, Work
from autograder.grading.judge.judges import JudgeFailed
from autograder.grading.sandbox import NotIsolated, SandboxFailed
from autograder.grading.verdict import write_private


def examined(
    home: Home, work: Work, students: Sequence[str], jobs: int, told: Told
) -> Generator[Examined]:
    """Examine these students of the work; who has a verdict that holds is not examined again.

    Raises:
        Refused: verdicts of this machine would not count; it has examined nobody.
        SandboxFailed, JudgeFailed: it cannot go on.
    """
    must_not_differ(home, work)
    ledger, mine = Ledger(home, work.lab), []
    for student in students:
        if ledger.key(home.submitted / student / work.lab) == work.students[student]:
            mine.append(student)
        else:
            yield student, looks_different(student)
    try:
        with (
            sandbox(work.order(home, jobs), told) as examiner,
            closing(examiner.each(mine)) as each,
        ):
            for student, error in each:
                if isinstance(error, (SandboxFailed, JudgeFailed)):
                    raise error
                yield student, error
    except NotIsolated as error:
        raise Refused(f"{error} (on {node()})") from error


def must_not_differ(home: Home, work: Work) -> None:
    """Raises Refused if verdicts of this machine would not count."""
    if why := work.refusal(home):
        raise Refused(f"{why}; use the same checkout and the same environment on {node()}")


def looks_different(student: str) -> NotExamined:
    """What to say if a hand-in is not the one that is to be examined."""
    text = f"what {student} handed in looks different on {node()}: a newer one has been"
    return NotExamined(f"{text} collected, or the file system lags behind")


def node() -> str:
    """What this machine is called, by Slurm if we are one of its jobs."""
    return os.environ.get("SLURMD_NODENAME") or socket.gethostname()


def note_refusal(work: Path, why: str) -> None:
    """Leave word beside the work, for whoever handed it out."""
    write_private(_refusals(work) / f"{node()}.json", json.dumps({"node": node(), "why": why}))


def refusals(work: Path) -> dict[str, str]:
    """Which machines refused the work, and why."""
    found = {}
    for path in sorted(_refusals(work).glob("*.json")):
        with suppress(OSError, ValueError, KeyError):
            about = json.loads(path.read_text(encoding="utf-8"))
            found[about["node"]] = about["why"]
    return found


def _refusals(work: Path) -> Path:
    return work.with_suffix(".refused")
