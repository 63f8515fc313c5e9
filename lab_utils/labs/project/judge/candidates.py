"""What is right in tasks 5.1 to 5.3."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.graphs.replies import graph_of
from lab_utils.steps.kept import in_backward, is_early
from lab_utils.steps.rerun import rebuildable
from lab_utils.steps.storage import is_operation, owns_memory, storages

#: What a candidate knows, as plain data.
Fields = dict[str, Any]


def judge_candidates(case: Case, answer: Mapping[str, float]) -> list[Finding]:
    """Task 5.1: the candidates."""
    graph = graph_of(case.given["graph"])
    nodes = {node.name: node for node in graph.nodes}
    wanted: Mapping[str, int] = case.wanted["nbytes"]
    findings = [
        Finding(f"{name} is a candidate", f"{name} is none", _why_none(graph, nodes.get(name)))
        for name in answer
        if name not in wanted
    ]
    for name, nbytes in wanted.items():
        if name not in answer:
            look = f"{name} owns memory that backward reads, and it can be rebuilt."
            findings.append(Finding(f"{name} is no candidate", f"{name} is one", look))
        elif answer[name] != nbytes:
            findings.append(
                Finding(
                    f"{answer[name]:,.0f} bytes for {name}",
                    f"{nbytes:,} bytes",
                    "Count the storages that it owns and that backward reads, each once.",
                )
            )
    return findings


def _why_none(graph: fx.Graph, node: fx.Node | None) -> str:
    if node is None:
        return "The graph has no such node."
    if node.op == "placeholder" or not is_early(node):
        return f"{node.name} is not made in forward."
    if not owns_memory(node):
        return f"{node.name} is a view: it owns no bytes, so dropping it saves nothing."
    memory = storages(graph)
    late = {s for n in graph.nodes if in_backward(n) for r in n.all_input_nodes for s in memory[r]}
    if late.isdisjoint(memory[node]):
        return f"Backward never reads {node.name}: it dies in forward, dropping it saves nothing."
    if node not in rebuildable(graph):
        return f"{node.name} cannot be rebuilt with the same value: see rebuildable(graph)."
    return f"{node.name} is a result of the step: it is handed back."


def judge_rebuild(case: Case, answer: Mapping[str, list[str]]) -> list[Finding]:
    """Task 5.2: sources and path."""
    nodes = {node.name: node for node in graph_of(case.given["graph"]).nodes}
    wanted, target = case.wanted, case.given["target"]
    path = [n for n in answer["path"] if n not in nodes or is_operation(nodes[n])]
    findings = []
    if path_look := _why_path(path, wanted["path"], wanted["sources"], target):
        findings.append(Finding(f"path {path}", f"path {wanted['path']}", path_look))
    if answer["sources"] != sorted(wanted["sources"]):
        mine = set(answer["sources"])
        odd = sorted(mine - set(wanted["sources"]))
        if odd and odd[0] in nodes and not owns_memory(nodes[odd[0]]) and _is_call(nodes[odd[0]]):
            look = f"{odd[0]} is a view: tell the node that owns its memory."
        elif odd:
            look = f"{odd[0]} is not where the walk stops."
        else:
            look = f"The walk stops at {sorted(set(wanted['sources']) - mine)[0]}, which is there."
        findings.append(
            Finding(f"sources {answer['sources']}", f"sources {sorted(wanted['sources'])}", look)
        )
    return findings


def _is_call(node: fx.Node) -> bool:
    return node.op == "call_function"


def _why_path(path: list[str], wanted: list[str], sources: list[str], target: str) -> str | None:
    if sorted(path) == sorted(wanted):
        return None
    if len(set(path)) < len(path):
        twice = next(name for name in path if path.count(name) > 1)
        return f"{twice} is shared by two branches, but runs once: remember what you have visited."
    extra = [name for name in path if name not in wanted]
    if extra and extra[0] in sources:
        return f"{extra[0]} is a source: it is still there, and does not run again."
    if extra:
        return f"{target} does not need {extra[0]}."
    missing = next(name for name in wanted if name not in path)
    return "The path ends with the value itself." if missing == target else f"{missing} runs too."


_LOOKS = {
    "nbytes": "The bytes that candidates(graph) tells.",
    "last_forward": "The last node of forward that makes or reads a value in its memory.",
    "first_backward": "The first node of backward that reads a value in its memory.",
    "last_backward": "The last node of backward that reads a value in its memory.",
    "sources": "What rebuild(node, kept, memory) tells, with nothing dropped yet.",
    "seconds": "The time of all operators of its path, each counted once.",
    "count": "Every dropped value is rebuilt at least once: the count starts at 1.",
    "total": "count × seconds.",
}


def differences(mine: Fields, wanted: Fields, hints: Mapping[str, float]) -> list[Finding]:
    """One finding for the first field that differs; ``hints``: what a wrong time comes from."""
    name = wanted["node"]
    for field, look in _LOOKS.items():
        yours, right = mine[field], wanted[field]
        if field in ("seconds", "total"):
            if abs(yours - right) <= 1e-6 * max(abs(right), 1e-12):
                continue
            look = next((h for h, v in hints.items() if abs(v - yours) < 1e-6 * abs(v)), look)
        elif yours == right:
            continue
        return [Finding(f"{name}: {field} {yours}", f"{name}: {field} {right}", look)]
    return []


def judge_describe(case: Case, answer: list[Fields]) -> list[Finding]:
    """Task 5.3: cost and ratio."""
    mine = {fields["node"]: fields for fields in answer}
    findings = [
        Finding(f"a candidate {name}", "none of that name", "Use candidates(graph).")
        for name in mine
        if name not in case.wanted["candidates"]
    ]
    for name, wanted in case.wanted["candidates"].items():
        if name not in mine:
            look = "One Candidate for each that candidates(graph) finds."
            findings.append(Finding(f"nothing for {name}", f"a Candidate for {name}", look))
        else:
            findings += differences(mine[name], wanted, case.wanted["mistakes"][name])
    return findings
