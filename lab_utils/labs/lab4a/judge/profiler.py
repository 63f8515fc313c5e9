"""What is right in task 1.3: a row for each operator, its bytes, its pretended time."""

from __future__ import annotations

import re
from typing import Any

from torch import fx

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.graphs.nodes import Names, by_name
from lab_utils.labs.graphs.replies import shared_graph
from lab_utils.labs.lab4a.ask.profiler import slowness
from lab_utils.steps.graph import operator_name, phase


def judge_profiler(case: Case, answer: list[dict[str, Any]]) -> list[Finding]:
    """Task 1.3: time and memory of each operator."""
    wanted: list[dict[str, Any]] = case.wanted["rows"]
    mine, right = [row["node"] for row in answer], [row["node"] for row in wanted]
    if mine != right:
        odd = next((n for n in right if n not in mine), None) or next(
            (n for n in mine if n not in right), "the order"
        )
        return [
            Finding(
                f"{len(mine)} row{'s' * (len(mine) != 1)}; {odd} differs",
                f"{len(right)} rows: one for each call_function node, in the order of the graph",
                "for node in self.module.graph.nodes: if node.op == 'call_function': …",
            )
        ]
    findings = _mislabelled(by_name(shared_graph(case.given["graph"])), answer)
    for row, other in zip(answer, wanted, strict=True):
        if row["bytes"] != other["bytes"]:
            findings.append(
                Finding(
                    f"{row['node']} allocates {row['bytes']:,.0f} bytes",
                    f"{other['bytes']:,} bytes",
                    "Only the storages that this node owns count; a view owns none.",
                )
            )
        if abs(row["seconds"] - other["seconds"]) > 1e-6 * other["seconds"]:
            findings.append(_why_seconds(case, row, other))
    return findings


def _mislabelled(nodes: Names, answer: list[dict[str, Any]]) -> list[Finding]:
    """Rows with another operator or phase than their node's, however they are spelt."""
    findings = []
    for row in answer:
        node = nodes[row["node"]]
        if not _names_operator(row["operator"], node):
            yours, wanted = f"{node.name}: operator {row['operator']}", operator_name(node)
            findings.append(Finding(yours, wanted, "operator is str(node.target)."))
        if row["phase"].rpartition(".")[2].lower() != phase(node):
            yours = f"{node.name}: phase {row['phase']}"
            findings.append(Finding(yours, str(phase(node)), "phase is str(phase(node))."))
    return findings


def _names_operator(told: str, node: fx.Node) -> bool:
    """Whether ``told`` is some usual way to write the operator of ``node``."""
    parts = operator_name(node).split(".")
    bare = parts[1] if len(parts) > 1 else parts[0]
    return re.search(rf"(?<!\w){re.escape(bare)}(?!\w)", told) is not None


def _why_seconds(case: Case, row: dict[str, Any], wanted: dict[str, Any]) -> Finding:
    warmup, repeats = case.given["warmup"], case.given["repeats"]
    counted = wanted["seconds"] * repeats
    runs = sorted(map(slowness, range(1, repeats + 1)))
    median = (runs[(repeats - 1) // 2] + runs[repeats // 2]) / 2 * counted / sum(runs)
    if row["seconds"] < 1e-3 * wanted["seconds"]:
        look = "The check runs on a pretended clock: read the time with clock()."
    elif abs(row["seconds"] - counted) < 1e-6 * counted:
        look = "That is the sum of the repeats: divide by their number."
    elif abs(row["seconds"] - median) < 1e-6 * median:
        look = "That is the median of the repeats: seconds is their mean."
    elif row["seconds"] > wanted["seconds"] * 10:
        look = f"The first {warmup} runs are to warm up: leave them out of the mean."
    else:
        look = "Time only super().run_node(node), and average over the repeats."
    return Finding(
        f"{row['node']} takes {row['seconds']:g} s", f"{wanted['seconds']:g} s (pretended)", look
    )
