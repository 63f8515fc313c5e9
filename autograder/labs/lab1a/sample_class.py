"""A small class that hands in Lab 1A: right, with the mistakes that go round, and unfilled."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from autograder.classroom.sample import Change, Example, student, write_class
from autograder.collect import Roster
from autograder.labs.lab1a import clockwork
from autograder.labs.lab1a.build import network
from autograder.labs.lab1a.definitions import RIGHT, cost
from lab_utils.instruments.roofline import Machine
from lab_utils.labs.lab1a.records import Times
from lab_utils.labs.lab1a.tables import HANDOUT, INSTANCES, Operator, write_counts, write_table

W = 12
TABLES = tuple(f"output_{part}.csv" for part in ("a1", "a2", "a3i", "a3ii", "a4i", "a4ii"))


def _elements(name: str, dims: tuple[int, ...]) -> list[int]:
    return cost(RIGHT[name], dims).elements


def _operations(name: str, dims: tuple[int, ...]) -> int:
    return cost(RIGHT[name], dims).operations(W)


def _times(work: int, moved: int, dtype: str, machine: Machine, *efficiency: float) -> Times:
    compute, memory = efficiency
    return Times(**clockwork.times(work, moved, dtype, machine, compute, memory))


def _row(work: int, moved: tuple[int, ...], took: Times, clock: float) -> dict[str, Any]:
    return clockwork.row(work, list(moved), took._asdict(), clock)


def _tables() -> dict[str, bytes]:
    """The files of the course, by what counts and what is clocked."""

    def layer(*sizes: int) -> list[Operator]:
        return [(name, tuple(dims)) for name, dims in network(*sizes)]

    counts = (_elements, _operations, _times, _row)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_counts(str(home / TABLES[0]), _elements, _operations)  # type: ignore[arg-type]
        tables = [(TABLES[1], list(INSTANCES), "A100")]
        for part, batch, name in (("a3", 64, "A100"), ("a4", 4, "Jetson Nano")):
            llama, gpt3 = layer(batch, 512, 4096, 4096, 11008), layer(batch, 1, 2048, 12288, 49152)
            tables += [(f"output_{part}i.csv", llama, name), (f"output_{part}ii.csv", gpt3, name)]
        for file, operators, name in tables:
            write_table(str(home / file), operators, *counts, HANDOUT[name])  # type: ignore[arg-type]
        return {name: (home / name).read_bytes() for name in TABLES}


CLASS = (
    Example(student("Samuel", "Williams")),
    Example(student("Jack", "Dongarra"), (Change("t12", "(2 * K - 1)", "2 * K"),)),
    Example(
        student("Grace", "Murray"),
        (
            Change("t14", "variance = Y + (Y - 1) + w", "variance = Y + Y + w"),
            Change("t22", "d_model, d_ff)", "d_model, d_model)"),
        ),
    ),
    Example(
        student("Lynn", "Conway"),
        (
            Change("t21", "max(compute, memory)", "compute + memory"),
            Change("t24", "(past + new)", "new"),
        ),
    ),
    Example(student("John", "Cocke"), is_filled=False, leave_out=TABLES),
    Example(student("Frances", "Allen"), leave_out=("02_roofline.ipynb", *TABLES[1:])),
)
ABSENT = (student("Gene", "Amdahl"),)


def write_sample_class(folder: Path) -> Roster:
    """Make ``folder`` hold the class' hand-ins, its list and nothing else; gives the list."""
    return write_class(folder, "lab1a", CLASS, ABSENT, _tables())
