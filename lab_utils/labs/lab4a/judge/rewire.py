"""What is right in notebooks 03 and 04: backward reads the clones, and the clones wait."""

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
from lab_utils.labs.graphs.nodes import by_name
from lab_utils.labs.graphs.replies import graph_of
from lab_utils.steps.compare.reach import ForcedOrder
from lab_utils.steps.graph import (
    Phase,
    clear_control_dependencies,
    control_dependencies,
    copy_graph,
    phase,
)
from lab_utils.steps.kept import in_backward
from lab_utils.steps.schedule import Schedule, as_soon_as_possible, program_order
from lab_utils.steps.storage import is_operation


def judge_rewire(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 3.1: backward reads the clones."""
    given = graph_of(case.given["graph"])
    if found := unwritable(given, answer):
        return found
    after = graph_of(answer["dot"])
    before, nodes = by_name(given), by_name(after)
    clones: dict[str, str] = case.given["clones"]
    findings = [
        Finding(f"a new node {name}", "no new node", "This task only changes who reads what.")
        for name in nodes
        if name not in before
    ]
    stay = [n.name for n in given.nodes if n.op != "output" and not in_backward(n)]
    dead = {name for name in stay if name in clones.values() and name not in nodes}
    findings += changed_nodes(before, nodes, [name for name in stay if name not in dead])
    for reader, value in late_reads(after, clones):
        if reader.name in before:
            findings.append(
                Finding(
                    f"{reader.name} still reads {value.name}",
                    f"{reader.name} reads {clones[value.name]}",
                    f"As long as one backward node reads {value.name}, it stays in memory.",
                )
            )
    wanted = by_name(rewired(given, clones))
    if not findings:
        late = [n.name for n in given.nodes if n.op == "call_function" and in_backward(n)]
        findings += changed_nodes(wanted, nodes, late)
    if findings:
        return findings
    schedule = program_order(after)
    return wrong_values(given, after, schedule) + over_budget(
        after, schedule, case.wanted["program_budget"], "The originals must die in forward."
    )


def judge_wait(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 4.1: the clones wait."""
    given = graph_of(case.given["graph"])
    if found := unwritable(given, answer):
        return found
    after = graph_of(answer["dot"])
    before, nodes = by_name(given), by_name(after)
    findings = [
        Finding(f"a new node {name}", "no new node", "This task only adds control dependencies.")
        for name in nodes
        if name not in before
    ]
    findings += changed_nodes(before, nodes, before) or _held_up(after)
    if findings:
        return findings
    schedule = as_soon_as_possible(after)
    look = _too_early(after, schedule, list(case.given["clones"].values()))
    return wrong_values(given, after, schedule) + over_budget(
        after, schedule, case.wanted["eager_budget"], look
    )


def _held_up(after: fx.Graph) -> list[Finding]:
    """Nodes that wait and are no clones, unless for what they have to wait for anyway."""
    waits = [
        (other, node)
        for node in after.nodes
        if phase(node) is not Phase.RECOMPUTE
        for other in control_dependencies(node)
    ]
    if not waits:
        return []
    free, new = copy_graph(after)
    for _, node in waits:
        clear_control_dependencies(new[node])
    forced = ForcedOrder(free).forced((new[other], new[node]) for other, node in waits)
    look = "Only clones may wait: add_control_dependency(clone, other), in this order."
    return [
        Finding(f"{node.name} waits for {other.name}", "only clones wait", look)
        for other, node in waits
        if (new[other], new[node]) not in forced
    ]


def _too_early(graph: fx.Graph, schedule: Schedule, clones: list[str]) -> str:
    """Names the clone that waits longest between running and being read."""
    nodes, step_of = by_name(graph), schedule.step_of()
    if not any(map(control_dependencies, graph.nodes)):
        return "No node waits for another: add_control_dependency(clone, gradient)."
    backward = min(step_of[n] for n in graph.nodes if is_operation(n) and in_backward(n))
    early = [name for name in clones if step_of[nodes[name]] < backward]
    if early:
        return (
            f"{early[0]} runs at step {step_of[nodes[early[0]]]}, in the forward pass "
            f"(backward begins at step {backward}): what does it wait for?"
        )

    def idle(name: str) -> int:
        readers = [step_of[r] for r in nodes[name].users if r in step_of]
        return min(readers, default=len(schedule)) - step_of[nodes[name]]

    longest = max(clones, key=idle)
    return (
        f"{longest} runs {idle(longest)} steps before its first reader: make it wait for a "
        "gradient of its own block."
    )
