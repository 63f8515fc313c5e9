"""Limits that the kernel keeps for each process."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from typing import Any

from .usage import mapped


def set_ceilings(limits: Mapping[str, Any], processes: int) -> None:
    """Lower the limits of this process and its children, for good.

    ``processes`` is what the kernel is told: it may count those of the same user elsewhere.
    """
    cpu = limits["cpu_seconds"]
    address_space = mapped() + limits["address_space"]
    ceilings = {
        "RLIMIT_AS": (address_space, address_space),
        "RLIMIT_FSIZE": (limits["file_bytes"], limits["file_bytes"]),
        "RLIMIT_NOFILE": (limits["open_files"], limits["open_files"]),
        "RLIMIT_NPROC": (processes, processes),
        "RLIMIT_CPU": (cpu, cpu + 2),  # a signal that tells why, then the end
        "RLIMIT_CORE": (0, 0),
        "RLIMIT_MSGQUEUE": (0, 0),
    }
    for name, wanted in ceilings.items():
        if (kind := getattr(resource, name, None)) is None:
            continue
        most = resource.getrlimit(kind)[1]
        if most != resource.RLIM_INFINITY:
            wanted = (min(wanted[0], most), min(wanted[1], most))
        resource.setrlimit(kind, wanted)
