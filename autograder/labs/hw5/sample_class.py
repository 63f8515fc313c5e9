"""A small class that hands in Homework 5: right, with typical mistakes, unfilled."""

from __future__ import annotations

from pathlib import Path

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster

QUANTIZATION = (
    Example(
        student("Shafi", "Goldwasser"),  # 128 steps, cut off; int8 sums; earlier scales left out
        (
            Change("t44", "torch.round(values * scale)", "(values * scale)"),
            Change("t45", "127 / largest", "128 / largest"),
            Change("t54", "x, weight = x.int(), layer.weight.int()", "weight = layer.weight"),
            Change("t51", "carried *= scale * multiplier", "pass"),
        ),
    ),
    Example(
        student("Adi", "Shamir"),  # max without abs; hooks stay; biases not on the scale
        (
            Change("t45", "weight.abs().max()", "weight.max()"),
            Change("t48", "handle.remove()", "pass"),
            Change("t56", "scale *= weight * multiplier", "pass"),
        ),
    ),
)
#: Mistakes of part A, one student each.
DISTRIBUTED = (
    Example(
        student("Gene", "Amdahl"),  # nothing waits for the device; one GPU's work is not shared
        (
            Change(
                "t11", "            step(batch)\n            sync()\n", "            step(batch)\n"
            ),
            Change("t17", "alone[batch] / gpus", "alone[batch]"),
        ),
    ),
    Example(
        student("Robin", "Milner"),  # everybody sends first; means of unequal shares
        (
            Change("t21", "request = dist.isend(", "dist.send("),
            Change("t21", "        request.wait()\n", ""),
            Change("t23", "images / total", "1 / dist.get_world_size()"),
        ),
    ),
    Example(
        student("Grace", "Hopper"),  # the epoch is forgotten; statistics of one rank
        (
            Change("t34", "seed + epoch", "seed"),
            Change("t38", "    dist.all_reduce(sums)\n", ""),
        ),
    ),
)
CLASS = (
    Example(student("Leslie", "Lamport")),
    *DISTRIBUTED,
    *QUANTIZATION,
    Example(student("Edsger", "Dijkstra"), is_filled=False),
)
ABSENT = (student("Ada", "Lovelace"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "hw5", CLASS, ABSENT)
