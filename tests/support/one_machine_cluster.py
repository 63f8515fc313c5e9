"""A Slurm cluster of two nodes on this machine, as long as a test needs it.

Debian's ``slurm-wlm`` and ``munge``, all settings and state in a temporary folder, on free ports.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

NODES = ("one", "two")
#: On the second node bubblewrap does not work: isolation is lower there.
WITHOUT = 'mount --bind /bin/false "$(command -v bwrap)"; exec slurmd -D -N two'
SETTINGS = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={controller}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
ReturnToService=2
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MessageTimeout=100
SlurmctldTimeout=300
SlurmdTimeout=300
KillWait=2
MailProg=/bin/true
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def obstacle() -> str | None:
    """What keeps us from starting one; None if nothing does."""
    programs = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "sinfo")
    if absent := [program for program in programs if shutil.which(program) is None]:
        return f"{', '.join(absent)} not found"
    return None if os.geteuid() == 0 else "only root can start the daemons of Slurm"


@contextmanager
def slurm_cluster() -> Iterator[Path]:
    """The folder with its settings and logs; Slurm's commands find it meanwhile."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm-")))
        folder.chmod(0o755)  # munged is for all users
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        controller, *ports = _free_ports(1 + len(NODES))
        (folder / "state").mkdir()
        host = socket.gethostname().partition(".")[0]
        about = f"NodeHostname={host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN"
        named = zip(NODES, ports, strict=True)
        lines = [f"NodeName={name} Port={port} {about}" for name, port in named]
        settings = {"host": host, "controller": controller, "folder": folder}
        text = SETTINGS.format(**settings, nodes="\n".join(lines))
        (folder / "slurm.conf").write_text(text)
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        places = [f"--{what}-file={folder}/munged.{what}" for what in ("log", "pid", "seed")]
        munged = ["munged", "-F", f"--socket={folder}/munge.socket", f"--key-file={key}", *places]
        stack.enter_context(_daemon(munged, folder))
        until(lambda: (folder / "munge.socket").exists(), "munged")
        stack.enter_context(_daemon(["slurmctld", "-D"], folder))
        stack.enter_context(_daemon(["slurmd", "-D", "-N", NODES[0]], folder))
        stack.enter_context(_daemon(["unshare", "--mount", "sh", "-c", WITHOUT], folder))
        until(lambda: _states() == ["idle"] * len(NODES), "the nodes of Slurm", folder)
        yield folder


def until(ready: Callable[[], bool], what: str, folder: Path | None = None) -> None:
    """Wait for something, however busy the machine is."""
    late = time.monotonic() + 240
    while not ready():
        if time.monotonic() > late:
            logs = [path.read_text()[-2000:] for path in (folder or Path()).glob("*.log")]
            raise AssertionError("\n".join([f"waited in vain for {what}", *logs]))
        time.sleep(0.2)


def _states() -> list[str]:
    command = ["sinfo", "--noheader", "--Node", "--format=%t"]
    return subprocess.run(command, capture_output=True, text=True).stdout.split()


@contextmanager
def _daemon(command: list[str], folder: Path) -> Iterator[None]:
    with Path(folder, f"{command[0]}.out.log").open("ab") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
