"""How much ``import lab_utils`` adds to ``import torch``, which it cannot do without."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator

from tests.benchmarks import Row, timed


def _children_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _import_seconds(module: str) -> float:
    command = [sys.executable, "-c", f"import {module}"]
    return timed(lambda: subprocess.run(command, check=True), clock=_children_cpu_seconds)


def benchmarks() -> Iterator[Row]:
    torch = _import_seconds("torch")  # first, so that both find the files in the disk cache
    yield Row("import", _import_seconds("lab_utils"), "import torch", torch, "CPU s", goal=1.15)
