"""What is right in notebook 02: what must run again, and clones of it in the backward pass."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.graphs.judge import (
    Origins,
    changed_nodes,
    late_reads,
    over_budget,
    rewired,
    unwritable,
    work,
    wrong_values,
)
from lab_utils.labs.graphs.nodes import Names, by_name, is_clone
from lab_utils.labs.graphs.replies import graph_of
from lab_utils.steps.graph import (
    operator_name,
)
from lab_utils.steps.kept import is_early, lost_values
from lab_utils.steps.schedule import program_order


def judge_recompute_set(case: Case, answer: list[str]) -> list[Finding]:
    """Task 2.1: what must run again."""
    graph, kept = graph_of(case.given["graph"]), set(case.given["kept"])
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
    base = graph_of(case.given["graph"])
    if found := unwritable(base, answer):
        return found
    after = graph_of(answer["dot"])
    before, nodes = by_name(base), by_name(after)
    clones: dict[str, str] = answer["clones"]
    lost = {n.name for n in lost_values(base, [before[d] for d in case.given["drop"]])}
    added = {name: node for name, node in nodes.items() if name not in before}

    findings = changed_nodes(before, nodes, before)
    findings += _missing_clones(base, lost, clones, added)
    findings += _wrong_clones(before, after, clones, added)
    findings += _lost_reads(added, lost, set(case.given["drop"]))
    if findings:
        return findings
    findings += _misplaced(base, after, clones)
    if findings:
        return findings
    mine = rewired(after, clones)
    schedule = program_order(mine)
    findings += wrong_values(base, mine, schedule)
    findings += over_budget(
        mine,
        schedule,
        case.wanted["program_budget"],
        "Insert each clone just before the first backward node that needs it, not earlier.",
    )
    findings += _dead_clones(mine, list(added))
    if work(added.values()) > case.wanted["work_budget"]:
        findings.append(
            Finding(
                f"{work(added.values())} operators run again",
                f"at most {case.wanted['work_budget']}",
                "Stop the walk at kept values, and share a clone between its readers.",
            )
        )
    return findings


def _dead_clones(graph: fx.Graph, added: list[str]) -> list[Finding]:
    """Clones that nobody needs; a few (of a block's result, say) are forgiven."""
    nodes = by_name(graph)
    needed: set[fx.Node] = set()
    queue = [n for n in graph.nodes if n.op == "output" or n.name not in added]
    while queue:
        for read in queue.pop().all_input_nodes:
            if read.name in added and read not in needed:
                needed.add(read)
                queue.append(read)
    dead = [nodes[name] for name in added if nodes[name] not in needed]
    if work(dead) <= work(needed) / 2:
        return []
    return [
        Finding(
            f"{len(dead)} clones that no backward node reads, such as {dead[0].name}",
            "clones of what backward needs, and no others",
            "Clone a node once, and share the clone between its readers.",
        )
    ]


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
        elif clone in added and not is_clone(added[clone]):
            look = "mark_recomputed(clone) notes its phase, and colours it."
            findings.append(Finding(f"{clone} is not marked", "a marked clone", look))
        if clone not in added:
            findings.append(
                Finding(
                    f"{original} is mapped to {clone}, which is not a new node",
                    f"a node that you added with graph.node_copy({original}, …)",
                    "Clones are new nodes; kept values and weights need none.",
                )
            )
    return findings


def _wrong_clones(
    before: Names, after: fx.Graph, clones: Mapping[str, str], added: Names
) -> list[Finding]:
    origins = Origins(before, after)
    findings = []
    for original, clone in clones.items():
        if original not in before or clone not in added or origins.same(original, clone):
            continue
        old, new = before[original], added[clone]
        if operator_name(old) != operator_name(new):
            yours, wanted = operator_name(new), operator_name(old)
            findings.append(Finding(f"{clone} runs {yours}", wanted, f"{original} runs {wanted}."))
            continue
        pairs = zip(old.all_input_nodes, new.all_input_nodes, strict=False)
        for was, now in pairs:
            if not origins.same(was.name, now.name):
                findings.append(
                    Finding(
                        f"{clone} reads {now.name}",
                        f"{was.name} or a clone of it, in the same place",
                        f"{original} reads {was.name} there: in node_copy map each argument to "
                        "its clone, or to itself.",
                    )
                )
                break
        else:
            look = "Copy the node with all its arguments."
            findings.append(Finding(f"{clone} has other arguments", f"those of {original}", look))
    return findings


def _lost_reads(added: Names, lost: set[str], drop: set[str]) -> list[Finding]:
    findings = []
    for clone in added.values():
        for read in clone.all_input_nodes:
            if read.name in lost:
                why = "is dropped" if read.name in drop else "nobody keeps until backward"
                findings.append(
                    Finding(
                        f"{clone.name} reads {read.name}, which {why}",
                        f"{clone.name} reads a clone of {read.name}",
                        "A clone that reads a lost value keeps it in memory after all.",
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
