"""Collect, examine slice by slice, report: whoever examines, and however often it is cut off."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.classroom.home import Home
from autograder.cli import main
from autograder.cluster import examine as worker
from autograder.cluster.examine import refusals
from autograder.cluster.work import Work, sliced, versions, work_file
from autograder.grading.plan import read_plan
from autograder.grading.sandbox import NotIsolated
from lab_utils.kit.root import ROOT
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


def collected(folder: Path) -> Path:
    """The home of a class that was collected, and not examined."""
    with no_sandbox_here():
        assert main(["collect", *arguments(hand_in(folder / "in"), folder / "home")]) == 0
    return folder / "home"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same for all tests that examine nothing."""
    return collected(tmp_path_factory.mktemp("phases"))


@pytest.fixture
def work(home: Path) -> Iterator[Path]:
    """What is to be examined, as it was noted; a test may change it."""
    path = work_file(Home(home), LAB)
    before = path.read_text()
    yield path
    path.write_text(before)


def examine(home: Path, share: str = "1/1") -> int:
    return main(["examine", LAB, "--into", str(home), "--slice", share, "--jobs", "2"])


@given(st.sets(st.text(min_size=1), max_size=60), st.integers(1, 30), st.integers(1, 30))
def test_slices_are_everybody_once(students: set[str], size: int, most: int) -> None:
    count = sliced(sorted(students), size, most)
    work = Work(LAB, dict.fromkeys(students, ""), "", {}, "")
    shares = [work.share(number, count) for number in range(1, count + 1)]
    assert sorted(name for share in shares for name in share) == sorted(students)
    assert count <= most
    assert max(map(len, shares)) <= size or count == most


def test_what_is_to_be_examined_is_noted(work: Path) -> None:
    assert sorted(Work.read(work).students) == EXAMINED
    assert work.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rules": "other"}, "another version than where the class was collected"),
        ({"versions": {"numpy": "1.0"}}, "and 1.0 where the class was collected"),
        ({"versions": {"a_library": "2.0"}}, "a_library is not installed here"),
    ],
)
def test_another_machine_is_refused_with_a_clear_word(
    change: dict[str, object],
    words: str,
    home: Path,
    work: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    work.write_text(json.dumps(json.loads(work.read_text()) | change))
    with no_sandbox_here():
        assert examine(home) == 2
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1
    assert [words in why for why in refusals(work).values()] == [True]
    assert not written(home)


def test_a_machine_with_less_isolation_than_asked_is_refused(
    home: Path, work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def start(*_: object) -> None:
        raise NotIsolated("isolation full was asked for; there is no bwrap")

    monkeypatch.setattr("autograder.grading.grader.Grader.__enter__", start)
    assert examine(home) == 2
    assert "there is no bwrap (on" in capsys.readouterr().err
    assert "there is no bwrap" in "".join(refusals(work).values())
    assert not written(home)


def test_a_hand_in_that_looks_different_is_not_examined(
    home: Path, work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Work(**{**vars(Work.read(work)), "students": {"aturing": "other"}}).write(work)
    with no_sandbox_here():
        assert examine(home) == 1
    assert "what aturing handed in looks different on" in capsys.readouterr().out
    assert not written(home)


def test_nothing_collected_is_a_users_mistake(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in ("examine", "report"):
        assert main([command, LAB, "--into", str(tmp_path)]) == 2
        assert "python -m autograder collect writes it" in capsys.readouterr().err


@pytest.mark.slow
def test_slices_come_together_in_the_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = collected(tmp_path)
    work = work_file(Home(home), LAB)
    capsys.readouterr()
    assert examine(home, "2/2") == 0
    first = written(home)
    assert sorted(first) == EXAMINED[1::2]
    with no_sandbox_here():
        assert main(["report", LAB, "--into", str(home)]) == 1
        assert f"{len(EXAMINED[0::2])} not examined yet" in capsys.readouterr().out
        half = {name: WANTED[name] if name in first else None for name in WANTED}
        assert totals(home) == half
        assert examine(home, "2/2") == 0  # a job that was sent twice
    # A worker that was cut off goes on where it was; what others did is not done again.
    assert examine(home) == 0
    assert {name: written(home)[name] for name in first} == first
    with no_sandbox_here():
        assert main(["report", LAB, "--into", str(home)]) == 0
        assert totals(home) == WANTED
        # Nothing is left: collecting again asks for nobody, unless all are asked for again.
        source = Path(Work.read(work).source)
        assert main(["collect", *arguments(source, home)]) == 0
        assert Work.read(work).students == {}
        assert main(["collect", *arguments(source, home), "--again", "--only", "aturing"]) == 0
        assert list(Work.read(work).students) == ["aturing"]
        assert sorted(written(home)) == [name for name in EXAMINED if name != "aturing"]


def test_versions_are_those_of_what_the_notebooks_load() -> None:
    def of(lab: str) -> dict[str, str]:
        return versions(read_plan(lab, ROOT / "solutions" / lab))

    assert {"Python", "numpy", "pandas"} <= set(of(LAB))
    assert "torch" not in of(LAB)
    torch = of("lab4a")["torch"]
    assert torch
    assert "+" not in torch


def test_a_worker_says_which_machine_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    assert worker.node()
    monkeypatch.setenv("SLURMD_NODENAME", "node7")
    assert worker.node() == "node7"
