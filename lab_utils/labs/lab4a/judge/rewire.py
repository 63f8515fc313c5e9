"""What is right in notebooks 03 and 04: backward reads the clones, and the clones wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.graphs.judge import changed_nodes, over_budget, unwritable, wrong_values
from lab_utils.labs.graphs.judge.clones import forward_changes
from lab_utils.labs.graphs.judge.reads import rewire_findings
from lab_utils.labs.graphs.judge.rewrite import by_names
from lab_utils.labs.graphs.judge.timeline import timeline_of
from lab_utils.labs.graphs.judge.waits import wait_findings
from lab_utils.labs.graphs.nodes import by_name
from lab_utils.labs.graphs.replies import shared_graph
from lab_utils.labs.graphs.shared import remembered, share
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.graph import copy_graph
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.storage import owns_memory


def judge_rewire(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 3.1: backward reads the clones."""
    given = shared_graph(case.given["graph"])
    if found := unwritable(given, answer):
        return found
    after = shared_graph(answer["dot"])
    before, nodes = by_name(given), by_name(after)
    clones: dict[str, str] = case.given["clones"]
    findings = [
        Finding(f"a new node {name}", "no new node", "This task only changes who reads what.")
        for name in nodes
        if name not in before
    ]
    still = [name for name in clones.values() if name in nodes]  # a dead one may be erased
    findings += changed_nodes(before, nodes, still)
    if not findings:
        drop = [name for name in clones if owns_memory(before[name])]
        rewrite = by_names(_without(given, tuple(clones.values())), after, clones, drop)
        findings += [*forward_changes(rewrite), *rewire_findings(rewrite)]
    if findings:
        return findings
    schedule = program_order(after)
    return wrong_values(given, after, schedule) or over_budget(
        after, schedule, case.wanted["program_budget"], "The originals must die in forward."
    )


def judge_wait(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 4.1: the clones wait."""
    given = shared_graph(case.given["graph"])
    if found := unwritable(given, answer):
        return found
    after = read_dot(answer["dot"], circles=True)
    before, nodes = by_name(given), by_name(after)
    findings = [
        Finding(f"a new node {name}", "no new node", "This task only adds control dependencies.")
        for name in nodes
        if name not in before
    ]
    findings += changed_nodes(before, nodes, before)
    if findings:
        return findings
    if found := wait_findings(timeline_of(after, case.given["clones"])):
        return found
    schedule = as_soon_as_possible(after)
    look = "Clones hold memory from the step in which they run: let them wait for it."
    return wrong_values(given, after, schedule) or over_budget(
        after, schedule, case.wanted["eager_budget"], look
    )


@remembered
def _without(graph: fx.Graph, clones: tuple[str, ...]) -> fx.Graph:
    """A copy of ``graph`` without its clones, which nobody but clones reads; only to look at."""
    copy, _ = copy_graph(graph)
    gone = set(clones)
    for node in reversed(copy.nodes):
        if node.name in gone:
            copy.erase_node(node)
    return share(copy)
