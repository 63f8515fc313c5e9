"""Several submissions at a time, in threads of this process; and what an examiner tells of each."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from lab_utils.kit.errors import LabError

Examined = tuple[str, Exception | None]
"""A student, and what went wrong: nothing if the verdict is kept where ``load_verdict`` looks."""


class NotExamined(LabError):
    """No worker got to a verdict on one submission; the others are none the worse."""


def several(
    examine: Callable[[str], object], students: Iterable[str], jobs: int
) -> Generator[Examined]:
    """Examine so many at a time; each comes when it is ready."""
    waiting = iter(students)
    running: dict[Future[object], str] = {}
    with ThreadPoolExecutor(jobs) as threads:
        while True:
            for student in waiting:
                running[threads.submit(examine, student)] = student
                if len(running) > jobs:  # one is ready when a worker is free
                    break
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                error = future.exception()
                if error is not None and not isinstance(error, Exception):
                    raise error
                yield running.pop(future), error
