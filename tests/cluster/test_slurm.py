"""A job array of Slurm: jobs end in the middle, nodes refuse, and everybody is graded once."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.classroom.home import Home
from autograder.classroom.pool import NotExamined
from autograder.cli import main
from autograder.cluster import slurm
from autograder.cluster.slurm import TRIES, Array, Slurm
from autograder.cluster.slurm_queue import Queue
from autograder.cluster.work import Refused, Work
from tests.support.one_machine_cluster import slurm_cluster, until
from tests.support.small_class import (
    EXAMINED,
    LAB,
    WANTED,
    arguments,
    hand_in,
    no_sandbox_here,
    order,
    totals,
    verdicts,
    written,
)

pytestmark = pytest.mark.xdist_group("cluster")


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slurm, "POLL", 0.3)
    monkeypatch.setattr(slurm, "LAG", 0.0)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Path]:
    with slurm_cluster() as folder:
        yield folder


class Trouble(Thread):
    """Ends a job in the middle of its slice, as a site does that needs the node."""

    def __init__(self, home: Path, name: str) -> None:
        super().__init__(daemon=True)
        self._home, self._name = home, name
        self.before: dict[str, int] = {}

    def run(self) -> None:
        until(lambda: bool(written(self._home)), "a first verdict")
        listing = ["squeue", "--noheader", f"--name={self._name}", "--states=R", "--format=%i"]
        running = subprocess.run([*listing, "--nodelist=one"], capture_output=True, text=True)
        (task,) = running.stdout.split()
        subprocess.run(["scancel", task], check=True)
        until(lambda: task not in (Queue(self._name).tasks() or {task}), "the end of a job")
        self.before = written(self._home)


@pytest.mark.slow
@pytest.mark.needs_slurm
@pytest.mark.needs_bwrap
def test_a_class_is_graded_though_jobs_end_and_a_node_refuses(
    cluster: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, home = hand_in(tmp_path / "in"), tmp_path / "home"
    examiner = Slurm(order(source, home), Array(), print)
    left_over = examiner._queue.submit("sleep 1000", "1-3", [])  # of a run that was killed
    trouble = Trouble(home, examiner._queue._name)
    trouble.start()
    command = ["grade", *arguments(source, home), "--engine", "slurm", "--slice-size", "4"]
    with no_sandbox_here():
        code = main([*command, "--require-isolation", "full"])
    told = capsys.readouterr().out
    assert code == 0, told
    assert totals(home) == WANTED
    # One node has no bubblewrap: it was refused, and what it had is examined on the other.
    assert "two refused: " in told
    assert {verdict.isolation for verdict in verdicts(home).values()} == {"full"}
    # One job was ended: what it had written is kept, and nothing is examined twice.
    trouble.join()
    assert 0 < len(trouble.before) < len(EXAMINED)
    assert {name: written(home)[name] for name in trouble.before} == trouble.before
    assert Queue(examiner._queue._name).tasks() == set(), left_over
    logs = [path.read_text() for path in (home / "grades" / LAB / "cluster").glob("*.log")]
    ran = Counter(name for log in logs for name in EXAMINED if f": {name} \n" in log)
    assert ran == Counter(EXAMINED)


@pytest.mark.slow
@pytest.mark.needs_slurm
def test_what_slurm_refuses_is_told(
    cluster: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, home = hand_in(tmp_path / "in"), tmp_path / "home"
    command = ["grade", *arguments(source, home), "--engine", "slurm"]
    with no_sandbox_here():
        assert main([*command, "--sbatch", "--partition=nowhere --time=5"]) == 2
    told = capsys.readouterr().err
    assert "sbatch refused the job: " in told
    assert "partition" in told
    assert told.count("\n") == 1


def test_without_slurm_this_is_said_before_anything_is_collected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    command = ["grade", *arguments(tmp_path, tmp_path / "home"), "--engine", "slurm"]
    assert main(command) == 2
    assert "there is no sbatch and no squeue" in capsys.readouterr().err
    assert not (tmp_path / "home").exists()


def test_options_for_sbatch_that_no_shell_can_read_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("autograder.cluster.engines.require_slurm", lambda: None)
    command = ["grade", *arguments(tmp_path, tmp_path / "home"), "--engine", "slurm"]
    assert main([*command, "--sbatch=--comment='for us"]) == 2
    assert "No closing quotation" in capsys.readouterr().err


class Pretended:
    """A cluster that examines by noting a name; some kill the job that they are in."""

    def __init__(self, deadly: set[str], cut_off: list[int], refusing: bool = False) -> None:
        self.kept: set[str] = set()
        self.examined: list[str] = []
        self.sizes: list[int] = []
        self._deadly, self._cut_off, self._refusing = deadly, cut_off, refusing
        self._queued: dict[str, list[str]] = {}
        self._jobs = 0

    def submit(self, script: str, array: str, options: list[str]) -> str:
        self._jobs += 1
        path = Path(script.split("--work ")[1].split()[0])
        count = int(array.removeprefix("1-"))
        for number in range(1, count + 1):
            share = Work.read(path).share(number, count)
            self._queued[f"{self._jobs}_{number}"] = share
            self.sizes.append(len(share))
        if self._refusing:
            from autograder.cluster.examine import note_refusal

            note_refusal(path, "torch is old")
            for number in range(1, count + 1):
                (path.parent / f"{self._jobs}_{number}.log").write_text("error: torch is old")
            self._queued.clear()
        return str(self._jobs)

    def tasks(self, say: object = None) -> set[str]:
        """A look at the queue; meanwhile each job gets on by one, or comes to its end."""
        for task, share in list(self._queued.items()):
            left = [name for name in share if name not in self.kept]
            cut_off = self._cut_off.pop() if self._cut_off else 1
            if not left or left[0] in self._deadly or not cut_off:
                del self._queued[task]
            else:
                self.kept.add(left[0])
                self.examined.append(left[0])
        return set(self._queued)

    def end_all(self) -> None:
        self._queued.clear()

    def sorted_out(self, students: list[str]) -> tuple[list[str], list[str]]:
        return [], list(students)

    def there(self) -> set[str]:
        return self.kept

    def has(self, student: str) -> bool:
        return student in self.kept


def on_pretended(
    pretended: Pretended, folder: Path, students: list[str], size: int
) -> Counter[str]:
    """How often each came, and what was wrong with those who failed, as ``name: words``."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slurm, "POLL", 0.0)
        patch.setattr(slurm, "LAG", 0.0)
        patch.setattr(
            slurm.Work, "of", lambda _, some: Work(LAB, dict.fromkeys(some, ""), "", {}, "")
        )
        examiner = Slurm(order_for(folder), Array(size), lambda *_: None)
        patch.setattr(examiner, "_queue", pretended)
        patch.setattr(examiner, "_kept", pretended)
        found: Counter[str] = Counter()
        for student, error in examiner.each(students):
            assert error is None or isinstance(error, NotExamined)
            found[student if error is None else f"{student}: failed"] += 1
        return found


def order_for(folder: Path) -> slurm.Order:
    return slurm.Order(LAB, folder, Home(folder / "home"))


@settings(max_examples=15)
@given(st.integers(1, 60), st.integers(1, 20), st.data())
def test_one_that_kills_its_jobs_harms_nobody_else(
    tmp_path_factory: pytest.TempPathFactory, count: int, size: int, data: st.DataObject
) -> None:
    students = [f"s{number:02}" for number in range(count)]
    deadly = data.draw(st.sampled_from(students))
    pretended = Pretended({deadly}, [])
    found = on_pretended(pretended, tmp_path_factory.mktemp("one"), students, size)
    healthy = {name: 1 for name in students if name != deadly}
    assert found == Counter({**healthy, f"{deadly}: failed": 1})
    assert Counter(pretended.examined) == Counter(healthy.keys())
    assert max(pretended.sizes) <= size


@settings(max_examples=15)
@given(st.integers(1, 40), st.lists(st.integers(0, 3), max_size=80))
def test_whatever_ends_jobs_everybody_comes_once(
    tmp_path_factory: pytest.TempPathFactory, count: int, cut_off: list[int]
) -> None:
    students = [f"s{number:02}" for number in range(count)]
    pretended = Pretended(set(), cut_off)
    found = on_pretended(pretended, tmp_path_factory.mktemp("any"), students, 10)
    assert sorted(name.partition(":")[0] for name in found.elements()) == students
    assert max(Counter(pretended.examined).values(), default=1) == 1


def test_if_every_node_refuses_this_is_the_end_with_a_reason(tmp_path: Path) -> None:
    pretended = Pretended(set(), [], refusing=True)
    with pytest.raises(Refused, match="torch is old"):
        on_pretended(pretended, tmp_path, EXAMINED, 4)
    assert pretended.sizes == [4, 4] * TRIES
