"""The tables of the course, in the units of its handout, filled by the student's own functions.

These units are odd, and kept as they are so that tables can be compared: ``COLUMNS`` says what
each one means. Nothing here counts, times or converts anything by itself.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, NamedTuple

from lab_utils.instruments.roofline import Machine
from lab_utils.kit.files import HandedIn, write_whole

Operator = tuple[str, tuple[int, ...]]
Elements = Callable[[str, Sequence[int]], Sequence[int]]
Operations = Callable[[str, Sequence[int]], int]

#: Two of each operator: the rows of output_a1.csv and output_a2.csv.
INSTANCES: tuple[Operator, ...] = (
    ("softmax", (2, 256)),
    ("softmax", (64, 1000)),
    ("layernorm", (2, 8, 512)),
    ("layernorm", (16, 128, 768)),
    ("gemm", (32, 16, 8, 32)),
    ("gemm", (1, 1024, 4096, 1024)),
    ("attention", (1, 256, 384, 12)),
    ("attention", (8, 128, 64, 512)),
)

COLUMNS: Mapping[str, str] = {
    "Op Type": "the operator",
    "Dimension": "its dims, in the order of the tasks",
    "Bound": "C where arithmetic takes longer, M where memory does",
    "C/M ratio": "time of arithmetic / time of memory",
    "Op Intensity": "operations for each element (not for each byte)",
    "Latency (msec)": "the longer of both times, in thousandths of a second",
    "Cycles": "latency in cycles of the machine's clock",
    "Num ops (MFLOP)": "operations, in units of 10⁶",
    "Input_a (MB)": "elements (not bytes) of the input, in units of 2²⁰",
    "Input_w (MB)": "elements of the weight, in units of 2²⁰",
    "Output (MB)": "elements of the output, in units of 2²⁰",
    "Total Data (MB)": "the last three together",
    "Throughput (Tflops)": "operations in a second of latency, in units of 10¹²",
    "Compute Cycles": "time of arithmetic in cycles",
    "Memory Cycles": "time of memory in cycles",
}


#: What a row has behind its operator and its dims.
ROW: tuple[str, ...] = tuple(COLUMNS)[2:]


@dataclass(frozen=True)
class CourseTable(HandedIn):
    """A table of the course: its first line names the columns, unless it has none."""

    header: tuple[str, ...] = ()
    rows: int = len(INSTANCES)

    def problem(self, content: bytes) -> str:
        """Whether it is a table at all, with the columns that it should have."""
        rows = list(csv.reader(io.StringIO(content.decode("utf-8", "replace"))))
        if not rows:
            return "it is empty: run the notebooks' cells that write it"
        if self.header and tuple(rows[0]) != self.header:
            return "its first line names other columns: run the cell that writes it"
        found = len(rows) - bool(self.header)
        if found != self.rows:
            return f"it has {found} rows of {self.rows}: run the cell that writes it"
        return next((problem for row in rows[bool(self.header) :] if (problem := _odd(row))), "")


def _odd(row: Sequence[str]) -> str:
    """What is wrong with a row, in words: it ends with numbers, none of them below 0."""
    numbers = row[3:] if len(row) == len(COLUMNS) else row[2:]
    try:
        wrong = [text for text in numbers if not 0 <= float(text) < inf]
    except ValueError:
        wrong = list(numbers)
    if not numbers or wrong:
        return f"the row of {row[0]} has something else than numbers: run the cell that writes it"
    return ""


FILES = (
    CourseTable("output_a1.csv"),
    CourseTable("output_a2.csv", header=tuple(COLUMNS)),
    *(
        CourseTable(f"output_{part}.csv", header=tuple(COLUMNS), rows=6)
        for part in ("a3i", "a3ii", "a4i", "a4ii")
    ),
)


class System(NamedTuple):
    """A machine, and the share of its best that is reached."""

    machine: Machine
    compute_eff: float
    memory_eff: float


def _handout(name: str, flops: float, gigabytes: int, clock: float, memory: float) -> Machine:
    """As the handout has it: half of the rate, and a GB of 2³⁰ bytes."""
    return Machine(name, {"fp32": flops / 2}, gigabytes * 2**30, memory, clock, "the handout")


#: The machines of the handout, with all that is wrong with them.
HANDOUT: Mapping[str, System] = {
    "A100": System(_handout("A100 (handout)", 312e12, 1935, 1095e6, 80e9), 0.75, 0.70),
    "Jetson Nano": System(_handout("Jetson Nano (handout)", 20e12, 34, 625e6, 4e9), 0.85, 0.75),
}


def write_counts(file: str, elements: Elements, operations: Operations) -> str:
    """Write ``output_a1.csv``: name, three numbers of elements, operations; no first line."""
    rows = [
        [
            f"{name} {list(dims)}",
            [int(n) for n in elements(name, dims)],
            int(operations(name, dims)),
        ]
        for name, dims in INSTANCES
    ]
    return _write(file, rows)


def write_table(
    file: str,
    operators: Sequence[Operator],
    elements: Elements,
    operations: Operations,
    times: Callable[..., Any],
    row: Callable[..., Mapping[str, Any]],
    system: System,
) -> str:
    """Write a table of ``operators`` on ``system``, with the columns of the course.

    Args:
        file: its name.
        operators: pairs of an operator and its dims.
        elements: elements of input, weight and output of an operator.
        operations: its operations.
        times: its times on a machine.
        row: what its row has behind operator and dims, by column.
        system: one of ``HANDOUT``.
    """
    rows: list[list[Any]] = [list(COLUMNS)]
    for name, dims in operators:
        moved, work = [int(n) for n in elements(name, dims)], int(operations(name, dims))
        took = times(work, sum(moved), "fp32", *system)
        told = row(work, tuple(moved), took, system.machine.clock)
        bound, *numbers = (told[column] for column in ROW)
        rows.append([name, list(dims), bound, *(f"{n:.9g}" for n in numbers)])
    return _write(file, rows)


def _write(file: str, rows: Sequence[Sequence[Any]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_whole(Path(file), text.getvalue())
    return file
