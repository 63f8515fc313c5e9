"""Namespaces: what a group of processes sees of the machine.

The stem lives in a *house*: a file system with nothing in it but what notebooks need, and no
network. bubblewrap builds it, or ``enter_house`` does. A warm process chooses its kit there with
``take_kit``, and sees no other. For each run of a notebook ``enter_room`` adds a room of its own:
fresh processes, shared memory and temporary files.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from . import kernel

#: Where student code works inside a house.
HOME = "/home/student"
LAB = f"{HOME}/lab"
#: Who student code is inside a user namespace. Not 0: the kernel gives more to that user.
INSIDE_ID = 1000

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"}
#: How flags that statvfs tells are called by mount; a remount must not lose them.
_LASTING = {2: 2, 4: 4, 8: 8, 1024: 1024, 2048: 2048, 4096: 1 << 21}

Plan = Sequence[Sequence[str]]
"""Steps that furnish a house: ``["bind", source, target]``, ``["link", text, path]``,
``["empty", path]``."""


def enter_house(plan: Plan, site: str) -> None:
    """Go on in a house of one's own, built on the empty folder ``site``.

    Returns in a new process; this one only waits for its end.

    Raises:
        OSError: the machine does not allow it; the text names the step.
    """
    uid, gid = os.geteuid(), os.getegid()
    spaces = kernel.NEW_MOUNTS | kernel.NEW_PIDS | kernel.NEW_IPC | kernel.NEW_NAMES
    spaces |= kernel.NEW_NETWORK | (kernel.NEW_USERS if uid else 0)
    kernel.call("unshare", spaces)
    if uid:
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{INSIDE_ID} {uid} 1")
        _write("/proc/self/gid_map", f"{INSIDE_ID} {gid} 1")
    _go_on_in_child()
    kernel.prctl(kernel.SET_DEATH_SIGNAL, 9)
    kernel.mount("none", "/", flags=kernel.RECURSIVE | kernel.PRIVATE)
    kernel.mount("tmpfs", site, "tmpfs", kernel.NO_SUID, "mode=755")
    _furnish(Path(site), plan)
    os.chdir(site)
    kernel.call_by_number("pivot_root", b".", b".")
    kernel.call("umount2", b".", kernel.DETACH)
    os.chdir("/")
    _make_read_only("/")


def _furnish(root: Path, plan: Plan) -> None:
    for kind, *where in plan:
        target = root / where[-1].lstrip("/")
        if kind == "link":
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(where[0])
        elif kind == "empty":
            target.mkdir(parents=True, exist_ok=True)
            kernel.mount("tmpfs", str(target), "tmpfs", kernel.NO_SUID, "mode=755")
        else:
            _bind(where[0], target)
            _make_read_only(str(target))
    for folder in ("proc", "dev", HOME):
        (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
    kernel.mount("proc", str(root / "proc"), "proc", _SAFE)
    kernel.mount("tmpfs", str(root / "dev"), "tmpfs", kernel.NO_SUID, "mode=755")
    for folder in ("dev/pts", "dev/shm"):
        (root / folder).mkdir()
    for name in _DEVICES:
        _bind(f"/dev/{name}", root / "dev" / name)
    options = "newinstance,ptmxmode=0666,mode=620"
    kernel.mount("devpts", str(root / "dev/pts"), "devpts", kernel.NO_SUID, options)
    for name, text in {**_LINKS, "ptmx": "pts/ptmx"}.items():
        (root / "dev" / name).symlink_to(text)


_SAFE = kernel.NO_SUID | kernel.NO_DEVICES | kernel.NO_EXEC


def _bind(source: str, target: Path) -> None:
    if os.path.isdir(source):
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    kernel.mount(source, str(target), flags=kernel.BIND | kernel.RECURSIVE)


def _make_read_only(path: str) -> None:
    told = os.statvfs(path).f_flag
    kept = sum(flag for bit, flag in _LASTING.items() if told & bit)
    kernel.mount("none", path, flags=kernel.REMOUNT | kernel.BIND | kernel.READ_ONLY | kept)


def take_kit(kit: str, place: str, kits: str) -> None:
    """Go on with ``kit`` at ``place``; all of ``kits`` is out of reach then, for all that comes.

    Raises:
        OSError: the machine does not allow it; the text names the step.
    """
    kernel.call("unshare", kernel.NEW_MOUNTS)
    kernel.mount(kit, place, flags=kernel.BIND)
    _make_read_only(place)
    kernel.mount("tmpfs", kits, "tmpfs", _SAFE | kernel.READ_ONLY, "size=4096,mode=755")


def fork_apart() -> int:
    """Fork; the child is the first process of a namespace that is new, or can be: ``enter_room``.

    A warm process has much memory, and each fork of it takes long: so there is one, and no
    process between the two, wherever the parent may come back from where its child is born.

    Raises:
        OSError: the machine does not allow it.
    """
    own = os.open("/proc/self/ns/pid", os.O_RDONLY)
    try:
        try:
            kernel.call("setns", own, kernel.NEW_PIDS)  # we are there: it tells whether we may
        except OSError:
            return os.fork()
        return _born_apart(own)
    finally:
        os.close(own)


def _born_apart(own: int) -> int:
    child = -1
    try:
        kernel.call("unshare", kernel.NEW_PIDS)
        child = os.fork()
    finally:
        if child:
            kernel.call("setns", own, kernel.NEW_PIDS)
    return child


def enter_room(disk_bytes: int, disk_files: int) -> int:
    """Go on as the first process of a room: nothing of earlier ones is in it.

    It was born as such by ``fork_apart``; else this returns in a new process, and this one only
    waits for its end. The room's scratch folder, temporary files and shared memory are one small
    file system in memory, its network is itself. In it /proc can only be read: so nobody can
    change how soon it goes when memory runs out. What is returned is a descriptor of /proc as it
    was, for who must set that.

    Raises:
        OSError: the machine does not allow it; the text names the step.
    """
    is_first = os.getpid() == 1
    spaces = kernel.NEW_MOUNTS | kernel.NEW_IPC | kernel.NEW_NETWORK
    kernel.call("unshare", spaces if is_first else spaces | kernel.NEW_PIDS)
    if not is_first:
        _go_on_in_child()
        kernel.prctl(kernel.SET_DEATH_SIGNAL, 9)
    kernel.mount("proc", "/proc", "proc", _SAFE)
    _furnish_network()
    processes = os.open("/proc", os.O_RDONLY | os.O_DIRECTORY)
    kernel.mount("/proc", "/proc", flags=kernel.BIND)
    size = f"size={disk_bytes},nr_inodes={disk_files},mode=755"
    kernel.mount("tmpfs", HOME, "tmpfs", kernel.NO_SUID | kernel.NO_DEVICES, size)
    for name, target in (("tmp", os.environ["TMPDIR"]), ("shm", "/dev/shm"), ("lab", None)):
        folder = os.path.join(HOME, name)
        os.mkdir(folder)
        os.chmod(folder, 0o777)
        if target:
            kernel.mount(folder, target, flags=kernel.BIND)
    # A folder that is a mount cannot be deleted by the code that works in it, and can be
    # written to while the one around it cannot.
    kernel.mount(LAB, LAB, flags=kernel.BIND)
    for path in (HOME, "/dev", "/proc"):
        _make_read_only(path)
    return processes


def _furnish_network() -> None:
    """Let a room talk with itself, with small buffers, as far as this is allowed."""
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        fcntl.ioctl(line, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    for name in ("tcp_rmem", "tcp_wmem"):
        with suppress(OSError):
            _write(f"/proc/sys/net/ipv4/{name}", f"4096 65536 {SOCKET_BYTES // 2}")


SOCKET_BYTES = 425_984
"""What lies in the buffers of a socket at most: twice what Linux allows if nobody asks for more."""
_SET_FLAGS, _UP = 0x8914, 0x41


def own(folders: Iterable[str], uid: int) -> None:
    """Give folders to a user."""
    for folder in folders:
        os.chown(folder, uid, uid)


def become(uid: int, student: int) -> None:
    """Give up all special rights. As root: go on as a user who owns nothing.

    If student code will run as another one, this process can still start it, end it, and see
    its files with its eyes.
    """
    kept: list[int] = []
    if uid and os.geteuid() == 0:
        if student != uid:
            kept = [
                kernel.RIGHT_TO_KILL,
                kernel.RIGHT_TO_CHANGE_GROUP,
                kernel.RIGHT_TO_CHANGE_USER,
            ]
            kernel.prctl(kernel.KEEP_RIGHTS, 1)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    kernel.drop_capabilities(kept)
    if kept:
        kernel.call("setfsgid", student)
        kernel.call("setfsuid", student)


def become_student(uid: int) -> None:
    """Go on as student code does: with no special right, and as that user if we are another."""
    if uid and os.geteuid() != uid:
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        kernel.drop_capabilities()


def _go_on_in_child() -> None:
    """Fork; a process namespace begins with the child. The parent stays to wait for it."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0xFF)


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)
