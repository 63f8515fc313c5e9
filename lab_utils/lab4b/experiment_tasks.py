"""Tasks of notebook 06: the analysis, a rewriter for real models, and the data."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from lab_utils.checks import BadAnswer, Case, Finding, Task
from lab_utils.kept import is_early
from lab_utils.lab4a.replies import changed_graph, graph_of, name_of, node_named, number
from lab_utils.lab4a.rewrite_judge import (
    by_name,
    changed_nodes,
    over_budget,
    unwritable,
    wrong_values,
)
from lab_utils.lab4b.candidate_tasks import seconds_of
from lab_utils.lab4b.experiments import SIZES, trace_model
from lab_utils.memory import live_bytes
from lab_utils.schedule import program_order

_COLUMNS = ("bytes", "idle_seconds", "recompute_seconds")


def _ask_analyse(function: Any, given: Mapping[str, Any]) -> Any:
    graph = graph_of(given["graph"])
    table = function(graph, seconds_of(graph, given))
    rows = getattr(table, "to_dict", lambda _: None)("records")
    if rows is None:
        raise BadAnswer(f"return a pandas DataFrame, not {type(table).__name__}")
    if missing := {"activation", *_COLUMNS} - set(table.columns):
        raise BadAnswer(f"the table has no column called {sorted(missing)[0]!r}")
    return {
        name_of(row["activation"], "activation"): [number(row[c], c) for c in _COLUMNS]
        for row in rows
    }


_LOOKS = (
    "The bytes that dropping it frees (task 5.1).",
    "The time of all operators that run after its last use in forward and before its first use "
    "in backward.",
    "The time of its path, each operator once (task 5.3).",
)


def _judge_analyse(case: Case, answer: Mapping[str, list[float]]) -> list[Finding]:
    wanted: Mapping[str, list[float]] = case.wanted["rows"]
    findings = [
        Finding(f"a row for {name}", "none", "One row for each candidate (task 5.1).")
        for name in answer
        if name not in wanted
    ]
    for name, right in wanted.items():
        if name not in answer:
            findings.append(Finding(f"no row for {name}", "one", "One row for each candidate."))
            continue
        for column, mine, value, look in zip(_COLUMNS, answer[name], right, _LOOKS, strict=True):
            if abs(mine - value) > 1e-6 * max(abs(value), 1):
                findings.append(
                    Finding(f"{name}: {column} {mine:g}", f"{name}: {column} {value:g}", look)
                )
    return findings


def _ask_recompute(function: Any, given: Mapping[str, Any]) -> Any:
    graph = graph_of(given["graph"])
    function(graph, [node_named(graph, name) for name in given["drop"]])
    return changed_graph(graph)


def _judge_recompute(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    base = graph_of(case.given["graph"])
    if found := unwritable(base, answer):
        return found
    mine = graph_of(answer["dot"])
    early = [n.name for n in base.nodes if n.op == "call_function" and is_early(n)]
    if found := changed_nodes(by_name(base), by_name(mine), early):
        return found
    schedule = program_order(mine)
    look = "Clones right before their first reader, in the order of the originals, and shared."
    return wrong_values(base, mine, schedule) + over_budget(
        mine, schedule, case.wanted["nbytes"], look
    )


def _ask_file(path: Any, _given: Mapping[str, Any]) -> Any:
    file = Path(path)
    return {"file": file.name, "text": file.read_text(encoding="utf-8") if file.is_file() else ""}


class _Data:
    """The rows of one method by model and batch size, and what is missing among them."""

    def __init__(self, answer: Mapping[str, str], part: str, column: str) -> None:
        rows = list(csv.DictReader(io.StringIO(answer["text"])))
        self.file, self.column = answer["file"], column
        self.rows = {(r.get("model"), r.get("method"), r.get("batch")): r for r in rows}
        sizes = {
            name: {(m, str(b)) for m in size[part] for b in size[_BATCHES[part]]}
            for name, size in SIZES.items()
        }
        there = {(r.get("model"), r.get("batch")) for r in rows}
        self.size = max(sizes, key=lambda name: (len(sizes[name] & there), name == "full"))
        self.models, self.batches = SIZES[self.size][part], SIZES[self.size][_BATCHES[part]]

    def missing(self, method: str) -> list[Finding]:
        for model in self.models:
            for batch in self.batches:
                if self.value(model, method, batch) is None:
                    row = f"{model}, {method}, batch {batch}"
                    return [
                        Finding(
                            f"{self.file} has no {self.column} for {row}",
                            "one row for each model, method and batch size",
                            "Run the cell that collects the rows; it goes on where it stopped.",
                        )
                    ]
        return []

    def value(self, model: str, method: str, batch: int) -> float | None:
        text = self.rows.get((model, method, str(batch)), {}).get(self.column)
        try:
            return float(text) if text else None
        except ValueError:
            return None

    def falling(self, method: str) -> list[Finding]:
        for model in self.models:
            line = [self.value(model, method, batch) or 0.0 for batch in self.batches]
            for batch, before, now in zip(self.batches[1:], line, line[1:], strict=False):
                if now < before:
                    look = "A larger batch holds more activations: is the row of another model?"
                    text = f"{model}, {method}: {now:,.0f} bytes at batch {batch}"
                    return [Finding(text, f"at least {before:,.0f}", look)]
        return []


_BATCHES = {"models": "batches", "timed": "timed_batches"}


@cache
def _peak(model: str, batch: int) -> int:
    graph = trace_model(model, batch)
    return live_bytes(graph, program_order(graph)).peak


def _judge_baseline(_case: Case, answer: Mapping[str, str]) -> list[Finding]:
    data = _Data(answer, "models", "peak_bytes")
    if found := data.missing("none") or data.falling("none"):
        return found
    for model in data.models:  # one row of each model is simulated again
        batch = data.batches[0]
        mine, right = data.value(model, "none", batch) or 0.0, _peak(model, batch)
        if abs(mine - right) > 1e-3 * right:
            look = "The peak of the traced step in program order, in bytes: simulate(graph, [])."
            return [Finding(f"{model}, batch {batch}: {mine:,.0f}", f"{right:,}", look)]
    return []


def _judge_recomputed(_case: Case, answer: Mapping[str, str]) -> list[Finding]:
    data = _Data(answer, "models", "peak_bytes")
    if found := data.missing("none") or data.missing("recomputed") or data.falling("recomputed"):
        return found
    dropped = _Data(answer, "models", "dropped_bytes")
    if found := dropped.missing("recomputed"):
        return found
    for model in data.models:
        for batch in data.batches:
            before = data.value(model, "none", batch) or 0.0
            after = data.value(model, "recomputed", batch) or 0.0
            total = dropped.value(model, "recomputed", batch) or 0.0
            row = f"{model}, batch {batch}: {after:,.0f} bytes"
            largest = batch == data.batches[-1]
            if after > before or (largest and after == before):
                look = "A plan lowers the peak, above all of a large batch: is it used?"
                return [Finding(row, f"less than {before:,.0f}", look)]
            if after < before - total:
                look = "No plan saves more than it drops: report the simulated peak."
                return [Finding(row, f"at least {before - total:,.0f}", look)]
    return []


def _judge_latency(_case: Case, answer: Mapping[str, str]) -> list[Finding]:
    data = {c: _Data(answer, "timed", c) for c in ("median", "min", "max", "repeats")}
    for method in ("none", "recomputed"):
        for column in data.values():
            if found := column.missing(method):
                return found
        for model in data["median"].models:
            for batch in data["median"].batches:
                low, mid, high, times = (
                    data[c].value(model, method, batch) or 0.0
                    for c in ("min", "median", "max", "repeats")
                )
                row = f"{model}, {method}, batch {batch}"
                if times < 3 or not 0 < low <= mid <= high:
                    look = "Use time_step(graph, repeats) with at least 3 repeats."
                    text = f"{row}: {low:g}, {mid:g}, {high:g} s of {times:g} runs"
                    return [Finding(text, "0 < min <= median <= max of 3 runs or more", look)]
    return []


TASKS = (
    Task("6.1", "the static analysis", 1, _ask_analyse, _judge_analyse),
    Task("6.2", "peaks without recomputation", 0.75, _ask_file, _judge_baseline),
    Task("6.3", "a rewriter for real models", 1, _ask_recompute, _judge_recompute),
    Task("6.4", "peaks with recomputation", 0.75, _ask_file, _judge_recomputed),
    Task("6.5", "the latency", 0.5, _ask_file, _judge_latency),
)
