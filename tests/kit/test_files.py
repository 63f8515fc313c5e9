"""Files are written whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab_utils.kit.files import write_whole


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.parametrize(("content", "read"), [("aé\n", "aé\n".encode()), (b"\0\r\n", b"\0\r\n")])
def test_a_file_is_written_as_it_is(
    tmp_path: Path, umask: None, content: str | bytes, read: bytes
) -> None:
    path = tmp_path / "file"
    write_whole(path, content)
    assert path.read_bytes() == read
    assert stat.S_IMODE(path.stat().st_mode) == 0o640, "as any new file"
    write_whole(path, b"newer", mode=0o604)
    assert path.read_bytes() == b"newer"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604
    assert list(tmp_path.iterdir()) == [path]


def test_a_long_name_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 255)
    write_whole(path, "text")
    assert path.read_text() == "text"


@pytest.mark.parametrize("broken", ["os.fsync", "os.replace"])
def test_what_fails_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    path = tmp_path / "file"
    write_whole(path, "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", str(tmp_path / ".unfinished"))

    monkeypatch.setattr(broken, full)
    with pytest.raises(OSError, match=r"No space left on device: '.*/file'"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
