"""The executor: several workers, each with a warm process, and jobs for them."""

from __future__ import annotations

import queue
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from pathlib import Path
from typing import TypeVar

from autograder.grading.sandbox.host.house import ROOT, House
from autograder.grading.sandbox.host.isolation import Isolation, Reached
from autograder.grading.sandbox.host.job import Job, Result
from autograder.grading.sandbox.host.limits import Limits
from autograder.grading.sandbox.host.submission import run_submission
from autograder.grading.sandbox.host.warmth import reach
from autograder.grading.sandbox.host.worker import Site, Worker

T = TypeVar("T")
R = TypeVar("R")

PRELOAD = (
    "torch",
    "torch.fx",
    "torch.fx.experimental.proxy_tensor",
    "pandas",
    "matplotlib.pyplot",
    "ipywidgets",
    "lab_utils",
)
"""What the warm process imports, so that no notebook has to."""
WARM_UP = "from inside.rehearsal import rehearse\n\nrehearse()\n"
"""What the warm process runs."""


class Executor:
    """Runs submissions in sandboxes::

        with Executor(jobs=2) as executor:
            for result in executor.map(jobs):
                ...

    ``isolation`` is the highest level to try, ``require`` the lowest to accept.
    ``hidden`` are folders that no sandbox may show even if they lie in one it needs.
    """

    def __init__(
        self,
        isolation: Isolation = Isolation.FULL,
        require: Isolation = Isolation.NONE,
        limits: Limits | None = None,
        jobs: int = 2,
        preload: Sequence[str] = PRELOAD,
        warm_up: str = WARM_UP,
        hidden: Sequence[Path] = (),
    ) -> None:
        self.limits = limits or Limits()
        self.jobs = jobs
        self.reached: Reached
        """The level of isolation, once the executor has been entered."""
        self._wanted, self._require = isolation, require
        self._preload, self._warm_up, self._hidden = preload, warm_up, hidden
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._open = ExitStack()

    def __enter__(self) -> Executor:
        with ExitStack() as stack:
            folder = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="executor-", ignore_cleanup_errors=True)
            )
            house = House(Path(folder).resolve(), (ROOT, *self._hidden))
            house.build()
            self.reached = reach(house, self._require, self._wanted)
            site = Site(self.reached, house, self.limits, self._preload, self._warm_up)
            workers = [Worker(site) for _ in range(self.jobs)]
            for worker in workers:
                stack.callback(worker.stop)
            self._threads = stack.enter_context(ThreadPoolExecutor(self.jobs))
            # Started side by side; the first failure is raised here.
            list(self._threads.map(Worker.start, workers))
            for worker in workers:
                self._idle.put(worker)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, job: Job) -> Result:
        """Run one submission. Whatever it does, this returns, and in bounded time.

        Raises:
            SandboxFailed: no sandbox can be had any more, which is not the submission's doing.
        """
        worker = self._idle.get()
        try:
            with worker.submission() as line:
                libraries = frozenset(name.partition(".")[0] for name in self._preload)
                result = run_submission(job, line, self.limits, libraries | _CUSTOMS)
        finally:
            self._idle.put(worker)
        result.isolation = str(self.reached.level)
        return result

    def map(self, jobs: Iterable[Job]) -> Iterator[Result]:
        """Run many submissions, several at a time; results come as they are ready."""
        return self.each(self.run, jobs)

    def each(self, work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """Do ``work`` (which calls ``run``) on many items, as many at a time as there are workers.

        ``items`` is read no faster than that, so it may be long and lazy.
        """
        source = iter(items)
        running: set[Future[R]] = set()
        while True:
            while len(running) < self.jobs and (item := next(source, None)) is not None:
                running.add(self._threads.submit(work, item))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield future.result()


_CUSTOMS = frozenset({"lab_utils", "sitecustomize", "usercustomize"})
