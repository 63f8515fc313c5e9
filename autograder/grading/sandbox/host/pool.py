"""The executor: several workers, each with warm processes, and jobs for them."""

from __future__ import annotations

import os
import queue
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from autograder.grading.sandbox.host import speed
from autograder.grading.sandbox.host.cut import PACKAGE, Cut, Kit
from autograder.grading.sandbox.host.house import House
from autograder.grading.sandbox.host.isolation import Isolation, Reached
from autograder.grading.sandbox.host.job import Job, Result
from autograder.grading.sandbox.host.limits import Limits
from autograder.grading.sandbox.host.stems import Stem, stems_to_use
from autograder.grading.sandbox.host.submission import run_submission
from autograder.grading.sandbox.host.warm_process import Site, WarmProcess
from autograder.grading.sandbox.host.worker import Team

T = TypeVar("T")
R = TypeVar("R")

PRELOAD = ("pandas", "matplotlib.pyplot", "ipywidgets", "lab_utils")
"""What every warm process imports, so that no notebook has to."""


class Executor:
    """Runs submissions in sandboxes::

        with Executor(jobs=2) as executor:
            for result in executor.map(jobs):
                ...

    ``isolation`` is the highest level to try, ``require`` the lowest to accept.
    ``preload`` are modules that the warm process imports, and ``warm_up`` are functions that
    it calls then, each as ``package.module:function``: what they load is there for every
    notebook. ``hidden`` are folders that no sandbox may show even if they lie in one it needs.
    ``environment`` are variables for student code to see. ``slowness`` is how many times as
    long as on ours everything takes on this machine, which is measured unless it is given.
    ``kits`` say for single notebooks what lies beside them, in place of all of the kit.
    """

    def __init__(
        self,
        isolation: Isolation = Isolation.FULL,
        require: Isolation = Isolation.NONE,
        limits: Limits | None = None,
        jobs: int = 2,
        preload: Sequence[str] = PRELOAD,
        warm_up: Sequence[str] = (),
        hidden: Sequence[Path] = (),
        environment: Mapping[str, str] = MappingProxyType({}),
        slowness: float | None = None,
        kits: Mapping[str, Kit] = MappingProxyType({}),
    ) -> None:
        self.limits = (limits or Limits()).on_machine(slowness or speed.slowness())
        """In seconds of this machine."""
        self.jobs = jobs
        self.reached: Reached
        """The level of isolation, once the executor has been entered."""
        self._wanted, self._require = isolation, require
        self._usual = Kit(Cut(), tuple(preload), tuple(warm_up))
        self._kits, self._hidden, self._environment = kits, hidden, environment
        self._idle: queue.SimpleQueue[Team] = queue.SimpleQueue()
        self._open = ExitStack()

    def __enter__(self) -> Executor:
        with ExitStack() as stack:
            stems = stack.enter_context(stems_to_use())
            house = stems.house(self._hidden, self.limits.threads)
            self.reached = stems.reach(house, self._require, self._wanted)
            kits = list(dict.fromkeys(self._kits.values())) or [self._usual]
            shares = shared_out(available(), self.jobs, self.limits.threads)
            self._threads = stack.enter_context(ThreadPoolExecutor(self.jobs))
            is_sandbox = self.reached.level is Isolation.FULL and not self.reached.rooms
            lent = partial(stems.lent, self.reached, house, libraries_of(kits))
            # Where each submission has rooms of its own, one stem serves all workers.
            several = 0 if is_sandbox else 1 if self.reached.rooms else self.jobs
            shared = [stack.enter_context(lent()) for _ in range(several)]
            for stem in shared:  # while the kits are laid out
                self._threads.submit(stem.start, self.limits.disk_bytes)
            sites = {
                kit: Site(self.limits, kit, stems.kit(kit.cut), self._environment) for kit in kits
            }
            warm = [
                {kit: WarmProcess(site, stem) for kit, site in sites.items()} for stem in shared
            ]
            teams = []
            for place, share in enumerate(shares):
                if is_sandbox:
                    warm.append(self._one_for_each(house, sites, stack))
                team = Team(warm[place % len(warm)], self._kits, share, place)
                teams.append(team)
                stack.callback(team.leave)
            # Side by side; what is wrong with a kit is told at once.
            first, *_ = [self._threads.submit(self._start, team) for team in teams]
            first.result()
            self._open = stack.pop_all()
        return self

    def _start(self, team: Team) -> None:
        try:
            team.start()
        finally:  # else it is tried again when it is needed
            self._idle.put(team)

    def _one_for_each(
        self, house: House, sites: Mapping[Kit, Site], stack: ExitStack
    ) -> dict[Kit, WarmProcess]:
        """Where a stem is itself the sandbox, each kit has its own."""
        found = {}
        for kit, site in sites.items():
            stem = Stem(self.reached, house, libraries_of([kit]), only=site.folder)
            stack.callback(stem.stop)
            found[kit] = WarmProcess(site, stem)
        return found

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, job: Job) -> Result:
        """Run one submission. Whatever it does, this returns, and in bounded time.

        Raises:
            SandboxFailed: no sandbox can be had any more, which is not the submission's doing.
        """
        team = self._idle.get()
        loaded = [name for kit in (self._usual, *self._kits.values()) for name in kit.preload]
        libraries = frozenset(name.partition(".")[0] for name in loaded)
        try:
            with team.submission() as rooms:
                result = run_submission(job, rooms, self.limits, libraries | _CUSTOMS)
        finally:
            self._idle.put(team)
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


def libraries_of(kits: Iterable[Kit]) -> tuple[str, ...]:
    """What their warm processes import that is not ours: a stem does it for all of them."""
    names = dict.fromkeys(name for kit in kits for name in kit.preload)
    return tuple(name for name in names if name.partition(".")[0] != PACKAGE.name)


_CUSTOMS = frozenset({"lab_utils", "sitecustomize", "usercustomize"})


def available() -> list[int]:
    """The processors that we may use; none where nobody can say."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def shared_out(processors: Sequence[int], jobs: int, threads: int) -> list[list[int]]:
    """Which of them each worker keeps to: then busy code slows down nobody else, if that can be.

    An empty list: to any of them.
    """
    size = max(threads, len(processors) // jobs)
    if jobs == 1 or size >= len(processors):
        return [[]] * jobs
    around = [*processors, *processors]
    starts = [number * size % len(processors) for number in range(jobs)]
    return [sorted(around[start : start + size]) for start in starts]
