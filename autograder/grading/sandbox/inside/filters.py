"""What the kernel refuses to student code: system calls (seccomp) and files (Landlock)."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
from collections.abc import Iterable, Sequence

from . import kernel

#: Nobody needs these in a notebook. Key rings and shared memory of this kind outlive a process;
#: the pages in a pipe belong to nobody.
_NEVER = [
    "vmsplice",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "unshare",
    "setns",
    "mount",
    "umount2",
    "pivot_root",
    "add_key",
    "request_key",
    "keyctl",
    "shmget",
    "semget",
    "msgget",
    "mq_open",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "io_uring_setup",
    "open_by_handle_at",
]
#: As if the kernel did not have them: memory that belongs to no process and no file system.
_MISSING = ["clone3", "memfd_create", "memfd_secret"]
#: Nothing happens. On how a notebook shares the machine, and with whom, it has no say.
_PRETENDED = [
    "setpriority",
    "sched_setparam",
    "sched_setscheduler",
    "sched_setattr",
    "sched_setaffinity",
    "ioprio_set",
]
#: Without namespaces these reach other processes of the same user.
_OTHERS = [
    "connect",
    "tkill",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "pidfd_open",
    "pidfd_send_signal",
]
_ITSELF_ONLY = ["kill", "tgkill", "prlimit64"]

_LOAD, _AND, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _REFUSE, _UNKNOWN = 0x7FFF0000, 0x80000000, 0x00050001, 0x00050026
_PRETEND, _NO_SUCH_SOCKET = 0x00050000, 0x00050061
_ARCHITECTURE = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_FOREIGN_CALLS = 0x40000000  # x86_64 has a second set of numbers from here
_NUMBER, _ARCHITECTURE_FIELD, _FIRST_ARGUMENT = 0, 4, 16
_UNIX, _INTERNET, _INTERNET_6, _NETLINK = 1, 2, 10, 16
_STREAM, _DATAGRAMS, _PACKETS = 1, 2, 5
_ROUTES, _TCP, _UDP = 0, 6, 17
_OF_SOCKETS, _BUFFERS, _ZERO_COPY = 1, (7, 8, 32, 33), 60
_TO_OWNER = {"fcntl": (8, 15), "ioctl": (0x8901, 0x8902)}  # whom a descriptor sends signals to

_Step = tuple[int, int, int, int]


def filter_calls(own_namespaces: bool) -> None:
    """Refuse the system calls that are of no use to a notebook, to this process and its children.

    Without namespaces of its own, also network sockets and signals to other processes.

    Raises:
        OSError: the kernel has no such filter; or there are no namespaces either, and we
            do not know this kind of machine.
    """
    architecture = _ARCHITECTURE.get(platform.machine())
    if architecture is None:
        if own_namespaces:  # they do most of the work
            return
        raise OSError(38, f"no system call filter for {platform.machine()}")
    steps: list[_Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE_FIELD),
        (_IF_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_IF_AT_LEAST, 0, 1, _FOREIGN_CALLS),
        (_RETURN, 0, 0, _REFUSE),
        *_refused(_NEVER if own_namespaces else [*_NEVER, *_OTHERS]),
        *_refused(_MISSING, _UNKNOWN),  # for clone3 the C library takes clone: its flags are seen
        *_refused(_PRETENDED, _PRETEND),
        *_only_call("setsockopt", _setting_of_a_socket()),
        *_by_argument("clone", (_IF_ANY_BIT, 0, 1, kernel.NEW_USERS), _REFUSE, _ALLOW),
    ]
    if own_namespaces:
        steps += _only_call("socket", _socket())
    else:
        # A pair is connected. Nothing else can be, but datagrams carry an address of their own.
        kinds = _only(1, (_STREAM, _PACKETS), mask=0xF)
        local = [*_only(0, (_UNIX,)), *kinds, (_RETURN, 0, 0, _ALLOW)]
        steps += [*_only_call("socket", local), *_only_call("socketpair", local)]
        for name, orders in _TO_OWNER.items():
            steps += _only_call(name, _not(1, orders))
        for name in _ITSELF_ONLY:
            mine = 0 if name == "prlimit64" else os.getpid()
            steps += _by_argument(name, (_IF_EQUAL, 0, 1, mine), _ALLOW, _REFUSE)
    steps.append((_RETURN, 0, 0, _ALLOW))
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    text = ctypes.create_string_buffer(code, len(code))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(text)))
    kernel.prctl(kernel.NO_NEW_PRIVILEGES, 1)
    kernel.prctl(kernel.SET_SECCOMP, 2, ctypes.addressof(program))


def _refused(names: Iterable[str], answer: int = _REFUSE) -> list[_Step]:
    numbers = [kernel.number_of(name) or 0 for name in names]
    return [s for n in numbers for s in ((_IF_EQUAL, 0, 1, n), (_RETURN, 0, 0, answer))]


def _only_call(name: str, steps: list[_Step]) -> list[_Step]:
    """Decide about one call by steps that end with a decision."""
    return [(_IF_EQUAL, 0, len(steps), kernel.number_of(name) or 0), *steps]


def _argument(place: int) -> _Step:
    return (_LOAD, 0, 0, _FIRST_ARGUMENT + 8 * place)


def _only(place: int, values: Sequence[int], mask: int = 0) -> list[_Step]:
    """Go on if an argument is one of these."""
    compared = [(_IF_EQUAL, len(values) - n, 0, value) for n, value in enumerate(values)]
    masked = [(_AND, 0, 0, mask)] if mask else []
    return [_argument(place), *masked, *compared, (_RETURN, 0, 0, _NO_SUCH_SOCKET)]


def _not(place: int, values: Sequence[int]) -> list[_Step]:
    """Refuse the call if an argument is one of these."""
    compared = [s for v in values for s in ((_IF_EQUAL, 0, 1, v), (_RETURN, 0, 0, _REFUSE))]
    return [_argument(place), *compared, (_RETURN, 0, 0, _ALLOW)]


def _socket() -> list[_Step]:
    """Local sockets, TCP and UDP; and the list of interfaces, for which the C library asks."""
    allow = (_RETURN, 0, 0, _ALLOW)
    routes = [*_only(2, (_ROUTES,)), allow]
    return [
        *_only(0, (_UNIX, _INTERNET, _INTERNET_6, _NETLINK)),
        (_IF_EQUAL, 0, 1, _UNIX),
        allow,
        (_IF_EQUAL, 0, len(routes), _NETLINK),
        *routes,
        *_only(1, (_STREAM, _DATAGRAMS), mask=0xF),
        *_only(2, (0, _TCP, _UDP)),
        allow,
    ]


def _setting_of_a_socket() -> list[_Step]:
    """Buffers stay as they are: what lies in them belongs to no process."""
    pretended = [s for b in _BUFFERS for s in ((_IF_EQUAL, 0, 1, b), (_RETURN, 0, 0, _PRETEND))]
    return [
        _argument(1),
        (_IF_EQUAL, 1, 0, _OF_SOCKETS),
        (_RETURN, 0, 0, _ALLOW),
        _argument(2),
        *pretended,
        (_IF_EQUAL, 0, 1, _ZERO_COPY),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _by_argument(name: str, test: _Step, if_so: int, otherwise: int) -> list[_Step]:
    """Decide about a call by its first argument."""
    return [
        (_IF_EQUAL, 0, 4, kernel.number_of(name) or 0),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        test,
        (_RETURN, 0, 0, if_so),
        (_RETURN, 0, 0, otherwise),
    ]


_RULE_BENEATH = 1
_EXECUTE, _READ_FILE, _READ_FOLDER = 1, 4, 8
_OF_A_FILE = 1 | 2 | 4 | 1 << 14 | 1 << 15  # the other rights are of folders
_SCOPES = 3  # sockets without a file, and signals
_NETWORK = 3  # to bind and to connect


def has_landlock() -> bool:
    """Whether the kernel can confine a process to some files."""
    return _landlock_version() > 0


def _landlock_version() -> int:
    try:
        return kernel.call_by_number("landlock_create_ruleset", None, ctypes.c_size_t(0), 1)
    except OSError:
        return 0


def confine_files(readable: Sequence[str], writable: Sequence[str]) -> None:
    """Let this process and its children see these files and folders, and no others.

    Raises:
        OSError: the kernel has no Landlock.
    """
    version = _landlock_version()
    every = (1 << (13, 14, 15, 15, 16)[min(version, 5) - 1]) - 1
    rights = struct.pack("=QQQ", every, _NETWORK * (version >= 4), _SCOPES * (version >= 6))
    size = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = kernel.call_by_number(
        "landlock_create_ruleset", ctypes.c_char_p(rights), ctypes.c_size_t(size), 0
    )
    look = _EXECUTE | _READ_FILE | _READ_FOLDER
    for paths, allowed in ((readable, look), (writable, every)):
        for path in paths:
            _allow_beneath(ruleset, path, allowed)
    kernel.prctl(kernel.NO_NEW_PRIVILEGES, 1)
    kernel.call_by_number("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)


def _allow_beneath(ruleset: int, path: str, allowed: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:  # what is not there needs no permission
        return
    try:
        if not os.path.isdir(path):
            allowed &= _OF_A_FILE
        rule = struct.pack("=Qi", allowed, descriptor)
        kernel.call_by_number("landlock_add_rule", ruleset, _RULE_BENEATH, ctypes.c_char_p(rule), 0)
    finally:
        os.close(descriptor)
