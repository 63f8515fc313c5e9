"""An examiner that is a Dask cluster, whoever started it: one task a submission.

Dask sends a task again whose worker has died, up to three times. Workers keep their sandboxes
warm between tasks; one that must not examine, or cannot any more, is told to leave.
"""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from distributed import Client, Future, KilledWorker, LocalCluster

from autograder.classroom.command import cores
from autograder.classroom.examiner import Kept
from autograder.classroom.grade import Order
from autograder.classroom.pool import Examined, NotExamined
from autograder.cluster import dask_worker
from autograder.cluster.work import Refused, Work
from autograder.grading.verdict import verdict_file
from lab_utils.kit.errors import LabError

PATIENCE = 600.0
"""Seconds to wait for a worker while there is none."""
GRACE = 20.0
"""The same if some were there that must not work."""
LOOK = 5.0
"""Seconds between two looks at who is there."""
LAG = 60.0
"""Seconds after which a shared file system shows here what a worker has written: NFS' own."""

Start = Callable[[Path], Client]
"""Makes a client; the folder is for what only we and our workers may read."""


def cluster(scheduler: str | None, workers: int | None) -> Start:
    """How to reach the cluster that ``--scheduler`` names, or to start one on this machine.

    Raises:
        LabError: ``workers`` are asked of a cluster that somebody else has started.
    """
    if workers and scheduler and not scheduler.isidentifier():
        text = f"--workers {workers}: whoever started the cluster at {scheduler} starts its workers"
        raise LabError(f"{text}; leave --workers out, all that are there are used")

    def start(private: Path) -> Client:
        if not scheduler:
            about = {"n_workers": workers or cores(), "threads_per_worker": 1}
            # Encrypted, with keys that are ours alone: on a shared machine others may connect.
            local = LocalCluster(**about, security=True, dashboard_address="127.0.0.1:0")
            return Client(local, set_as_default=False)
        if scheduler.isidentifier():
            return Client(_jobqueue(scheduler, workers or 1, private), set_as_default=False)
        where = (
            {"scheduler_file": scheduler} if Path(scheduler).is_file() else {"address": scheduler}
        )
        try:
            return Client(**where, set_as_default=False)
        except (OSError, ValueError) as error:
            raise LabError(f"no scheduler of Dask answers at {scheduler}: {error}") from error

    return start


def _jobqueue(name: str, workers: int, private: Path) -> object:
    """A cluster of dask-jobqueue, with its settings in ~/.config/dask/jobqueue.yaml."""
    import dask_jobqueue

    if not hasattr(dask_jobqueue, name):
        raise LabError(f"{name} is no cluster of dask-jobqueue: SLURMCluster, PBSCluster, …")
    private.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        made = getattr(dask_jobqueue, name)(
            security=True,
            shared_temp_directory=str(private),
            scheduler_options={"dashboard_address": "127.0.0.1:0"},
        )
        made.scale(jobs=workers)
    except (ValueError, RuntimeError, OSError) as error:
        text = f"{name} does not start: {' '.join(str(error).split())}"
        raise LabError(f"{text} (its settings: ~/.config/dask/jobqueue.yaml)") from None
    return made


class Dask:
    """Examines submissions on the workers of a cluster that see the folder of the outcomes."""

    def __init__(self, order: Order, start: Start, say: Callable[..., None]) -> None:
        """Nothing is started yet."""
        self._order, self._start, self._say = order, start, say
        self._refused: dict[str, str] = {}
        self._seen = 0.0

    def each(self, students: Sequence[str]) -> Generator[Examined]:
        """Examine them all; each comes when its verdict is kept.

        Raises:
            LabError: no scheduler answers, or nobody is there to work.
            Refused: no worker may do it.
        """
        held, left = Kept(self._order).sorted_out(students)
        yield from ((student, None) for student in held)
        if left:
            with self._client() as client:
                yield from self._each(client, left)

    @contextmanager
    def _client(self) -> Iterator[Client]:
        # It shows tracebacks of what we tell in a line, as when a scheduler goes.
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        with self._start(self._order.home.grades(self._order.lab) / "cluster") as client:
            self._say(f"dask: {client.scheduler.address}, dashboard {client.dashboard_link}")
            if not client.scheduler.address.startswith("tls://"):
                self._say("dask: not encrypted: whoever reaches this address can run code as you")
            try:
                yield client
            finally:
                if client.status == "running" and client.scheduler_info()["workers"]:
                    client.run(dask_worker.close, on_error="ignore")
                if client.cluster is not None:
                    client.cluster.close()

    def _each(self, client: Client, students: list[str]) -> Iterator[Examined]:
        work = Work.of(self._order, students)
        about = (str(self._order.home.path), replace(work, students={}))
        ready: queue.SimpleQueue[Future] = queue.SimpleQueue()
        asked: dict[Future, str] = {}

        def ask(student: str) -> None:
            key = work.students[student]
            # Keys of tasks can be seen on the dashboard: no names.
            called = f"examine-{key[:12]}-{time.monotonic_ns()}"
            future = client.submit(dask_worker.examine, *about, student, key, key=called)
            asked[future] = student
            future.add_done_callback(ready.put)

        for student in students:
            ask(student)
        self._seen = time.monotonic()
        while asked:
            try:
                future = ready.get(timeout=LOOK)
            except queue.Empty:
                self._look_around(client)
                continue
            student = asked.pop(future)
            if future.cancelled():  # which nobody does; and no exception is told then
                text = "the scheduler of Dask has gone, or cannot be reached any more"
                raise LabError(f"{text}: what was examined counts, the same command goes on")
            error = future.exception()
            if isinstance(error, dask_worker.Unfit):
                self._dismiss(client, *error.args)
                ask(student)
            else:
                yield student, self._words(error) or self._unseen(student)

    def _dismiss(self, client: Client, worker: str, why: str) -> None:
        """Tell a worker to leave that can do no such work."""
        if worker not in self._refused:
            self._refused[worker] = why
            self._say(f"dask: {worker} refused: {why}")
            client.retire_workers([worker], close_workers=True)
        self._look_around(client)

    def _look_around(self, client: Client) -> None:
        """Raises LabError if there has been nobody to work for long."""
        if set(client.scheduler_info(n_workers=-1)["workers"]) - set(self._refused):
            self._seen = time.monotonic()
        alone = time.monotonic() - self._seen
        if self._refused and alone > GRACE:
            raise Refused(f"no worker may examine it: {'; '.join(self._refused.values())}")
        if alone > PATIENCE:
            text = f"there has been no worker for {PATIENCE:.0f} s; start some"
            raise LabError(f"{text}, and the same command goes on")

    def _unseen(self, student: str) -> NotExamined | None:
        """What to say if a verdict that a worker has kept does not arrive here."""
        path = verdict_file(self._order.home.path, self._order.lab, student)
        since = time.monotonic()
        while not path.is_file():
            if time.monotonic() - since > LAG:
                text = f"a worker has examined it, but {path} is not to be seen here"
                return NotExamined(f"{text}: do workers and coordinator share this folder?")
            time.sleep(0.1)
        return None

    def _words(self, error: BaseException | None) -> Exception | None:
        if isinstance(error, KilledWorker):
            return NotExamined("every worker that tried to examine it has died")
        if isinstance(error, ImportError):
            text = "workers cannot load the autograder: start them with the same .venv"
            raise LabError(f"{text} ({error})") from error
        return NotExamined(repr(error)) if not isinstance(error, Exception | None) else error
