"""What processes are there, and how much memory and disk they hold."""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence


def parents() -> dict[int, int]:
    """The parent of every process that can be seen."""
    found = {}
    for entry in processes():
        try:
            with open(f"/proc/{entry}/stat") as file:
                found[entry] = int(file.read().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):  # it has ended
            continue
    return found


def resident(pids: Sequence[int]) -> int:
    """Bytes of memory of these processes; pages that they share count for each of them."""
    return sum(map(_resident, pids))


def proportional(pids: Sequence[int]) -> int:
    """The same with shared pages counted once. Takes milliseconds for each process."""
    return sum(map(_proportional, pids))


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
    """All that can be seen; none where there is no /proc."""
    try:
        return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
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


def _proportional(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return next(int(row.split()[1]) * 1024 for row in file if row.startswith("Pss:"))
    except (OSError, StopIteration):
        return _resident(pid)
