"""How long an operator takes, and when a batch crosses the ridge: by trying, not by a formula."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from autograder.labs.lab1a.torch_layer import DTYPES
from lab_utils.instruments.roofline import Machine

_STEPS = 200  # halvings: far beyond what a float can tell


def _first_moment(work: int, speed: Fraction) -> Fraction:
    """The moment at which ``speed`` a second has done ``work``, by halving an interval."""
    if not work:
        return Fraction(0)
    low, high = Fraction(0), Fraction(1)
    while speed * high < work:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if speed * middle >= work else (middle, high)
    return high


def times(
    operations: int,
    elements: int,
    dtype: str,
    machine: Machine,
    compute_eff: float,
    memory_eff: float,
) -> dict[str, Any]:
    """Seconds of arithmetic, of memory and of both at once; what binds, by making one faster."""
    nbytes = elements * DTYPES[dtype].itemsize

    def both(of: Machine) -> tuple[Fraction, Fraction]:
        arithmetic = _first_moment(operations, Fraction(of.rate(dtype)) * Fraction(compute_eff))
        traffic = _first_moment(nbytes, Fraction(of.bandwidth) * Fraction(memory_eff))
        return arithmetic, traffic

    compute, memory = both(machine)
    faster = replace(machine, rates={**machine.rates, dtype: machine.rate(dtype) * 1.0001})
    binds = "compute" if max(both(faster)) < max(compute, memory) else "memory"
    return {
        "compute": float(compute),
        "memory": float(memory),
        "execution": float(max(compute, memory)),
        "intensity": operations / nbytes,
        "bound": binds,
    }


def row(operations: int, moved: list[int], took: dict[str, Any], clock: float) -> dict[str, Any]:
    """A row of the course's table, unit by unit and exactly, rounded at the very end."""
    exact = {name: Fraction(took[name]) for name in ("compute", "memory", "execution")}
    elements, cycles = [Fraction(n) for n in moved], Fraction(clock)
    million, binary = Fraction(10**6), Fraction(2**20)
    sizes = {
        f"{name} (MB)": n / binary
        for name, n in zip(("Input_a", "Input_w", "Output"), elements, strict=True)
    }
    numbers = {
        "C/M ratio": exact["compute"] / exact["memory"],
        "Op Intensity": operations / sum(elements),
        "Latency (msec)": exact["execution"] / Fraction(1, 1000),
        "Cycles": exact["execution"] / (1 / cycles),
        "Num ops (MFLOP)": operations / million,
        **sizes,
        "Total Data (MB)": sum(sizes.values()),
        "Throughput (Tflops)": operations / exact["execution"] / million**2,
        "Compute Cycles": exact["compute"] / (1 / cycles),
        "Memory Cycles": exact["memory"] / (1 / cycles),
    }
    bound = {"compute": "C", "memory": "M"}[took["bound"]]
    return {"Bound": bound, **{name: float(number) for name, number in numbers.items()}}


MOST = 20_000  # as far as the scan goes, batch by batch
FAR = 10**18


def ridge_batch(K: int, N: int, dtype: str, machine: Machine) -> int | None:
    """The first batch on which arithmetic takes as long as memory; None if none does."""
    item = DTYPES[dtype].itemsize
    ridge = Fraction(machine.rate(dtype)) / Fraction(machine.bandwidth)
    above, below = ridge.denominator, ridge.numerator

    def is_across(batch: int) -> bool:
        nbytes = item * (batch * K + K * N + batch * N)
        return 2 * batch * K * N * above >= nbytes * below

    for batch in range(1, MOST):
        if is_across(batch):
            return batch
    if is_across(FAR):
        raise ValueError(f"it crosses somewhere beyond {MOST:,}: take another case")
    return None
