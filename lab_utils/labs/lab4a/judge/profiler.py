"""What is right in task 1.3: a row for each operator, its bytes, its pretended time."""

from __future__ import annotations

from typing import Any

from lab_utils.kit.task import Case, Finding


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
    findings = []
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


def _why_seconds(case: Case, row: dict[str, Any], wanted: dict[str, Any]) -> Finding:
    warmup, repeats = case.given["warmup"], case.given["repeats"]
    unit = 2 * wanted["seconds"] / (repeats + 1)
    counted = repeats * (repeats + 1) / 2 * unit
    if row["seconds"] < 1e-3 * wanted["seconds"]:
        look = "The check runs on a pretended clock: read the time with clock()."
    elif abs(row["seconds"] - counted) < 1e-6 * counted:
        look = "That is the sum of the repeats: divide by their number."
    elif row["seconds"] > wanted["seconds"] * 10:
        look = f"The first {warmup} runs are to warm up: leave them out of the mean."
    else:
        look = "Time only super().run_node(node), and average over the repeats."
    return Finding(
        f"{row['node']} takes {row['seconds']:g} s", f"{wanted['seconds']:g} s (pretended)", look
    )
