"""What is right in notebook 02: what must run again, and clones of it in the backward pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.graphs.judge import (
    changed_nodes,
    late_reads,
    over_budget,
    rewired,
    unwritable,
    wrong_values,
)
from lab_utils.labs.graphs.judge.clones import clone_findings, too_much_work
from lab_utils.labs.graphs.judge.rewrite import Rewrite, by_names
from lab_utils.labs.graphs.judge.waste import dead_clones, wasted_clones
from lab_utils.labs.graphs.nodes import Names, by_name
from lab_utils.labs.graphs.replies import shared_graph
from lab_utils.steps.kept import is_early, lost_values
from lab_utils.steps.schedule import program_order


def judge_recompute_set(case: Case, answer: list[str]) -> list[Finding]:
    """Task 2.1: what must run again."""
    graph, kept = shared_graph(case.given["graph"]), set(case.given["kept"])
    nodes, wanted = by_name(graph), case.wanted["nodes"]
    looks = []
    for name in answer:
        if name in kept:
            looks.append(f"{name} is kept, so it does not run again.")
        elif name in nodes and nodes[name].op == "placeholder":
            looks.append(f"{name} is given to the step, so it is still there.")
        elif name not in wanted:
            looks.append(f"{case.given['target']} does not need {name}.")
    looks += [f"{name} must run again too." for name in wanted if name not in answer]
    if len(set(answer)) < len(answer):
        looks.append("A node that is needed twice runs only once.")
    place = {name: index for index, name in enumerate(answer)}
    for name in answer:
        for read in nodes[name].all_input_nodes if name in nodes else ():
            if place.get(read.name, -1) > place[name]:
                looks.append(f"{read.name} must run before {name}, which reads it.")
    return [Finding(str(answer), str(wanted), looks[0])] if looks else []


def judge_inject(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 2.2: clones in the backward pass."""
    base = shared_graph(case.given["graph"])
    if found := unwritable(base, answer):
        return found
    after = shared_graph(answer["dot"])
    before, nodes = by_name(base), by_name(after)
    clones: dict[str, str] = answer["clones"]
    lost = {n.name for n in lost_values(base, [before[d] for d in case.given["drop"]])}
    added = {name: node for name, node in nodes.items() if name not in before}

    findings = changed_nodes(before, nodes, before)
    findings += _missing_clones(base, lost, clones, added)
    rewrite = by_names(base, after, clones, case.given["drop"])
    wrong = clone_findings(rewrite)
    findings += [finding for found in wrong.values() for finding in found]
    findings = findings or _misplaced(base, after, clones)
    if findings:
        return findings
    mine = rewired(after, clones)
    if found := _wasted(rewrite, mine, case.wanted["work_budget"]):
        return found
    schedule = program_order(mine)
    look = "Insert each clone just before the first backward node that needs it, not earlier."
    return wrong_values(base, mine, schedule) or over_budget(
        mine, schedule, case.wanted["program_budget"], look
    )


def _wasted(rewrite: Rewrite, mine: fx.Graph, budget: int) -> list[Finding]:
    """What runs again for nothing in ``mine``, which is the answer with backward rewired."""
    node_of = {node.name: node for node in rewrite.after.nodes}
    reads = {
        node_of[node.name]: [node_of[read.name] for read in node.all_input_nodes]
        for node in mine.nodes
        if node.name in node_of
    }
    _, needed = dead_clones(reads, rewrite.clones)
    return wasted_clones(rewrite, reads) or too_much_work(needed, budget)


def _missing_clones(
    base: fx.Graph, lost: set[str], clones: Mapping[str, str], added: Names
) -> list[Finding]:
    findings = []
    for reader, value in late_reads(base, lost):
        if value.name not in clones:
            findings.append(
                Finding(
                    f"no clone of {value.name}",
                    f"a clone of {value.name}, which {reader.name} reads in backward",
                    "The dict must map every lost value that backward reads to its clone.",
                )
            )
    nodes = by_name(base)
    for original, clone in clones.items():
        if original in nodes and not is_early(nodes[original]):
            look = "Only forward values that are lost are rebuilt."
            findings.append(Finding(f"a clone of {original}", "none: it is a gradient", look))
        if clone not in added:
            findings.append(
                Finding(
                    f"{original} is mapped to {clone}, which is not a new node",
                    f"a node that you added with graph.node_copy({original}, …)",
                    "Clones are new nodes; kept values and weights need none.",
                )
            )
    return findings


def _misplaced(base: fx.Graph, after: fx.Graph, clones: Mapping[str, str]) -> list[Finding]:
    place = {node.name: index for index, node in enumerate(after.nodes)}
    last_early = max(place[n.name] for n in base.nodes if n.op == "call_function" and is_early(n))
    findings = []
    for clone in clones.values():
        if place[clone] < last_early:
            findings.append(
                Finding(
                    f"{clone} runs in the forward pass",
                    f"{clone} runs in backward",
                    "A value that is rebuilt at once is not saved. Insert before its reader.",
                )
            )
    for reader, value in late_reads(after, clones):
        if place[clones[value.name]] > place[reader.name]:
            findings.append(
                Finding(
                    f"{clones[value.name]} stands after {reader.name}",
                    f"before {reader.name}, which will read it",
                    "Insert before the first reader, and share that clone with the later ones.",
                )
            )
    return findings
