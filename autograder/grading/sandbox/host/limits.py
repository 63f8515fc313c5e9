"""How much time, memory, disk and output a submission may use."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1_000_000


@dataclass(frozen=True)
class Limits:
    """Ceilings for one submission. Seconds are wall time; sizes are bytes."""

    cell_seconds: float = 60
    """For one cell. It is interrupted, and the next one runs."""
    notebook_seconds: float = 180
    """For all cells of a notebook together. The cells that are left then do not run."""
    question_seconds: float = 30
    """For one answer. All answers of one task share twice as much."""
    grace_seconds: float = 3
    """How long code may ignore an interruption, or a process its end, before it is killed."""
    address_space: int = 3000 * MB
    """Of each process, beyond what the libraries took that were loaded before it."""
    memory: int = 3000 * MB
    """Of all processes of a submission together."""
    processes: int = 32
    """At the same time."""
    open_files: int = 256
    file_bytes: int = 64 * MB
    disk_bytes: int = 128 * MB
    """Of the scratch folder and the temporary files together."""
    disk_files: int = 4096
    output_bytes: int = 1 * MB
    """Of what one cell shows; the rest is cut off, and this is said."""
    reply_bytes: int = 4 * MB
    """Of one answer."""

    @property
    def cpu_seconds(self) -> int:
        """Of each process: it can use no more if it is single-threaded and keeps to the others."""
        return int(4 * self.notebook_seconds) + 10
