"""What a famous course measured on two H100s: times of a step, and peaks of memory.

A GPT of two layers (width 2560), FP32, sequences of 2048, a batch of 4, one micro-batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lab_utils.instruments.parallel import SELECTIVE, Cluster, Job, Plan
from lab_utils.instruments.roofline import H100

MIB = 2**20  # the profiler's "MB"
GPT_JOB = Job(tokens=2048, batch=4)


@dataclass(frozen=True)
class Measured:
    """One configuration: milliseconds of a step and of the core of attention; peaks in MiB."""

    plan: Plan
    iteration: float
    core: float
    peaks: tuple[int, ...]
    """Of one rank of each stage."""

    @property
    def peak(self) -> int:
        """Of the fullest rank."""
        return max(self.peaks)


TABLE = (
    Measured(Plan(), 394.5, 24.5, (21_763,)),
    Measured(Plan(tp=2), 217.8, 12.9, (11_405,)),
    Measured(Plan(dp=2), 218.3, 12.9, (13_388,)),
    Measured(Plan(pp=2), 397.2, 12.3, (14_221, 14_520)),
    Measured(Plan(tp=2, recompute=SELECTIVE), 231.9, 25.9, (9_042,)),
    Measured(Plan(dp=2, recompute=SELECTIVE), 232.5, 25.9, (11_164,)),
    Measured(Plan(pp=2, recompute=SELECTIVE), 422.9, 24.6, (14_381, 14_199)),
)
#: All-reduces between the two cards: bytes, and milliseconds.
ALL_REDUCES = (
    (4 * 2048 * 4 * 2560, 0.39),  # one activation; 0.36 to 0.42 were seen
    (4 * 50304 * 2560, 1.66),  # the table of words
    (4 * 291_379_200, 3.5),  # all gradients
)
#: The link is a line through the first two all-reduces; the two shares are read off the run on a
#: single card: its iteration, and its core of attention (a backward pass takes twice as long).
CLUSTER = Cluster(
    machine=replace(H100, memory=85_057_011_712),
    cards=2,
    latency=71.5e-6,
    link=339.5e9,
    dense=0.654,
    attention=0.209,
)
