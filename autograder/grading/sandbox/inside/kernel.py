"""System calls that Python 3.11 does not offer. Linux only."""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

NEW_MOUNTS, NEW_PIDS, NEW_IPC = 0x20000, 0x20000000, 0x08000000
NEW_NAMES, NEW_NETWORK, NEW_USERS = 0x04000000, 0x40000000, 0x10000000

READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC = 1, 2, 4, 8
REMOUNT, BIND, RECURSIVE, PRIVATE = 32, 4096, 16384, 1 << 18
DETACH = 2

SET_DEATH_SIGNAL, SET_DUMPABLE, KEEP_RIGHTS, DROP_BOUND, SET_SUBREAPER = 1, 4, 8, 24, 36
SET_SECCOMP, NO_NEW_PRIVILEGES, AMBIENT = 22, 38, 47

_libc = ctypes.CDLL(None, use_errno=True)

#: Numbers of the calls that we make by number, or forbid, on the two machines we know.
_NUMBERS: dict[str, tuple[int, int]] = {  # x86_64, aarch64
    "pivot_root": (155, 41),
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_open": (434, 434),
    "pidfd_send_signal": (424, 424),
    "pidfd_getfd": (438, 438),
    "prlimit64": (302, 261),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "setsockopt": (54, 208),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "vmsplice": (278, 75),
    "setpriority": (141, 140),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setattr": (314, 274),
    "sched_setaffinity": (203, 122),
    "ioprio_set": (251, 30),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "clone": (56, 220),
    "clone3": (435, 435),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "open_by_handle_at": (304, 265),
}
_MACHINES = {"x86_64": 0, "aarch64": 1}


def number_of(name: str) -> int | None:
    """The number of a system call on this machine; None on a machine that we do not know."""
    column = _MACHINES.get(platform.machine())
    return None if column is None else _NUMBERS[name][column]


def call(name: str, *arguments: Any) -> int:
    """Call a function of the C library by its name.

    Raises:
        OSError: it failed; the text names the function.
    """
    return _checked(name, getattr(_libc, name)(*arguments))


def call_by_number(name: str, *arguments: Any) -> int:
    """Make a system call that the C library does not wrap.

    Raises:
        OSError: it failed, or its number on this machine is not known.
    """
    number = number_of(name)
    if number is None:
        raise OSError(38, f"{name}: not known on {platform.machine()}")
    return _checked(name, _libc.syscall(ctypes.c_long(number), *arguments))


def _checked(name: str, result: int) -> int:
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def prctl(option: int, *values: int) -> None:
    """Set a property of this process."""
    padded = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    call("prctl", ctypes.c_int(option), *padded)


def mount(source: str, target: str, kind: str = "", flags: int = 0, data: str = "") -> None:
    """Mount ``source`` at ``target``; the error names the target."""
    try:
        call(
            "mount",
            source.encode(),
            target.encode(),
            kind.encode() or None,
            ctypes.c_ulong(flags),
            data.encode() or None,
        )
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} ({target})") from None


#: Special rights: to signal anybody, and to become somebody else.
RIGHT_TO_KILL, RIGHT_TO_CHANGE_GROUP, RIGHT_TO_CHANGE_USER = 5, 6, 7


def drop_capabilities(kept: Iterable[int] = ()) -> None:
    """Give up every special right of this process but those ``kept``, for good.

    What it executes from now on has none at all.
    """
    prctl(NO_NEW_PRIVILEGES, 1)
    for capability in range(64):
        try:
            prctl(DROP_BOUND, capability)
        except OSError:  # beyond the last one, or not ours to drop: then exec adds none either
            break
    with suppress(OSError):  # before Linux 4.3 there are none
        prctl(AMBIENT, 4)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    mask = sum(1 << right for right in kept)
    call("capset", header, (ctypes.c_uint32 * 6)(mask, mask, 0, 0, 0, 0))
