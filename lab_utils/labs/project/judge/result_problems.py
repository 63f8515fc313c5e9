"""What is wrong with the CSV files of notebook 06: rows that are missing, or that cannot be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Finding
from lab_utils.labs.project.experiments import static_bytes, trace_model
from lab_utils.labs.project.judge.results import Key, Problems, Results
from lab_utils.steps.memory import live_bytes
from lab_utils.steps.schedule import program_order

#: Peak and dropped bytes of a plan: of which model and batch, and the names that it drops.
Simulate = Callable[[str, int, Sequence[str]], tuple[int, int]]
_UNITS = {"kB": 1e3, "KiB": 2**10, "MB": 1e6, "MiB": 2**20, "GB": 1e9, "GiB": 2**30}
#: How far bytes may be from those of the traced step: they do not depend on the machine.
EXACT = 1e-3
TIMES = ("min", "median", "max")
#: Units in which times are mistaken for seconds, by how many make one.
_TIME_UNITS = {"milliseconds": 1e3, "microseconds": 1e6, "nanoseconds": 1e9}
#: How far two times that should be the same may be apart, as a factor.
_NEAR = 2.0


@cache
def traced(model: str, batch: int) -> fx.Graph:
    """The step of a model, traced once."""
    return trace_model(model, batch)


@cache
def traced_peak(model: str, batch: int) -> int:
    """The peak of a model's step when nothing is recomputed."""
    graph = traced(model, batch)
    return live_bytes(graph, program_order(graph)).peak


def traced_static(model: str, batch: int) -> int:
    """Bytes of what a model's step is given."""
    return static_bytes(traced(model, batch))


def baseline_problems(data: Results) -> Problems:
    """What is wrong with the peaks without recomputation."""
    early = data.missing("none", "static_bytes") | data.missing("none", "peak_bytes")
    if early := early or data.falling("none"):
        return early
    for model in data.models:  # one row of each model is simulated again
        key = Key(model, "none", data.batches[0])
        static, peak = traced_static(model, key.batch), traced_peak(model, key.batch)
        look = "The peak of the traced step in program order, in bytes: simulate(graph, [])."
        if found := _other_bytes(data, key, "peak_bytes", peak, look, peak - static):
            return found
        look = "What the step is given, in bytes: static_bytes(graph)."
        if found := _other_bytes(data, key, "static_bytes", static, look):
            return found
    return data.unsteady("none")


def _other_bytes(
    data: Results, key: Key, column: str, right: int, look: str, above: int = 0
) -> Problems:
    """A problem if a column is another number of bytes; ``above``: what it is without static."""
    mine = data.value(key, column) or 0.0
    if abs(mine - right) <= EXACT * right:
        return {}
    for unit, size in _UNITS.items():
        if abs(mine * size - right) <= 0.01 * right:
            look = f"That is in {unit}: the column is in bytes."
    if above and abs(mine - above) <= EXACT * above:
        look = "That is the peak above static memory: weights and optimizer state count, too."
    text = f"{key.model}, batch {key.batch}: {column} {mine:,.10g}"
    return {key: Finding(text, f"{right:,}", look)}


def recomputed_problems(data: Results, simulate: Simulate | None = None) -> Problems:
    """What is wrong with the peaks with recomputation, beside those without.

    With ``simulate`` the plan of each model's smallest batch is simulated again.
    """
    early = data.missing("none", "peak_bytes") | data.missing("recomputed", "peak_bytes")
    early = early or data.missing("recomputed", "dropped_bytes") or _without_plan(data)
    early = early or _impossible(data) or data.falling("recomputed")
    if early or simulate is None:
        return early
    for model in data.models:
        if found := _otherwise_simulated(data, model, simulate):
            return found
    return {}


def _without_plan(data: Results) -> Problems:
    look = "The names of what the plan drops, separated by spaces: the plan is simulated again."
    found = {}
    for key in data.keys("recomputed"):
        names, count = data.text(key, "plan").split(), data.value(key, "dropped") or 0.0
        if len(names) != count:
            text = f"{key}: dropped {count:g}, plan with {len(names)} names"
            found[key] = Finding(text, f"{count:g} names", look)
    return found


def _impossible(data: Results) -> Problems:
    found = {}
    for key in data.keys("recomputed"):
        before = data.value(key._replace(method="none"), "peak_bytes") or 0.0
        after = data.value(key, "peak_bytes") or 0.0
        total = data.value(key, "dropped_bytes") or 0.0
        row = f"{key.model}, batch {key.batch}: {after:,.0f} bytes"
        largest = key.batch == data.batches[-1]
        if after > before or (largest and after == before):
            look = (
                "The peak with recomputation is not below the one without. A plan lowers it, above "
                "all of a large batch: is the plan used, are the two rows swapped?"
            )
            found[key] = Finding(row, f"less than {before:,.0f}", look)
        elif after < before - total:
            look = "No plan saves more than it drops: report the simulated peak."
            found[key] = Finding(row, f"at least {before - total:,.0f}", look)
    return found


def _otherwise_simulated(data: Results, model: str, simulate: Simulate) -> Problems:
    key = Key(model, "recomputed", data.batches[0])
    again = f"The plan of {model}, batch {key.batch}, was traced and simulated again"
    try:
        peak, dropped = simulate(model, key.batch, data.text(key, "plan").split())
    except LabError as error:
        return {key: Finding(f"{key}: {error}", "names of candidates", f"{again}.")}
    look = f"{again}: this is its peak, recompute buffers included. Is the row of another plan?"
    if found := _other_bytes(data, key, "peak_bytes", peak, look):
        return found
    look = f"{again}: these are the sizes of what it drops, in bytes."
    return _other_bytes(data, key, "dropped_bytes", dropped, look)


def latency_problems(data: Results) -> Problems:
    """What is wrong with the times."""
    columns, methods = (*TIMES, "repeats"), ("none", "recomputed")
    absent = [data.missing(method, column) for method in methods for column in columns]
    found = {key: finding for one in reversed(absent) for key, finding in one.items()}
    if found:
        return {key: found[key] for method in methods for key in data.keys(method) if key in found}
    for key in (key for method in methods for key in data.keys(method)):
        low, mid, high, times = (data.value(key, c) or 0.0 for c in columns)
        text = f"{key}: {low:g}, {mid:g}, {high:g} s of {times:g} runs"
        wanted = "0 < min <= median <= max of 3 runs or more"
        if times < 3 or not 0 < low <= mid <= high:
            look = "Use time_step(graph, repeats) with at least 3 repeats."
            found[key] = Finding(text, wanted, look)
        elif low == high:
            look = "No two runs take the same time to the last digit: are these measured?"
            found[key] = Finding(text, "times of several runs", look)
        elif unit := _other_unit(data, key):
            look = f"That is in {unit}: the columns are in seconds."
            found[key] = Finding(text, "seconds", look)
        elif key.method != "none" and _is_copy(data, key):
            look = "These are the times without recomputation, to the last digit: measure both."
            found[key] = Finding(text, "times of the rewritten step", look)
    return found


def _is_copy(data: Results, key: Key) -> bool:
    plain = key._replace(method="none")
    return all(data.value(key, column) == data.value(plain, column) for column in TIMES)


def _other_unit(data: Results, key: Key) -> str:
    """The unit of a row whose times do not add up to its total, but would in that unit.

    A busy machine is slow in both, so that this tells nothing from slowness.
    """
    low, high, times = (data.value(key, column) or 0.0 for column in ("min", "max", "repeats"))
    total = data.value(key, "total")
    if total is None or low * times <= _NEAR * total:
        return ""
    return next(
        (
            unit
            for unit, size in _TIME_UNITS.items()
            if low * times / size <= _NEAR * total <= _NEAR**2 * high * times / size
        ),
        "another unit",
    )
