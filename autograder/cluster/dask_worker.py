"""What runs on a worker of Dask: sandboxes that are started once and stay for the next hand-in."""

from __future__ import annotations

import atexit
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Lock

from distributed import get_worker

from autograder.classroom.examiner import Kept, examine_one, grader_for
from autograder.classroom.home import Home
from autograder.classroom.ledger import Ledger
from autograder.cluster.examine import looks_different, must_not_differ, node
from autograder.cluster.work import Refused, Work
from autograder.grading.judge.judges import JudgeFailed
from autograder.grading.sandbox import NotIsolated, SandboxFailed


class Unfit(Exception):
    """A worker cannot do such work: its address, and why.

    It is raised, for results stay in the memory of a worker, and this one is to leave.
    """


class Station:
    """One lab, with sandboxes that are warm."""

    def __init__(self, home: Home, work: Work, jobs: int) -> None:
        """Raises Refused, NotIsolated or SandboxFailed if this worker is of no use."""
        must_not_differ(home, work)
        self._home, self._order = home, work.order(home, jobs)
        self._ledger, self._kept = Ledger(home, work.lab), Kept(self._order)
        self._open = ExitStack()
        self._grader = self._open.enter_context(grader_for(self._order, self._kept.plan))

    def examine(self, student: str, key: str) -> None:
        """Keep a verdict on a hand-in, unless somebody has kept it already."""
        if self._ledger.key(self._home.submitted / student / self._order.lab) != key:
            raise looks_different(student)
        if not self._kept.has(student):
            examine_one(self._order, self._grader, student)

    def close(self) -> None:
        """End the sandboxes."""
        self._open.close()


_stations: dict[str, Station] = {}
_lock = Lock()


def examine(home: str, work: Work, student: str, key: str) -> None:
    """Examine one submission, on a worker; ``work`` names no students.

    Raises:
        Unfit: this worker must not do it, or cannot any more.
    """
    worker = get_worker()
    try:
        _station(Home(Path(home)), work, worker.state.nthreads).examine(student, key)
    except (Refused, NotIsolated, SandboxFailed, JudgeFailed) as error:
        raise Unfit(worker.address, f"{error} (on {node()})") from None


def _station(home: Home, work: Work, jobs: int) -> Station:
    name = repr((home.path, replace(work, students={})))
    with _lock:
        if name not in _stations:
            _close()
            _stations[name] = Station(home, work, jobs)
        return _stations[name]


def close() -> None:
    """End what is warm; when a class is graded, and when the worker ends."""
    with _lock:
        _close()


def _close() -> None:
    while _stations:
        _stations.popitem()[1].close()


atexit.register(close)
