"""Tasks of notebook 01: kinds, lifetimes, the profiler, the peak, and the file."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.kit.checks import BadAnswer, Case, Finding, Task
from lab_utils.kit.guard import to_be_written
from lab_utils.labs.graphs.replies import (
    fields_told,
    graph_of,
    kind_name,
    mapping,
    name_of,
    number,
    optional_name,
    unchanged,
)
from lab_utils.labs.lab4a import profiler_task, task_pictures
from lab_utils.labs.lab4a.records import Peak, Uses
from lab_utils.steps.graph import Kind, Phase, operator_name, phase
from lab_utils.steps.kept import in_backward
from lab_utils.steps.storage import is_operation


def _ask_classify(function: Any, given: Mapping[str, Any]) -> Any:
    graph = graph_of(given["graph"])
    for node in graph.nodes:
        node.meta.pop("kind", None)
    with unchanged(graph):
        try:
            told = function(graph)
        except KeyError as error:
            if error.args != ("kind",):
                raise
            look = "The kind is what you are to find out: neither kind(node) nor meta knows it."
            raise BadAnswer("KeyError: 'kind'", look) from None
    kinds = mapping(told, "what you return").items()
    return {name_of(n, "each key", graph): kind_name(k, "each value") for n, k in kinds}


def _judge_classify(case: Case, answer: Mapping[str, str]) -> list[Finding]:
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


def _ask_lifetimes(function: Any, given: Mapping[str, Any]) -> Any:
    graph = graph_of(given["graph"])
    with unchanged(graph):
        told = function(graph)
    return {
        name_of(node, "each key", graph): [
            optional_name(use, "each part of Uses", graph)
            for use in fields_told(uses, "each value", Uses)
        ]
        for node, uses in mapping(told, "what you return").items()
    }


_PARTS = ("first forward", "last forward", "first backward", "last backward")


def _judge_lifetimes(case: Case, answer: Mapping[str, list[str | None]]) -> list[Finding]:
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


def _ask_peak(function: Any, given: Mapping[str, Any]) -> Any:
    graph = graph_of(given["graph"])
    with unchanged(graph), to_be_written("peak_breakdown", "live_bytes"):
        told = function(graph)
    nbytes, node, by_kind = fields_told(told, "what you return", Peak)
    kinds = mapping(by_kind, "by_kind").items()
    return {
        "nbytes": number(nbytes, "nbytes"),
        "node": name_of(node, "node"),
        "by_kind": {kind_name(k, "each key of by_kind"): number(v, "bytes") for k, v in kinds},
    }


def _judge_peak(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
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


TASKS = (
    Task(
        "1.1",
        "the kind of every value",
        1,
        _ask_classify,
        _judge_classify,
        task_pictures.kinds,
        takes="graph",
        returns="a dict from node to Kind",
    ),
    Task(
        "1.2",
        "first and last uses",
        1,
        _ask_lifetimes,
        _judge_lifetimes,
        task_pictures.lifetimes,
        takes="graph",
        returns="a dict from node to Uses",
    ),
    profiler_task.TASK,
    Task(
        "1.4",
        "the peak",
        1,
        _ask_peak,
        _judge_peak,
        task_pictures.peak,
        takes="graph",
        returns="Peak(nbytes, node, by_kind)",
    ),
)
