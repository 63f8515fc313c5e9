"""One run at a time in a folder: a gradebook has one writer.

A lock of the operating system (``flock``) ends with its process, however that ends, and on NFS
it holds between machines. Where the file system has no locks, a file stands for one: its owner
touches it every few seconds, and one whose owner is no more, or has not touched it for minutes,
holds nobody up.
"""

from __future__ import annotations

import errno
import getpass
import json
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from lab_utils.kit.errors import LabError

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

LOCK, STAND_IN = ".lock", ".lock-held"
TOUCHED, STALE = 20.0, 300.0
"""Every so many seconds a stand-in is touched; one that was not for so long is nobody's."""
_HAS_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}


class Busy(LabError):
    """Another run is at work in the folder."""


@dataclass(frozen=True)
class Owner:
    """A process, for people to find, and for us to see whether it is there still."""

    pid: int
    host: str
    user: str
    since: str
    started: str = ""
    """When the process began, in words of the kernel: numbers of processes are used again."""

    @classmethod
    def me(cls) -> Owner:
        """This process."""
        try:
            user = getpass.getuser()
        except (OSError, KeyError):
            user = str(os.getuid()) if hasattr(os, "getuid") else "?"
        since = datetime.now().astimezone().isoformat(" ", "seconds")
        return cls(os.getpid(), socket.gethostname(), user, since, _started(os.getpid()))

    def is_gone(self) -> bool:
        """Whether it is known to have ended; of other machines nothing is known."""
        if self.host != socket.gethostname():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except OSError:
            pass  # somebody else's
        return bool(self.started) and _started(self.pid) != self.started

    def __str__(self) -> str:
        return f"process {self.pid} of {self.user} on {self.host}, since {self.since}"


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """While it is entered, nobody else enters it for this folder, which is made if need be.

    Raises:
        Busy: somebody has entered it; the message says who, and what to do.
    """
    folder.mkdir(parents=True, exist_ok=True)
    file = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        if _locked(file, folder):
            with _noted(file):
                yield
        else:
            with _stand_in(folder):
                yield
    finally:
        os.close(file)  # which ends the lock


def _locked(file: int, folder: Path) -> bool:
    """Whether there is a lock now; not if the file system has none."""
    if fcntl is None:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HAS_NO_LOCKS:
            return False
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES):
            raise
        raise _busy(folder, _owner(_read(file)), "wait for it, or end it") from None
    return True


@contextmanager
def _noted(file: int) -> Iterator[None]:
    """Write into the locked file who we are; what somebody left there who was killed is over."""
    os.ftruncate(file, 0)
    os.pwrite(file, json.dumps(asdict(Owner.me())).encode(), 0)
    try:
        yield
    finally:
        with suppress(OSError):
            os.ftruncate(file, 0)


@contextmanager
def _stand_in(folder: Path) -> Iterator[None]:
    path = folder / STAND_IN
    mine = json.dumps(asdict(Owner.me())).encode()
    for _ in range(5):
        try:
            file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            _remove_if_left(path, folder)
            continue
        with open(file, "wb") as written:
            written.write(mine)
        break
    else:
        raise _busy(folder, None, "try again")
    done = threading.Event()
    touching = threading.Thread(target=_touch, args=(path, done), daemon=True)
    touching.start()
    try:
        yield
    finally:
        done.set()
        touching.join()
        with suppress(OSError):
            if path.read_bytes() == mine:
                path.unlink()


def _touch(path: Path, done: threading.Event) -> None:
    while not done.wait(TOUCHED):
        with suppress(OSError):
            os.utime(path)


def _remove_if_left(path: Path, folder: Path) -> None:
    """Remove a stand-in whose owner is no more.

    Raises:
        Busy: its owner may be there still.
    """
    try:
        content, touched = path.read_bytes(), path.stat().st_mtime
    except FileNotFoundError:
        return
    owner = _owner(content)
    if not (owner and owner.is_gone()) and _now(folder) - touched < STALE:
        advice = f"wait for it, or end it; if there is no such process, delete {path}"
        raise _busy(folder, owner, advice)
    # Away first: somebody who came to the same conclusion may have put a new one there.
    aside = path.with_name(f"{path.name}.{os.urandom(4).hex()}")
    with suppress(FileNotFoundError):
        path.rename(aside)
        if aside.read_bytes() != content:
            with suppress(FileExistsError):
                os.link(aside, path)
        aside.unlink()


def _now(folder: Path) -> float:
    """The time by the clock of the file system, which may be another machine's."""
    probe = folder / f"{STAND_IN}.{os.urandom(4).hex()}"
    probe.touch()
    try:
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)


def _started(pid: int) -> str:
    """When a process began; empty where the kernel does not tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def _read(file: int) -> bytes:
    with suppress(OSError):
        return os.pread(file, 4096, 0)
    return b""


def _owner(content: bytes) -> Owner | None:
    try:
        return Owner(**json.loads(content))
    except (ValueError, TypeError):
        return None


def _busy(folder: Path, owner: Owner | None, advice: str) -> Busy:
    who = str(owner or "another process")
    return Busy(f"somebody is grading into {folder.parent} already: {who}; {advice}")
