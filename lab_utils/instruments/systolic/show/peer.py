"""SCALE-Sim, the simulator that others use: one run, from texts to its report.

It is a package that may be missing: ``installed`` says so, and who asks goes without.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from lab_utils.kit.errors import LabError

WANTED = "2.0.2"


def installed() -> bool:
    """Whether the version of SCALE-Sim that the lab was made with is here."""
    try:
        return version("scalesim") == WANTED
    except PackageNotFoundError:
        return False


@contextmanager
def without_logs() -> Iterator[None]:
    """Meanwhile SCALE-Sim keeps no log of what it fetched, and builds no bar in every cycle.

    It copies the whole log with each fetch, which is half of its time. Reports of cycles do not
    read it, and what is simulated is untouched: a test compares runs with and without.
    """
    from scalesim.memory import read_buffer, write_buffer

    buffer, modules = read_buffer.read_buffer, (read_buffer, write_buffer)
    fetch, bars = buffer.new_prefetch, [module.tqdm for module in modules]

    def fetch_without_log(self: Any) -> None:
        fetch(self)
        self.trace_matrix = self.trace_matrix[[0, -1]]  # when it began, and how far it is

    buffer.new_prefetch = fetch_without_log
    for module in modules:
        module.tqdm = lambda values, **_options: values
    try:
        yield
    finally:
        buffer.new_prefetch = fetch
        for module, bar in zip(modules, bars, strict=True):
            module.tqdm = bar


def compute_report(config: str, topology: str, is_gemm: bool) -> str:
    """The text of COMPUTE_REPORT.csv after a run.

    Args:
        config: text of a ``system.cfg``.
        topology: text of a topology file.
        is_gemm: whether the topology lists M, N, K (the option ``-i gemm``).

    Raises:
        LabError: the simulator could not read the files.
    """
    from scalesim.scale_sim import scalesim

    with tempfile.TemporaryDirectory() as folder:
        system, layers = Path(folder, "system.cfg"), Path(folder, "topology.csv")
        system.write_text(config, encoding="utf-8")
        layers.write_text(topology, encoding="utf-8")
        try:
            run = scalesim(
                save_disk_space=True,
                verbose=False,
                config=str(system),
                topology=str(layers),
                input_type_gemm=is_gemm,
            )
            with without_logs():
                run.run_scale(top_path=folder)
        except (Exception, SystemExit) as error:
            said = f"{type(error).__name__}: {error}"
            raise LabError(f"SCALE-Sim could not run these files: {said}") from error
        (report,) = Path(folder).glob(f"*{os.sep}COMPUTE_REPORT.csv")
        return report.read_text(encoding="utf-8")
