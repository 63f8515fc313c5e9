"""What is right in notebook 01: kinds, lifetimes, the peak."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from torch import fx

from lab_utils.kit.task import OR, Case, Finding
from lab_utils.labs.graphs.replies import shared_graph
from lab_utils.steps.graph import Kind, Phase, operator_name, phase
from lab_utils.steps.kept import in_backward
from lab_utils.steps.storage import is_operation


def judge_classify(case: Case, answer: Mapping[str, str]) -> list[Finding]:
    """Task 1.1: the kind of every value."""
    graph = shared_graph(case.given["graph"])
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
    if all_swapped := _all_swapped(answer, wanted):
        return [
            _other_uses(n, answer[n], u, all_swapped) for n, u in wanted.items() if answer[n] != u
        ]
    nodes = {node.name: node for node in shared_graph(case.given["graph"]).nodes}
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
        if swapped := _swapped(answer[name], uses):
            findings.append(_other_uses(name, answer[name], uses, swapped))
            continue
        for part, mine, right in zip(_PARTS, answer[name], uses, strict=True):
            if mine != right:
                look = _why_use(nodes, part, mine, right)
                given, asked = f"{part} use of {name}: {mine}", f"{part} use of {name}: {right}"
                findings.append(Finding(given, asked, look))
    return findings


_Uses = list[str | None]
_USES = "Uses(first_forward, last_forward, first_backward, last_backward)"
_SWAPS: dict[str, Callable[[_Uses], _Uses]] = {
    f"Forward and backward are swapped: {_USES}.": lambda uses: [*uses[2:], *uses[:2]],
    f"First and last are swapped: {_USES}.": lambda uses: [uses[1], uses[0], uses[3], uses[2]],
}


def _other_uses(name: str, mine: _Uses, right: _Uses, look: str) -> Finding:
    given, asked = (f"uses of {name}: {', '.join(map(str, uses))}" for uses in (mine, right))
    return Finding(given, asked, look)


def _all_swapped(answer: Mapping[str, _Uses], wanted: Mapping[str, _Uses]) -> str:
    """What is swapped in every entry; empty where an entry is wrong in another way."""
    if answer == wanted or answer.keys() != wanted.keys():
        return ""
    for look, swap in _SWAPS.items():
        if all(answer[name] == swap(uses) for name, uses in wanted.items()):
            return look
    return ""


def _swapped(mine: _Uses, right: _Uses) -> str:
    """Why all four uses are right but stand in each other's places; empty where they do not."""
    if mine == right or len(set(right)) < len(right):
        return ""
    for look, swap in _SWAPS.items():
        if mine == swap(right):
            return look
    return f"The four stand in another order than in {_USES}." if set(mine) == set(right) else ""


def _why_use(nodes: dict[str, fx.Node], part: str, mine: str | None, right: str | None) -> str:
    if right is not None and phase(nodes[right]) is Phase.LOSS:
        return "The loss counts as forward."
    if mine in nodes and in_backward(nodes[mine]) != part.endswith("backward"):
        return "in_backward(node) tells the readers after the loss from those before."
    return "Operators that read it through a view count; views themselves do not."


def judge_peak(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.4: the peak."""
    wanted = case.wanted
    yours = f"{answer['nbytes']:,.0f} bytes at {answer['node']}"
    right = f"{wanted['nbytes']:,} bytes at {wanted['node']}"
    if answer["nbytes"] != wanted["nbytes"]:
        hints = [hint for hint, held in wanted["mistakes"].items() if held == answer["nbytes"]]
        look = "A storage is held from the step that allocates it to the last step that reads it."
        return [Finding(yours, right, OR.join(hints) or look)]
    if answer["node"] in wanted["later"]:
        look = "The peak lasts for several steps: the first of them counts."
        return [Finding(yours, right, look)]
    if answer["node"] != wanted["node"]:
        return [Finding(yours, right, "The node that runs while the peak is held.")]
    return _other_kinds(answer["node"], answer["by_kind"], wanted["by_kind"])


def _other_kinds(node: str, told: Mapping[str, float], wanted: Mapping[str, int]) -> list[Finding]:
    mine = {kind: held for kind, held in told.items() if held}
    if mine == wanted:
        return []
    odd = next(k for k in {**wanted, **mine} if mine.get(k, 0) != wanted.get(k, 0))
    look = "storage.kind tells what the value in a storage is for."
    if sum(mine.values()) != sum(wanted.values()):
        look = (
            f"Your kinds add up to {sum(mine.values()):,.0f} bytes, the peak is "
            f"{sum(wanted.values()):,}: count what is held in the step of {node}, and all of it."
        )
    yours = f"{mine.get(odd, 0):,.0f} bytes of {odd} at {node}"
    return [Finding(yours, f"{wanted.get(odd, 0):,} bytes of {odd}", look)]
