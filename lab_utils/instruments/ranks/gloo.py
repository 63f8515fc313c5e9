"""The same ranks on gloo, PyTorch's own network for CPUs: real sockets, no diary."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from lab_utils.instruments.ranks.children import end_all
from lab_utils.kit.errors import LabError

_PATIENCE = timedelta(seconds=25)
"""Nobody tells who waits for whom there; a sandbox ends a cell that does nothing for longer."""


def on_gloo(size: int, function: Callable[[], Any]) -> list[Any]:
    """What ``function`` returns in each of ``size`` processes that talk by gloo.

    Raises:
        LabError: a process failed, or this computer has no network of its own.
    """
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        children = []
        try:
            for rank in range(size):
                pid = os.fork()
                if pid == 0:
                    _be_process(rank, size, home, function)
                children.append(pid)
            for pid in children:
                os.waitpid(pid, 0)
        finally:
            end_all(children)
        results = []
        for rank in range(size):
            file = home / f"result_{rank}"
            told = pickle.loads(file.read_bytes()) if file.is_file() else (False, "it ended")
            if not told[0]:
                raise LabError(f"gloo does not run here: rank {rank}: {told[1]}")
            results.append(told[1])
        return results


def _be_process(rank: int, size: int, home: Path, function: Callable[[], Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    quiet = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(quiet, descriptor)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo" if sys.platform == "linux" else "lo0")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    try:
        store = dist.FileStore(str(home / "store"), size)
        dist.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=_PATIENCE)
        told: tuple[bool, Any] = (True, function())
        dist.barrier()
    except BaseException as error:
        told = (False, f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}")
    (home / f"result_{rank}").write_bytes(pickle.dumps(told))
    os._exit(0)
