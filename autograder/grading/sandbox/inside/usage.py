"""What processes are there, and how much time, memory and disk they take."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")


class Process(NamedTuple):
    """A process when it was looked at."""

    state: str
    """A letter, as in ``ps``; of its first thread."""
    parent: int
    cpu: float
    """Seconds of the processor: its own, and those of children that it has waited for."""
    threads: int


def look() -> dict[int, Process]:
    """Every process that can be seen; parents before their children, as they have lower numbers."""
    seen = {pid: _process(f"/proc/{pid}/stat") for pid in processes()}
    return {pid: process for pid, process in seen.items() if process}


def _process(path: str) -> Process | None:
    try:
        # Without the layers of ``open``: this is done at every step of a notebook.
        file = os.open(path, os.O_RDONLY)
        try:
            told = os.read(file, 4096)
        finally:
            os.close(file)
        state, parent, *rest = told.rpartition(b")")[2].split()
        cpu = sum(map(int, rest[9:13])) / _TICKS
        return Process(state.decode(), int(parent), cpu, int(rest[15]))
    except (OSError, ValueError, IndexError):  # it has ended
        return None


def has_work(seen: Mapping[int, Process]) -> bool:
    """Whether a thread of these processes runs, or would if there were a processor or a disk."""
    return any(state in "RD" for pid, one in seen.items() for state in _states(pid, one))


def _states(pid: int, process: Process) -> list[str]:
    if process.threads == 1:
        return [process.state]
    threads = map(_process, _threads(pid))
    return [thread.state for thread in threads if thread]


def _threads(pid: int) -> list[str]:
    try:
        return [f"/proc/{pid}/task/{thread}/stat" for thread in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def of_ended_children() -> float:
    """Seconds of the processor that children of this process took which are no more."""
    told = os.times()
    return told.children_user + told.children_system


def resident(pids: Iterable[int]) -> int:
    """Bytes of memory of these processes; pages that they share count for each of them."""
    return sum(map(_resident, pids))


def proportional(pids: Iterable[int]) -> int:
    """The same with shared pages counted once. Takes milliseconds for each process."""
    return in_parts(pids)[0]


def in_parts(pids: Iterable[int]) -> tuple[int, int]:
    """The same, and how much of it is memory that was made to be shared."""
    parts = [_proportional(pid) for pid in pids]
    return sum(whole for whole, _ in parts), sum(shared for _, shared in parts)


def shared_memory() -> int:
    """Bytes of shared memory and of files in memory, of the whole machine."""
    return _number_in("/proc/meminfo", "Shmem:", 1) * 1024


def sockets() -> int:
    """How many there are in this network namespace, also those on their way between processes."""
    return _number_in("/proc/net/sockstat", "sockets:", 2)


def filled(folder: str) -> int:
    """Bytes in the file system of ``folder``."""
    told = os.statvfs(folder)
    return (told.f_blocks - told.f_bfree) * told.f_frsize


def nameless(pids: Iterable[int]) -> set[str]:
    """The inodes of shared memory that has no file and that these processes have mapped.

    As long as a page of it is mapped, all of it stays, however much has been unmapped since.
    """
    found = set()
    for pid in pids:
        try:
            with open(f"/proc/{pid}/maps", errors="replace") as file:
                found |= {row.split()[4] for row in file if _NAMELESS in row}
        except OSError:
            continue
    return found


_NAMELESS = "/dev/zero (deleted)"


def _number_in(path: str, start: str, field: int) -> int:
    try:
        with open(path) as file:
            return next(int(row.split()[field]) for row in file if row.startswith(start))
    except (OSError, StopIteration):
        return 0


def mapped() -> int:
    """Bytes of address space of this process; a PyTorch for GPUs takes several GB unused."""
    return _pages("self", 0)


def tasks_of_user(uid: int) -> int:
    """Processes and threads of a user, as far as they can be seen."""
    count = 0
    for entry in processes():
        try:
            if os.stat(f"/proc/{entry}").st_uid == uid:
                count += len(os.listdir(f"/proc/{entry}/task"))
        except OSError:
            continue
    return count


def processes() -> list[int]:
    """All that can be seen, in order; none where there is no /proc."""
    try:
        return sorted(int(entry) for entry in os.listdir("/proc") if entry.isdigit())
    except OSError:
        return []


def is_overfull(folder: str, most_bytes: int, most_entries: int) -> bool:
    """Whether a folder holds too much; student code may change it meanwhile."""
    held = entries = 0
    try:
        for _, folders, names, handle in os.fwalk(folder, follow_symlinks=False):
            entries += len(folders) + len(names)
            for name in names:
                try:
                    held += os.stat(name, dir_fd=handle, follow_symlinks=False).st_blocks * 512
                except OSError:
                    continue
            if held > most_bytes or entries > most_entries:
                return True
    except FileNotFoundError:
        return False
    except (OSError, RecursionError):  # nested beyond all sense
        return True
    return False


def _resident(pid: int) -> int:
    return _pages(str(pid), 1)


def _pages(pid: str, field: int) -> int:
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[field]) * resource.getpagesize()
    except (OSError, ValueError, IndexError):
        return 0


def _proportional(pid: int) -> tuple[int, int]:
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            told = {row.split()[0]: int(row.split()[1]) * 1024 for row in file if row[0] == "P"}
        return told["Pss:"], told.get("Pss_Shmem:", 0)
    except (OSError, KeyError):
        return _resident(pid), 0
