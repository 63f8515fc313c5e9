"""What is right in notebook 01: kinds, lifetimes, the peak."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.graphs.replies import graph_of
from lab_utils.steps.graph import Kind, Phase, operator_name, phase
from lab_utils.steps.kept import in_backward
from lab_utils.steps.storage import is_operation


def judge_classify(case: Case, answer: Mapping[str, str]) -> list[Finding]:
    """Task 1.1: the kind of every value."""
    graph = graph_of(case.given["graph"])
    findings = []
    nodes = {node.name: node for node in graph.nodes}
    for name, wanted in case.wanted["kinds"].items():
        node, yours = nodes[name], answer.get(name)
        if yours != wanted:
            findings.append(
                Finding(
                    f"{node.name}: {yours or 'no kind at all'}",
                    f"{node.name}: {wanted}",
                    _why_kind(node, wanted),
                )
            )
    return findings


def _why_kind(node: fx.Node, wanted: str) -> str:
    if node.op == "placeholder":
        return f'{node.name} is given to the step; its source is "{node.meta.get("source")}".'
    if wanted == Kind.GRAD_WEIGHT:
        return f"One of the step's outputs grad:… lives in the memory of {node.name}."
    if node.target is operator.getitem:
        return "Its operator makes several storages; look at the one that this node lives in."
    if not is_operation(node):
        read = node.all_input_nodes[0].name
        return f"{node.name} ({operator_name(node)}) is a view: it is of the kind of {read}."
    if phase(node) is Phase.OPTIMIZER:
        return f"{node.name} runs in the update; what memory does its result live in?"
    return f"{node.name} is made in the {phase(node)} phase."


_PARTS = ("first forward", "last forward", "first backward", "last backward")


def judge_lifetimes(case: Case, answer: Mapping[str, list[str | None]]) -> list[Finding]:
    """Task 1.2: first and last uses."""
    wanted: Mapping[str, list[str | None]] = case.wanted["uses"]
    nodes = {node.name: node for node in graph_of(case.given["graph"]).nodes}
    findings = [
        Finding(f"{name} has an entry", "no entry", "It is not memory that an activation owns.")
        for name in answer
        if name not in wanted
    ]
    for name, uses in wanted.items():
        if name not in answer:
            look = "Every activation that owns memory has an entry."
            findings.append(Finding(f"nothing for {name}", f"an entry for {name}", look))
            continue
        for part, mine, right in zip(_PARTS, answer[name], uses, strict=True):
            if mine != right:
                look = _why_use(nodes, part, mine, right)
                given, asked = f"{part} use of {name}: {mine}", f"{part} use of {name}: {right}"
                findings.append(Finding(given, asked, look))
    return findings


def _why_use(nodes: dict[str, fx.Node], part: str, mine: str | None, right: str | None) -> str:
    if right is not None and phase(nodes[right]) is Phase.LOSS:
        return "The loss counts as forward."
    if mine in nodes and in_backward(nodes[mine]) != part.endswith("backward"):
        return "in_backward(node) tells the readers after the loss from those before."
    return "Operators that read it through a view count; views themselves do not."


def judge_peak(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.4: the peak."""
    wanted = case.wanted
    if answer["nbytes"] != wanted["nbytes"]:
        look = next(
            (hint for hint, nbytes in wanted["mistakes"].items() if nbytes == answer["nbytes"]),
            "A storage is held from the step that allocates it to the last step that reads it.",
        )
        return [Finding(f"{answer['nbytes']:,.0f} bytes", f"{wanted['nbytes']:,} bytes", look)]
    findings = []
    if answer["node"] not in wanted["nodes"]:
        look = "The node that runs while the peak is held."
        findings.append(Finding(f"at {answer['node']}", f"at {wanted['nodes'][0]}", look))
    mine = {kind: held for kind, held in answer["by_kind"].items() if held}
    if not findings and mine != wanted["by_kind"][answer["node"]]:
        right = wanted["by_kind"][answer["node"]]
        odd = next(k for k in {**right, **mine} if mine.get(k, 0) != right.get(k, 0))
        findings.append(
            Finding(
                f"{mine.get(odd, 0):,.0f} bytes of {odd}",
                f"{right.get(odd, 0):,} bytes of {odd}",
                "storage.kind tells what the value in a storage is for.",
            )
        )
    return findings
