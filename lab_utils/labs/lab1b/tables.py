"""The tables of the course for fusion, tiling and data types, filled by the student's functions.

``COLUMNS`` says what each column means; all units are honest. Nothing here counts or times
anything by itself.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isclose
from pathlib import Path
from typing import Any

from lab_utils.instruments.roofline import Machine
from lab_utils.kit.files import HandedIn, write_whole
from lab_utils.labs.lab1b.models import Op

Moved = Mapping[str, Sequence[float]]

COLUMNS: Mapping[str, str] = {
    "Op Type": "the operator",
    "Dimension": "M, N, K of a product",
    "Group": "the operators that it is fused with; its own name if it is with none",
    "Num ops (MFLOP)": "operations, in units of 10⁶; a multiplication and its addition are two",
    "Read (MB)": "bytes that it reads from memory, in units of 10⁶",
    "Written (MB)": "bytes that it writes to memory, in units of 10⁶",
    "Total (MB)": "the last two together",
    "Latency (usec)": "how long it takes, in millionths of a second",
    "Tiles": "Tm, Tn, Tk",
    "Stays": "the operand that stays on chip",
    "A read": "elements of A that are read",
    "B read": "elements of B that are read",
    "C read": "elements of C that are read back",
    "C written": "elements of C that are written",
    "Total": "the last four together",
    "Stored": "the type that lies in memory",
    "Computed": "the type of the arithmetic",
    "Compute (usec)": "time of the arithmetic, in millionths of a second",
    "Memory (usec)": "time of the bytes, in millionths of a second",
    "Bound": "C where the arithmetic takes longer, M where the bytes do",
}
FUSED = (
    "Op Type",
    "Group",
    "Num ops (MFLOP)",
    "Read (MB)",
    "Written (MB)",
    "Total (MB)",
    "Latency (usec)",
)
TILED = ("Dimension", "Tiles", "Stays", "A read", "B read", "C read", "C written", "Total")
TYPED = (
    *("Op Type", "Dimension", "Stored", "Computed"),
    *("Compute (usec)", "Memory (usec)", "Bound", "Latency (usec)"),
)
_WORDS = {"Op Type", "Dimension", "Group", "Tiles", "Stays", "Stored", "Computed", "Bound"}
_TOTALS = {  # by column, the columns that it adds up
    "Total (MB)": ("Read (MB)", "Written (MB)"),
    "Total": ("A read", "B read", "C read", "C written"),
}


@dataclass(frozen=True)
class Table(HandedIn):
    """A table of the course; its first line names the columns."""

    header: tuple[str, ...] = ()
    rows: int = 1

    def problem(self, content: bytes) -> str:
        """Whether it has its columns and rows, numbers in them, and sums that are sums."""
        again = "run the cell that writes it"
        first, *rows = list(csv.reader(io.StringIO(content.decode("utf-8", "replace")))) or [[]]
        if tuple(first) != self.header:
            return f"its first line names other columns: {again}"
        if len(rows) != self.rows:
            return f"it has {len(rows)} rows of {self.rows}: {again}"
        for place, row in enumerate(rows, 1):
            try:
                told = dict(zip(first, row, strict=True))
                numbers = {name: float(told[name]) for name in first if name not in _WORDS}
            except ValueError:
                return f"row {place} has something else than numbers: {again}"
            if not all(0 <= number < inf for number in numbers.values()):
                return f"row {place} has a number that cannot be: {again}"
            for total, parts in _TOTALS.items():
                added = sum(numbers[part] for part in parts) if total in numbers else 0
                if total in numbers and not isclose(numbers[total], added, rel_tol=1e-6):
                    return f"row {place}: {total} is not the sum of its parts: {again}"
        return ""


FILES = (
    Table("output_b1.csv", header=FUSED, rows=6),
    Table("output_b2.csv", header=FUSED, rows=8),
    *(Table(f"output_b3{letter}.csv", header=TILED) for letter in "abc"),
    *(Table(f"output_b{part}{one}.csv", header=TYPED, rows=3) for part in "45" for one in "abc"),
)


def write_fusion(
    file: str,
    ops: Sequence[Op],
    groups: Iterable[Sequence[str]],
    moved: Moved,
    seconds: Callable[[Op], float],
) -> str:
    """Write what each operator moves and how long it takes, when ``groups`` are fused.

    Args:
        file: its name.
        ops: the model.
        groups: the names of operators that are fused.
        moved: bytes read and written, by operator.
        seconds: how long one operator takes.
    """
    group = {name: " + ".join(names) for names in groups for name in names}
    rows = []
    for op in ops:
        read, written = moved[op.name]
        sizes = [n / 1e6 for n in (op.flops, read, written, read + written)]
        rows.append([op.name, group.get(op.name, op.name), *sizes, seconds(op) * 1e6])
    return _write(file, FUSED, rows)


def write_tiling(
    file: str,
    shape: tuple[int, int, int],
    tiles: tuple[int, int, int],
    keep: str,
    stationary: Callable[..., Sequence[float]],
) -> str:
    """Write what a product of ``shape`` (M, N, K) moves while ``keep`` stays on chip."""
    parts = list(stationary(keep, shape, tiles))
    return _write(file, TILED, [[list(shape), list(tiles), keep, *parts, sum(parts)]])


def write_types(
    file: str,
    shapes: Iterable[tuple[int, int, int]],
    stored: str,
    computed: str,
    machine: Machine,
    gemm_times: Callable[..., Sequence[float]],
) -> str:
    """Write how long products take whose numbers are stored in one type and computed in another."""
    rows = []
    for shape in shapes:
        compute, memory = gemm_times(
            shape, stored, computed, dict(machine.rates), machine.bandwidth
        )
        bound, times = "C" if compute > memory else "M", (compute * 1e6, memory * 1e6)
        rows.append(["gemm", list(shape), stored, computed, *times, bound, max(times)])
    return _write(file, TYPED, rows)


def _write(file: str, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([f"{cell:.9g}" if isinstance(cell, float) else cell for cell in row])
    write_whole(Path(file), text.getvalue())
    return file
