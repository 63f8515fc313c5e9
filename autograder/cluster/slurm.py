"""An examiner that is a job array of Slurm: no process of ours stays on any node.

Each task of the array is ``python -m autograder examine`` on a slice. The coordinator watches two
things: the folder of verdicts, where they appear one by one, and the queue. A task that is gone
and owes verdicts (its node died, it was pre-empted, its time was up) is sent again, in smaller
slices: one hand-in that kills its job harms nobody else for long.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from autograder.classroom.examiner import Kept
from autograder.classroom.grade import Order
from autograder.classroom.pool import Examined, NotExamined
from autograder.cluster.examine import refusals
from autograder.cluster.slurm_queue import Queue
from autograder.cluster.work import Refused, Work, sliced
from lab_utils.kit.task import counted

POLL = 2.0
"""Seconds between two looks."""
LAG = 60.0
"""Seconds after which a shared file system has told everybody what was written: NFS' own."""
TRIES = 3
MOST_TASKS = 1000
"""Slurm takes arrays of up to 1001 unless a site says otherwise."""


@dataclass(frozen=True)
class Array:
    """How the work is cut, and what sbatch is told."""

    size: int = 20
    """Submissions of one slice."""
    workers: int | None = None
    """Tasks at a time; None: as many as Slurm starts."""
    jobs: int = 1
    """Submissions at a time within a task, a processor each."""
    options: tuple[str, ...] = ()


class Slurm:
    """Examines submissions on the nodes of a cluster that see the folder of the outcomes."""

    def __init__(self, order: Order, array: Array, say: Callable[..., None]) -> None:
        """Nothing is submitted yet."""
        self._order, self._array, self._say = order, array, say
        self._folder = order.home.grades(order.lab) / "cluster"
        name = sha256(str(order.home.path).encode()).hexdigest()[:8]
        self._queue = Queue(f"grade-{order.lab}-{name}")
        self._kept = Kept(order)
        self._refused: dict[str, str] = {}
        self._arrays = 0

    def each(self, students: Sequence[str]) -> Generator[Examined]:
        """Examine them all; each comes when its verdict is there.

        Raises:
            LabError: Slurm does not take the work.
            Refused: no node may do it.
        """
        held, left = self._kept.sorted_out(students)
        yield from ((student, None) for student in held)
        if not left:
            return
        self._queue.end_all()  # what a run has left that was cut off
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(mode=0o700, parents=True)  # logs name students
        try:
            yield from self._each(left)
        finally:
            self._queue.end_all()

    def _each(self, lost: list[str]) -> Iterator[Examined]:
        waiting, tries, fruitless = set(lost), Counter[str](), 0
        tasks: dict[str, list[str]] = {}
        gone_since: dict[str, float] = {}
        while waiting:
            if lost:
                tasks |= self._submit(lost, max(tries[student] for student in lost))
            time.sleep(POLL)
            # The queue first: what a task has written, it has written before it left.
            queued = self._queue.tasks(self._say)
            for student in sorted(waiting & self._kept.there()):
                if self._kept.has(student):
                    waiting.discard(student)
                    fruitless = 0
                    yield student, None
            lost = []
            for task in self._over(tasks, queued, waiting, gone_since):
                owed = [student for student in tasks.pop(task) if student in waiting]
                if owed and self._has_refused(task):
                    fruitless += not lost
                    lost += owed
                    continue
                for student in owed:
                    tries[student] += 1
                    if tries[student] < TRIES:
                        lost.append(student)
                    else:
                        waiting.discard(student)
                        yield student, NotExamined(self._in_vain(task))
            if fruitless == TRIES:
                raise Refused(f"no node may examine it: {self._reasons()}")

    def _over(
        self,
        tasks: dict[str, list[str]],
        queued: set[str] | None,
        waiting: set[str],
        gone_since: dict[str, float],
    ) -> list[str]:
        """Tasks that have left the queue; one that owes verdicts, after some time of grace."""
        over = []
        for task in tasks:
            if queued is None or task in queued:
                gone_since.pop(task, None)
                continue
            since = gone_since.setdefault(task, time.monotonic())
            if waiting.isdisjoint(tasks[task]) or time.monotonic() - since >= LAG:
                over.append(task)
        return over

    def _submit(self, students: Sequence[str], tries: int) -> dict[str, list[str]]:
        """Send an array; which students each of its tasks has."""
        self._arrays += 1
        order, array = self._order, self._array
        path = self._folder / f"{self._arrays}.json"
        work = Work.of(order, students)
        work.write(path)
        count = sliced(students, max(1, array.size // 4**tries), MOST_TASKS)
        command = [sys.executable, "-m", "autograder", "examine", order.lab]
        command += ["--into", str(order.home.path), "--work", str(path), "--jobs", str(array.jobs)]
        options = [f"--cpus-per-task={array.jobs}", f"--chdir={order.home.root}"]
        options += [f"--output={self._folder}/%A_%a.log", "--open-mode=append", "--requeue"]
        if self._refused:
            options.append(f"--exclude={','.join(sorted(self._refused))}")
        limit = f"%{array.workers}" if array.workers else ""
        script = f'exec {shlex.join(command)} --slice "$SLURM_ARRAY_TASK_ID/{count}"'
        try:
            job = self._queue.submit(script, f"1-{count}{limit}", [*options, *array.options])
        except Refused as error:
            raise Refused(f"{error}; {self._reasons()}" if self._refused else str(error)) from None
        what = f"{counted(len(students), 'submission')} in {counted(count, 'slice')}"
        self._say(f"slurm: job {job}, {what}")
        return {f"{job}_{number}": work.share(number, count) for number in range(1, count + 1)}

    def _has_refused(self, task: str) -> bool:
        """Whether nodes have refused the work; they get no more of it."""
        found: dict[str, str] = {}
        for path in self._folder.glob("*.json"):
            found |= refusals(path)
        new = {name: why for name, why in found.items() if name not in self._refused}
        for name, why in new.items():
            self._say(f"slurm: {name} refused: {why}")
        self._refused |= new
        log = self._log(task)
        return any(why in log for why in found.values())

    def _reasons(self) -> str:
        return "; ".join(f"{name}: {why}" for name, why in sorted(self._refused.items()))

    def _in_vain(self, task: str) -> str:
        """What to say of a submission that no job brought to an end."""
        text = f"{TRIES} jobs ended before it was examined"
        if not (log := self._log(task).strip()):
            return f"{text}, without a word in {self._folder}: do all nodes see this folder?"
        return (
            f"{text} (the last said: {log.splitlines()[-1][:200]}); {self._folder} has their logs"
        )

    def _log(self, task: str) -> str:
        try:
            return Path(self._folder, f"{task}.log").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""
