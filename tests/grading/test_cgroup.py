"""Memory that the kernel counts for a room, where it lets us make a group."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from autograder.grading.sandbox.host import cgroup
from autograder.grading.sandbox.host.cgroup import Place, group, places
from autograder.grading.sandbox.inside.counted import Counted

MB = 1_000_000


def _file(path: Path, text: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_groups_lie_beside_ours_in_the_second_version(tmp_path: Path) -> None:
    _file(tmp_path / "user/cgroup.subtree_control", "cpu memory pids\n")
    (found,) = places(tmp_path, "0::/user/session\n")
    assert found.folder == tmp_path / "user"


@pytest.mark.parametrize(
    "told",
    [
        pytest.param("0::/user/session\n", id="nobody has turned memory on"),
        pytest.param("0::/\n", id="there is nothing beside the root"),
        pytest.param("3:cpu,cpuacct:/\n1:name=systemd:/\n", id="memory is not counted"),
        pytest.param("", id="no groups at all"),
    ],
)
def test_no_place_for_a_group(tmp_path: Path, told: str) -> None:
    _file(tmp_path / "user/cgroup.subtree_control", "cpu pids\n")
    _file(tmp_path / "cgroup.subtree_control", "memory\n")
    assert not list(places(tmp_path, told))


def test_groups_lie_below_ours_in_the_first_version(tmp_path: Path) -> None:
    (found,) = places(tmp_path, "4:memory:/job/7\n0::/\n")
    assert found.folder == tmp_path / "memory/job/7"


def test_where_none_can_be_made_there_is_none(tmp_path: Path) -> None:
    with group(MB, Place(tmp_path / "nowhere", ("memory.max",), "memory.events")) as made:
        assert made is None


@pytest.fixture
def place() -> Place:
    if (found := cgroup._place()) is None:
        pytest.skip("this machine lets us make no control group: run as root, or delegate one")
    return found


def _held(size: int, counted: cgroup.Group) -> tuple[int, bool]:
    """How a process ends that fills ``size`` bytes; and whether its group was too full."""
    child = os.fork()
    if not child:
        try:
            Counted(os.dup(counted.joining), counted.events)
            bytearray(b"x") * size
        finally:
            os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return status, Counted(None, counted.events).was_full()


def test_who_asks_for_too_much_is_ended_by_the_kernel(place: Place) -> None:
    with group(MB, place) as counted:
        assert counted
        assert _held(20 * MB, counted) == (0, False)
        assert _held(400 * MB, counted) == (-signal.SIGKILL, True)


def test_nothing_is_left_of_a_group(place: Place) -> None:
    with group(MB, place) as counted:
        assert counted
        folder = Path(os.readlink(f"/proc/self/fd/{counted.events}")).parent
        assert folder.parent == place.folder
        assert folder.is_dir()
        _held(MB, counted)
    assert not folder.exists()
