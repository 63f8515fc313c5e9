"""Attacks on the executor, each as cells of a notebook, with what must come of it.

A cell prints ``BREACH …`` when it has got what it must not get. ROOT, SECRET, PORT, SOCKET,
DOOR and GRADER in it stand for the repository, a file, three sockets and the process of the
grader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from autograder.grading.sandbox import Trouble


@dataclass(frozen=True)
class Attack:
    """A notebook that misbehaves."""

    name: str
    cell: str
    troubles: frozenset[Trouble] = frozenset()
    """The remarks it must get: exactly these."""
    shows: str = ""
    """What the output of the cell, or its error, must contain."""
    perhaps: frozenset[Trouble] = frozenset()
    """Remarks that it may get instead, or as well, where it depends on how fast the machine is."""
    files: Mapping[str, bytes] = field(default_factory=dict)


def _attack(name: str, cell: str, *troubles: Trouble, shows: str = "", **rest: object) -> Attack:
    return Attack(name, cell.strip("\n"), frozenset(troubles), shows, **rest)  # type: ignore[arg-type]


READING = [
    _attack(
        "reads the repository",
        """
import os, sys
root = "ROOT"
wanted = ["solutions", "autograder/labs/lab4a", "autograder/grading/sandbox", "notebooks",
          "tests", ".git"]
tries = [os.path.join(root, name) for name in wanted] + [
    "SECRET", "../solutions", "../../solutions", "gradebook.db", os.path.join("/root", ".ssh"),
    "/etc/shadow", "/etc/passwd", "/var", root + "/README.md"]
for path in tries:
    try:
        print("BREACH", path, os.listdir(path) if os.path.isdir(path) else open(path).read(20))
    except OSError as error:
        pass
for where, folders, names in os.walk("/"):
    if where.startswith(("/proc", "/usr", "/sys", sys.prefix, sys.base_prefix)):
        folders.clear()
        continue
    for name in {"hidden_cases.json", "gradebook.db", "secret"} & set(names):
        print("BREACH", where, name)
print("looked everywhere")
""",
        shows="looked everywhere",
    ),
    _attack(
        "reads the memory and environment of other processes",
        """
import os
for pid in {*filter(str.isdigit, os.listdir("/proc")), "1", "GRADER", str(os.getppid())}:
    if int(pid) == os.getpid():
        continue
    for name in ("mem", "environ", "maps", "fd", "cwd", "root"):
        path = f"/proc/{pid}/{name}"
        try:
            if name == "fd":
                os.listdir(path)
            elif name in ("cwd", "root"):
                os.readlink(path)
            else:
                open(path, "rb").read(1)
            print("BREACH", path)
        except OSError:
            pass
print("looked at", "all")
""",
        shows="looked at all",
    ),
    _attack(
        "traces and signals other processes",
        """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in (1, os.getppid(), int("GRADER")):
    if pid and libc.ptrace(16, pid, 0, 0) == 0:
        print("BREACH ptrace", pid)
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    if pid and libc.process_vm_readv(pid, vector, 1, vector, 1, 0) > 0:
        print("BREACH process_vm_readv", pid)
for space in (0x10000000, 0x20000):  # a user namespace gives rights; a mount namespace hides
    if libc.unshare(space) == 0:
        print("BREACH unshare", hex(space))
print("tried")
""",
        shows="tried",
    ),
    _attack(
        "uses the network",
        """
import socket
for family, address in (
    (socket.AF_INET, ("127.0.0.1", int("PORT"))),
    (socket.AF_INET, ("1.1.1.1", 53)),
    (socket.AF_UNIX, "\\0SOCKET"),
    (socket.AF_UNIX, "DOOR"),
):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        try:
            with socket.socket(family, kind) as line:
                line.settimeout(1)
                line.connect(address)
                line.send(b"hello")  # whether a datagram arrives, the grader sees
                if kind == socket.SOCK_STREAM:
                    print("BREACH", address)
        except OSError:
            pass
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
    try:
        for line in socket.socketpair(type=kind):
            line.sendto(b"hello", "DOOR-datagrams")
            print("BREACH datagram", kind)
    except OSError:
        pass
for name, group in ((16, 15), (16, 4), (17, 0), (38, 0), (40, 0)):  # AF_NETLINK, …, AF_VSOCK
    for kind in (1, 2, 3, 5):
        try:
            socket.socket(name, kind, group)
            print("BREACH a socket of the family", name, group)
        except OSError:
            pass
print("nobody there")
""",
        shows="nobody there",
    ),
    _attack(
        "leaves a note for the next student, and looks for one",
        """
import ctypes, os, pathlib, tempfile
mark = "note" + "-from-another-student"
folders = ("/tmp", "/dev/shm", "/var/tmp", "/home/student", "/run", "/", "/kit", "/dev", "/home",
           tempfile.gettempdir(), ".", "..")
paths = [pathlib.Path(folder, mark) for folder in folders]
print(*("BREACH " + str(path) for path in paths if path.exists()))
for path in paths:
    try:
        path.write_text("x")
    except OSError:
        pass
libc = ctypes.CDLL(None, use_errno=True)
if libc.shmget(4711, 4096, 0) >= 0:
    print("BREACH shared memory")
libc.shmget(4711, 4096, 0o1666)
import platform
for ring in (-3, -4, -5) if platform.machine() == "x86_64" else ():
    if libc.syscall(250, 10, ring, b"user", mark.encode(), 0) >= 0:
        print("BREACH key ring")
    libc.syscall(248, b"user", mark.encode(), b"x", 1, ring)
print("left")
""",
        shows="left",
    ),
    _attack(
        "looks for traces of others in its own memory",
        """
import re
mark = re.compile(rb"a mar[k] that is only in hones[t] notebooks")  # does not match itself
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for row in maps:
        start, _, end = row.split()[0].partition("-")
        if row.split()[1].startswith("rw") and "[v" not in row:
            try:
                memory.seek(int(start, 16))
                chunk = memory.read(int(end, 16) - int(start, 16))
            except (OSError, MemoryError):
                continue
            if mark.search(chunk):
                print("BREACH a trace at", row.split()[0])
print("searched")
""",
        shows="searched",
    ),
]

USING_UP = [
    _attack(
        "forks without end",
        """
import os
while True:
    try:
        os.fork()
    except OSError:
        pass
""",
        Trouble.PROCESSES,
        perhaps=frozenset({Trouble.KILLED}),
    ),
    _attack(
        "forks without end in the shell",
        """
import subprocess
subprocess.run(["sh", "-c", "bomb() { bomb | bomb & }; bomb; sleep 100"])
""",
        perhaps=frozenset({Trouble.PROCESSES, Trouble.INTERRUPTED, Trouble.KILLED}),
    ),
    _attack(
        "takes all memory",
        """
hoard = [bytearray(3_000_000_000)]
""",
        shows="MemoryError",
    ),
    _attack(
        "takes all memory in many processes",
        """
import os, time
for _ in range(5):
    if os.fork() == 0:
        hoard = b"x" * 300_000_000
        time.sleep(100)
time.sleep(100)
""",
        Trouble.MEMORY,
        perhaps=frozenset({Trouble.INTERRUPTED, Trouble.KILLED}),
    ),
    _attack(
        "takes memory that has no name",
        """
import ctypes, os
for number in (319, 447) if os.uname().machine == "x86_64" else (279, 447):  # memfd_create, …
    if ctypes.CDLL(None).syscall(number, b"hoard", 0) >= 0:
        print("BREACH", number)
print("there is none")
""",
        shows="there is none",
    ),
    _attack(
        "takes shared memory, and unmaps all but a page of it",
        """
import ctypes, mmap, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype, libc.mmap.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_size_t] + [
    ctypes.c_int] * 3 + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
size = 100_000_000 // mmap.PAGESIZE * mmap.PAGESIZE
for _ in range(15):
    start = libc.mmap(None, size, 3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, -1, 0)
    ctypes.memset(start, 1, size)
    libc.munmap(start + mmap.PAGESIZE, size - mmap.PAGESIZE)
while True:
    time.sleep(1)
""",
        Trouble.MEMORY,
    ),
    _attack(
        "leaves what it sends unread in many sockets",
        """
import os, socket, time
for _ in range(20):
    if os.fork() == 0:
        pairs = [socket.socketpair() for _ in range(100)]
        for line in [line for pair in pairs for line in pair]:
            line.setblocking(False)
            try:
                while True:
                    line.send(bytes(50_000))
            except OSError:
                pass
        time.sleep(1000)
while True:
    time.sleep(1)
""",
        Trouble.MEMORY,
    ),
    _attack(
        "enlarges the buffers of sockets",
        """
import socket
for line in (*socket.socketpair(), socket.socket(socket.AF_INET)):
    for option in (socket.SO_SNDBUF, socket.SO_RCVBUF, 32, 33):
        before = [line.getsockopt(1, kind) for kind in (7, 8)]
        line.setsockopt(1, option, 4_000_000)
        if [line.getsockopt(1, kind) for kind in (7, 8)] != before:
            print("BREACH", option)
print("as before")
""",
        shows="as before",
    ),
    _attack(
        "lets others go first when memory runs out",
        """
import os
for _ in range(2):
    before = int(open("/proc/self/oom_score_adj").read())
    for value in (-1000, 0, 999):
        try:
            open("/proc/self/oom_score_adj", "w").write(str(value))
        except OSError:
            pass
    if int(open("/proc/self/oom_score_adj").read()) != before or before < 1000:
        print("BREACH", before)
    os.fork()
print("goes first", flush=True)
""",
        shows="goes first",
    ),
    _attack(
        "asks for more of the processor",
        """
import os
before = os.sched_getaffinity(0), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
supervisor = os.getpriority(os.PRIO_PROCESS, os.getppid())
for attempt in (
    lambda: os.sched_setaffinity(0, range(os.cpu_count())),
    lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
    lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
    lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)),
    lambda: os.sched_setscheduler(os.getppid(), os.SCHED_IDLE, os.sched_param(0)),
):
    try:
        attempt()
    except OSError:
        pass
after = os.sched_getaffinity(0), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
if after != before or os.getpriority(os.PRIO_PROCESS, os.getppid()) != supervisor:
    print("BREACH", before, after)
print("waits" if after[2] > supervisor else "BREACH as important as its supervisor")
""",
        shows="waits",
    ),
    _attack("sleeps", "import time; time.sleep(1000)", Trouble.INTERRUPTED, shows="OutOfTime"),
    _attack(
        "swallows interruptions",
        """
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
""",
        Trouble.KILLED,
    ),
    _attack(
        "blocks all signals, and starts other clocks",
        """
import signal, time
signal.setitimer(signal.ITIMER_REAL, 0)
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True:
    time.sleep(1)
""",
        Trouble.KILLED,
    ),
    _attack(
        "stops itself", "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)", Trouble.KILLED
    ),
    _attack(
        "writes 10 GB into files",
        """
for number in range(1000):
    with open(f"big-{number}", "wb") as file:
        for _ in range(10):
            file.write(bytes(1_000_000))
""",
        Trouble.DISK,
        shows="OSError",
    ),
    _attack(
        "writes one file that is too large, and a sparse one",
        """
import os
for make in (lambda f: os.truncate(f, 10**11), lambda f: os.write(f, bytes(40_000_000))):
    try:
        make(os.open("large", os.O_RDWR | os.O_CREAT))
    except OSError as error:
        print("refused")
if os.path.getsize("large") > 20_000_000:
    print("BREACH", os.path.getsize("large"))
""",
        Trouble.DISK,
        shows="refused",
    ),
    _attack(
        "makes folders without end",
        """
import os
try:
    while True:
        os.mkdir("x")
        os.chdir("x")
except OSError as error:
    print("stopped", error.strerror)
""",
        shows="stopped",
    ),
    _attack(
        "raises its limits",
        """
import resource
for name in ("AS", "NPROC", "FSIZE", "CPU", "NOFILE"):
    kind = getattr(resource, f"RLIMIT_{name}")
    soft, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (hard * 2, hard * 2))
        print("BREACH", name)
    except (OSError, ValueError):
        print("kept")
""",
        shows="kept",
    ),
]

SHOWING = [
    _attack("shows 60 MB on a line", "print('x' * 60_000_000)", Trouble.OUTPUT, shows="cut off"),
    _attack(
        "prints without end",
        "while True: print('all work and no play')",
        Trouble.OUTPUT,
        Trouble.INTERRUPTED,
        shows="cut off",
    ),
    _attack(
        "writes without end past Python",
        "import os\nwhile True: os.write(2, b'y' * 1_000_000)",
        Trouble.OUTPUT,
        shows="cut off",
    ),
    _attack(
        "displays too large a picture",
        """
from IPython.display import display
display({"image/png": "iVBORw0KGgo" + "A" * 9_000_000}, raw=True)
""",
        Trouble.OUTPUT,
        shows="cut off",
    ),
    _attack(
        "shows a thing in many places, and changes it again and again",
        """
from IPython.display import display, update_display
for _ in range(300):
    display({"text/plain": "x"}, raw=True, display_id="many")
while True:
    update_display({"text/plain": "y" * 100}, raw=True, display_id="many")
""",
        Trouble.OUTPUT,
        Trouble.INTERRUPTED,
        shows="cut off",
    ),
    _attack(
        "has its outputs forgotten without end",
        """
from IPython.display import clear_output
while True:
    clear_output()
""",
        Trouble.OUTPUT,
        Trouble.INTERRUPTED,
        shows="cut off",
    ),
    _attack(
        "keeps the grader busy with messages of its own making",
        """
import gc, os
from inside.protocol import Channel, frame
shown = {"output_type": "display_data", "data": {"text/plain": ""}, "display_id": "many"}
(channel,) = [o for o in gc.get_objects() if isinstance(o, Channel) and o._nonce != bytes(16)]
for _ in range(10_000):
    channel.send({"output": shown})
""",
        Trouble.SPOILED,
    ),
    _attack("raises 60 MB", "raise ValueError('x' * 60_000_000)", shows="ValueError"),
    _attack(
        "shows half characters and a page for the grader's browser",
        r"""
from IPython.display import display
print("\ud800 half a character \x00")
display({"image/png": '"><script>alert(1)</script>', "text/plain": "picture"}, raw=True)
display({"application/javascript": "alert(2)", "x/y": "z"}, raw=True)
""",
        shows="half a character",
    ),
]

ENDING = [
    _attack("exits", "import os; os._exit(0)", Trouble.ENDED),
    _attack("raises SystemExit", "raise SystemExit(3)", shows="SystemExit"),
    _attack("raises KeyboardInterrupt", "raise KeyboardInterrupt", shows="KeyboardInterrupt"),
    _attack("says exit()", "exit()"),
    _attack("crashes", "import ctypes; ctypes.string_at(0)", Trouble.ENDED),
    _attack(
        "kills its parent and everybody else",
        """
import os, signal
for pid in (os.getppid(), 1, int("GRADER")):
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        try:
            os.kill(pid, number)
        except OSError:
            pass
print("still here")
try:
    os.kill(-1, signal.SIGKILL)
except OSError:
    pass
""",
        shows="still here",
    ),
    _attack(
        "closes all descriptors",
        "import os; os.closerange(0, 4096)",
        Trouble.SPOILED,
        perhaps=frozenset({Trouble.ENDED}),
    ),
    _attack(
        "closes all descriptors and sleeps",
        """
import os, time
os.closerange(0, 4096)
while True:
    try:
        time.sleep(9)
    except BaseException:
        pass
""",
        Trouble.SPOILED,
    ),
    _attack(
        "lets other processes live on",
        """
import atexit, os, threading, time
atexit.register(print, "BREACH atexit")
threading.Thread(target=time.sleep, args=(1000,)).start()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            open("alive", "a").write("x")
            time.sleep(0.01)
    os._exit(0)
print("left behind")
""",
        shows="left behind",
    ),
    _attack(
        "forks and goes on twice",
        "import os; os.fork(); print('twice', flush=True)",
        shows="twice",
    ),
    _attack("asks for input", "input('password? ')", shows="StdinNotImplementedError"),
    _attack(
        "goes elsewhere and deletes its folder",
        """
import os, shutil
here = os.getcwd()
open("x", "w").close()
os.chdir("/")
shutil.rmtree(here, ignore_errors=True)
print("gone")
""",
        shows="gone",
    ),
]

_THE_LINE = """
import gc, os, socket, struct, sys
lines = [n for n in range(3, 100) if os.path.exists(f"/proc/self/fd/{n}")
         and os.readlink(f"/proc/self/fd/{n}").startswith("socket")]
"""

_PLANTED = dict.fromkeys(
    [
        "lab_utils/__init__.py",
        "torch.py",
        "json.py",
        "colorsys.py",
        "sitecustomize.py",
        "usercustomize.py",
    ],
    b"print('BREACH planted')\n",
)

FORGING = [
    _attack(
        "writes garbage to the grader",
        _THE_LINE + "for n in lines: os.write(n, b'garbage' * 100)",
        Trouble.SPOILED,
    ),
    _attack(
        "announces a gigantic message with the right nonce",
        _THE_LINE
        + """
from inside.protocol import Channel
for channel in [o for o in gc.get_objects() if isinstance(o, Channel)]:
    if channel._nonce != bytes(16):
        os.write(lines[-1], struct.pack(">16sI", channel._nonce, 4_000_000_000) + b"x" * 100)
""",
        Trouble.SPOILED,
    ),
    _attack(
        "sends results of its own making",
        _THE_LINE
        + """
from inside.protocol import Channel, frame
for channel in [o for o in gc.get_objects() if isinstance(o, Channel)]:
    if channel._nonce != bytes(16):
        os.write(lines[-1], frame({"score": 100, "student": "another"}, channel._nonce))
""",
        Trouble.SPOILED,
    ),
    _attack(
        "sends JSON that is too deep",
        _THE_LINE
        + """
from inside.protocol import Channel
for channel in [o for o in gc.get_objects() if isinstance(o, Channel)]:
    if channel._nonce != bytes(16):
        body = b'{"output":' + b"[" * 50_000
        os.write(lines[-1], struct.pack(">16sI", channel._nonce, len(body)) + body)
""",
        Trouble.SPOILED,
    ),
    _attack(
        "replaces functions of lab_utils",
        """
import lab_utils.kit.ask
lab_utils.kit.ask.attempt = lambda *_: {"answer": "forged"}
""",
        Trouble.TAMPERED,
    ),
    _attack(
        "brings files called like libraries",
        """
import importlib, json, lab_utils, torch
import xml.dom.minidom, colorsys  # not imported before
print(torch.__version__, json.dumps({}), lab_utils.__file__)
""",
        Trouble.TAMPERED,
        shows="lab_utils/__init__.py",
        files=_PLANTED,
    ),
]

#: Of about the same length each.
GROUPS = {
    "reading and ending": [*READING, *ENDING],
    "using up": USING_UP,
    "showing and forging": [*SHOWING, *FORGING],
}


@dataclass(frozen=True)
class Answer:
    """A function that misbehaves when it is asked."""

    name: str
    body: str
    says: str
    """What the error of the reply must contain."""
    troubles: frozenset[Trouble] = frozenset()
    before: str = ""
    """Code in front of the function."""


_STUBBORN = """
    while True:
        try:
            while True:
                pass
        except BaseException:
            pass
"""
_FORGED = "import inside.answers\ninside.answers.attempt = lambda *_: "
_DEEP = "deep = []\nfor _ in range(100):\n    deep = [deep]\n"

ANSWERS = [
    Answer("answer sleeps", "import time; time.sleep(1000)", "no answer: interrupted"),
    Answer("answer cannot be interrupted", _STUBBORN, "ran too long", frozenset({Trouble.KILLED})),
    Answer("answer exits", "import os; os._exit(0)", "process ended", frozenset({Trouble.ENDED})),
    Answer("answer raises SystemExit", "raise SystemExit", "SystemExit"),
    Answer("answer is gigantic", "return [target] * 1_000_000", "longer than"),
    Answer("answer raises 60 MB", "raise ValueError('x' * 60_000_000)", "ValueError"),
    Answer(
        "answer closes the line",
        "import os; os.closerange(3, 4096); return []",
        "process ended",
        frozenset({Trouble.ENDED}),
    ),
    Answer(
        "answer is not a number",
        "",
        "NaN",
        frozenset({Trouble.TAMPERED}),
        before=_FORGED + "{'answer': float('nan')}",
    ),
    Answer(
        "answer is nested too deeply",
        "",
        "something else than an answer",
        frozenset({Trouble.SPOILED, Trouble.TAMPERED}),
        before=_DEEP + _FORGED + "{'answer': deep}",
    ),
    Answer(
        "answer is no answer",
        "",
        "2",
        frozenset({Trouble.TAMPERED}),
        before=_FORGED + "{'answer': 1, 'error': 2, 'points': 100}",
    ),
]
