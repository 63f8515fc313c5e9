"""A Dask cluster of separate processes: a worker is killed, another one refused, all are graded."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread

import pytest
from distributed import Client, LocalCluster

from autograder.classroom.grade import Order
from autograder.classroom.home import Home
from autograder.classroom.pool import NotExamined
from autograder.cli import main
from autograder.cluster import dask_worker, on_dask
from autograder.cluster.on_dask import Dask
from autograder.cluster.work import Refused
from lab_utils.kit.errors import LabError
from tests.support.one_machine_cluster import until
from tests.support.small_class import (
    EXAMINED,
    LAB,
    WANTED,
    arguments,
    hand_in,
    no_sandbox_here,
    totals,
    written,
)

pytestmark = pytest.mark.xdist_group("cluster")


@contextmanager
def process(folder: Path, module: str, *options: str, **environment: str) -> Iterator[int]:
    """A program of Dask; its number."""
    command = [sys.executable, "-m", f"distributed.cli.{module}", *options]
    with Path(folder, f"{module}.log").open("ab") as log:
        run = subprocess.Popen(
            command, cwd=folder, stdout=log, stderr=log, env={**os.environ, **environment}
        )
    try:
        yield run.pid
    finally:
        run.kill()
        run.wait()


@contextmanager
def scheduler(folder: Path) -> Iterator[Path]:
    """A scheduler of Dask; the file that says where it is."""
    file = folder / "scheduler.json"
    where = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    with process(folder, "dask_scheduler", *where, "--scheduler-file", str(file)):
        until(lambda: file.exists() and bool(file.read_text().strip()), "Dask's scheduler", folder)
        yield file


def worker(folder: Path, name: str, **environment: str) -> ExitStack:
    """A worker of its own; it is killed when the stack is closed."""
    stack = ExitStack()
    where = ("--scheduler-file", str(folder / "scheduler.json"), "--name", name)
    about = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
    stack.enter_context(process(folder, "dask_worker", *where, *about, **environment))
    return stack


def old_numpy(folder: Path) -> str:
    """A folder for PYTHONPATH in which another version of numpy seems to be installed."""
    about = folder / "older" / "numpy-1.0.dist-info" / "METADATA"
    about.parent.mkdir(parents=True)
    about.write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.0\n")
    return str(about.parents[1])


class Trouble(Thread):
    """Kills a worker in the middle of its work."""

    def __init__(self, home: Path, file: Path, victim: ExitStack) -> None:
        super().__init__(daemon=True)
        self._home, self._file, self._victim = home, file, victim
        self.before: dict[str, int] = {}
        self.was_busy = False

    def run(self) -> None:
        until(lambda: len(written(self._home)) >= 2, "two verdicts")
        with Client(scheduler_file=str(self._file), set_as_default=False) as client:
            until(lambda: "victim" in self._busy(client), "a worker that is at work")
            self.before = written(self._home)
            self._victim.close()

    def _busy(self, client: Client) -> list[str]:
        names = {
            at: about["name"]
            for at, about in client.scheduler_info(n_workers=-1)["workers"].items()
        }
        return [names[at] for at, tasks in client.processing().items() if tasks and at in names]


@pytest.mark.slow
def test_a_class_is_graded_though_a_worker_dies_and_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, home = hand_in(tmp_path / "in"), tmp_path / "home"
    with ExitStack() as stack:
        file = stack.enter_context(scheduler(tmp_path))
        victim = stack.enter_context(worker(tmp_path, "victim"))
        stack.enter_context(worker(tmp_path, "other"))
        stack.enter_context(worker(tmp_path, "older", PYTHONPATH=old_numpy(tmp_path)))
        trouble = Trouble(home, file, victim)
        trouble.start()
        command = ["grade", *arguments(source, home), "--engine", "dask"]
        with no_sandbox_here():
            code = main([*command, "--scheduler", str(file)])
        told = capsys.readouterr().out
        assert code == 0, told
        trouble.join()
    assert totals(home) == WANTED
    assert "refused: numpy is 1.0 here" in told.replace("\n", " ")
    assert "not encrypted" in told
    assert 0 < len(trouble.before) < len(EXAMINED)
    assert {name: written(home)[name] for name in trouble.before} == trouble.before


@pytest.mark.parametrize(
    ("workers", "error", "words"),
    [
        (1, Refused, "no worker may examine it: torch is old"),
        (0, LabError, "there has been no worker for 1 s; start some"),
    ],
)
def test_if_nobody_may_or_can_examine_this_is_the_end_with_a_reason(
    workers: int,
    error: type[Exception],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise Refused("torch is old")

    def start(_private: Path) -> Client:
        about = {"n_workers": workers, "processes": False, "dashboard_address": None}
        return Client(LocalCluster(**about), set_as_default=False)

    monkeypatch.setattr(dask_worker, "must_not_differ", refuse)
    for name, seconds in {"LOOK": 0.2, "GRACE": 0.5, "PATIENCE": 1.0}.items():
        monkeypatch.setattr(on_dask, name, seconds)
    order = Order(LAB, tmp_path, Home(tmp_path / "home"))
    with pytest.raises(error, match=words):
        list(Dask(order, start, print).each(EXAMINED))


def test_a_scheduler_that_is_not_there_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import dask

    start = on_dask.cluster("tcp://127.0.0.1:9", None)
    quick = dask.config.set({"distributed.comm.timeouts.connect": "1s"})
    with quick, pytest.raises(LabError, match="no scheduler of Dask answers at tcp://"):
        start(tmp_path)
    with pytest.raises(LabError, match="NowhereCluster is no cluster of dask-jobqueue"):
        on_dask.cluster("NowhereCluster", None)(tmp_path)


def test_a_cluster_that_its_settings_do_not_describe_is_told(tmp_path: Path) -> None:
    import dask

    nothing = dask.config.set({"jobqueue.slurm.cores": None, "jobqueue.slurm.memory": None})
    with nothing, pytest.raises(LabError, match=r"SLURMCluster does not start: .*jobqueue.yaml"):
        on_dask.cluster("SLURMCluster", None)(tmp_path)


def test_nobody_counts_as_examined_once_the_scheduler_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = Order(LAB, tmp_path, Home(tmp_path / "home"))
    with ExitStack() as running:
        file = running.enter_context(scheduler(tmp_path))
        monkeypatch.setattr(on_dask, "LOOK", 0.2)
        monkeypatch.setattr(Dask, "_look_around", lambda *_: running.close())
        with pytest.raises(LabError, match="scheduler of Dask has gone.* same command goes on"):
            list(Dask(order, on_dask.cluster(str(file), None), print).each(EXAMINED))
    log = logging.getLogger("distributed.client")
    assert not log.isEnabledFor(logging.ERROR), "a line of ours is enough"


def test_a_verdict_that_does_not_arrive_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Elsewhere:
        def examine(self, *_: object) -> None:
            """It writes into a folder of the same name, on a disk of its own."""

    def start(_private: Path) -> Client:
        about = {"n_workers": 1, "processes": False, "dashboard_address": None}
        return Client(LocalCluster(**about), set_as_default=False)

    monkeypatch.setattr(dask_worker, "_station", lambda *_: Elsewhere())
    monkeypatch.setattr(on_dask, "LAG", 0.0)
    order = Order(LAB, tmp_path, Home(tmp_path / "home"))
    found = dict(Dask(order, start, print).each(EXAMINED))
    assert sorted(found) == EXAMINED
    for error in found.values():
        assert isinstance(error, NotExamined)
        assert "do workers and coordinator share this folder" in str(error)


def test_workers_are_not_asked_of_a_cluster_that_somebody_else_started() -> None:
    with pytest.raises(LabError, match="whoever started the cluster at tcp://node1:8786 starts"):
        on_dask.cluster("tcp://node1:8786", 4)
