"""How much time, memory, disk and output a submission may use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from autograder.grading.sandbox.inside.clock import Allowance, allowance, patience

MB = 1_000_000


@dataclass(frozen=True)
class Limits:
    """Ceilings for one submission; a lab may have its own. Sizes are bytes.

    Seconds are those that all processes of a notebook together use of the processor of a
    machine like ours (see ``speed``), and those in which they only sleep. Time in which they
    wait for a processor that others use is not counted.
    """

    cell_seconds: float = 60
    """For one cell. It is interrupted, and the next one runs."""
    notebook_seconds: float = 180
    """For all cells of a notebook together. The cells that are left then do not run."""
    question_seconds: float = 30
    """For one answer. All answers of one task share twice as much."""
    idle_seconds: float = 30
    """How long one cell or answer may sleep, as part of its time."""
    grace_seconds: float = 3
    """How long code may ignore an interruption, or a process its end, before it is killed."""
    address_space: int = 3000 * MB
    """Of each process, beyond what the libraries took that were loaded before it."""
    memory: int = 3000 * MB
    """Of all processes of a submission together."""
    processes: int = 32
    """At the same time."""
    threads: int = 1
    """That numerical libraries work with, in each process."""
    open_files: int = 256
    file_bytes: int = 64 * MB
    disk_bytes: int = 128 * MB
    """Of the scratch folder and the temporary files together."""
    disk_files: int = 4096
    output_bytes: int = 1 * MB
    """Of what one cell shows; the rest is cut off, and this is said."""
    notebook_output: int = 8 * MB
    """Of what all cells of a notebook show together, as it is kept."""
    submission_output: int = 24 * MB
    """Of what all its notebooks show."""
    reply_bytes: int = 4 * MB
    """Of one answer."""
    replies_memory: int = 200 * MB
    """That all answers of a submission take in the grader."""

    @property
    def cpu_seconds(self) -> int:
        """Of each process: what the kernel allows, should nobody else count."""
        return int(4 * self.notebook_seconds) + 10

    def on_machine(self, slowness: float) -> Limits:
        """The same for a machine on which all work takes so many times as long."""
        return replace(
            self,
            cell_seconds=self.cell_seconds * slowness,
            notebook_seconds=self.notebook_seconds * slowness,
            question_seconds=self.question_seconds * slowness,
            grace_seconds=self.grace_seconds * slowness,
        )

    def allowance(self, seconds: float) -> Allowance:
        """What one cell or answer may use that has so many seconds."""
        return allowance(seconds, asdict(self))

    def backstop(self, seconds: float) -> float:
        """Real seconds after which the supervisor should long have ended it, but did not."""
        return 2 * (patience(seconds) + patience(self.grace_seconds))

    def as_message(self) -> dict[str, Any]:
        """For the inside of a sandbox."""
        return asdict(self) | {"cpu_seconds": self.cpu_seconds}


def most_of(several: Iterable[Limits]) -> Limits:
    """For an assignment with tasks of several labs: of each limit the highest."""
    tables = [asdict(limits) for limits in several] or [asdict(Limits())]
    return Limits(**{name: max(table[name] for table in tables) for name in tables[0]})
