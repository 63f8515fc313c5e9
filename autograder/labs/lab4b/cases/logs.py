"""Logs of task 1.6, line by line in the form in which ASTRA-sim writes them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from autograder.authoring.derived import CaseData

_UNITS = ("B", "KB", "MB", "GB", "TB")


class System(NamedTuple):
    """What the simulator knows of one NPU when it is done; times in cycles."""

    number: int
    wall: int
    gpu: int
    comm: int
    bound: float
    compute: float
    memory: float
    intensity: float
    peak: float
    unit: str

    @property
    def exposed(self) -> int:
        """Cycles of communication that nothing hides."""
        return self.wall - self.gpu

    @property
    def overlap(self) -> int:
        """Cycles in which both went on."""
        return self.gpu + self.comm - self.wall

    @property
    def metrics(self) -> dict[str, float]:
        """What is to be read."""
        return {
            "wall_time": self.wall,
            "gpu_time": self.gpu,
            "comm_time": self.comm,
            "per_comp_bound": self.bound,
            "comp_util": self.compute,
            "mem_util": self.memory,
            "op_intensity": self.intensity,
            "peak_memory_usage": self.peak * 1024 ** _UNITS.index(self.unit),
        }

    def lines(self, gpu_first: bool) -> list[tuple[str, str]]:
        """(logger, words) of every line; the order of the times is the simulator's whim."""
        name = f"sys[{self.number}]"
        times = [f"{name}, GPU time: {self.gpu}", f"{name}, Comm time: {self.comm}"]
        stats = [
            f"{name}, Wall time: {self.wall}",
            f"{name}, CPU time: 0",
            *(times if gpu_first else times[::-1]),
            f"{name}, Total compute-communication overlap: {self.overlap}",
            f"{name}, Compute bound percentage: {self.bound:.3f}%",
            f"{name}, Average compute utilization: {self.compute:.3f}%",
            f"{name}, Average memory utilization: {self.memory:.3f}%",
            f"{name}, Average operation intensity: {self.intensity:.3f}",
        ]
        exposed = f"exposed communication {self.exposed} cycles."
        return [
            ("workload", f"{name} finished, {self.wall} cycles, {exposed}"),
            *(("statistics", words) for words in stats),
            ("workload", f"{name} peak memory usage: {self.peak:.2f} {self.unit}"),
        ]


DGX_16 = System(
    0, 1_830_652_546, 1_633_032_018, 580_435_941, 98.214, 84.370, 21.906, 1417.382, 16.35, "GB"
)
"""The first system of a run that was published (its three times and its peak)."""


def log_case(
    name: str,
    npus: int,
    seed: int,
    unit: str = "GB",
    first: System | None = None,
    mixed: bool = False,
) -> CaseData:
    """A log of so many systems, of which sys[0] stands somewhere; ``mixed``: line by line."""
    dice = random.Random(seed)
    systems = [_system(number, dice, unit) for number in range(npus)]
    if first is not None:
        systems[0] = first
    order = dice.sample(systems, npus)
    if order[-1].number == 0 or order[0].number == 0:  # neither the first nor the last block
        order.remove(systems[0])
        order.insert(npus // 2, systems[0])
    text = _text(order, dice, mixed)
    others = [one.metrics for one in systems[1:]]
    mine = systems[0]
    wanted: dict[str, Any] = {
        "metrics": mine.metrics,
        "others": others,
        "peak": mine.peak,
        "exposed": mine.exposed,
        "overlap": mine.overlap,
    }
    return {"name": name, "given": {"text": text}, "wanted": wanted}


def _system(number: int, dice: random.Random, unit: str) -> System:
    wall = dice.randrange(10**8, 10**10)
    gpu = int(wall * dice.uniform(0.5, 0.95))
    comm = wall - gpu + dice.randrange(1, gpu)
    bound, compute, memory = (round(dice.uniform(3, 99), 3) for _ in range(3))
    intensity = round(dice.uniform(20, 4000), 3)
    peak = round(dice.uniform(1.5, 900), 2)
    return System(number, wall, gpu, comm, bound, compute, memory, intensity, peak, unit)


def _text(order: Sequence[System], dice: random.Random, mixed: bool) -> str:
    blocks = [one.lines(dice.random() < 0.5) for one in order]
    if mixed:
        lines = []
        while any(blocks):
            block = dice.choice([one for one in blocks if one])
            lines.append(block.pop(0))
    else:
        lines = [line for block in blocks for line in block]
    told, moment = [], 7_412
    for logger, words in [("topology", f"NPUs: {len(order)}"), *lines]:
        moment += dice.randrange(1, 40)
        clock = f"2025-04-02 10:31:{moment // 1000:02d}.{moment % 1000:03d}"
        told.append(f"[{clock}] [{logger}] [info] {words}\n")
    return "".join(told)
