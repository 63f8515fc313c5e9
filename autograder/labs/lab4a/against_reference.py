"""How a handed-in graph differs from the reference, in words, task by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from torch import fx

from lab_utils.kit.root import ROOT
from lab_utils.labs.graphs.judge.clones import clone_findings
from lab_utils.labs.graphs.judge.pairing import by_structure
from lab_utils.labs.graphs.judge.timeline import timeline_as_meant
from lab_utils.labs.graphs.judge.waits import wait_findings
from lab_utils.steps.compare.diff import Diff, Differs, diff
from lab_utils.steps.dot.read import read_dot
from lab_utils.steps.graph import Phase, phase

_REFERENCE = ROOT / "autograder" / "reference"
_WAITS = (Differs.MUST_WAIT, Differs.NEEDLESS_WAIT)


def compared(task: str, answer: Mapping[str, Any]) -> str:
    """The differences of ``llm_mlp_ar.dot`` and the reference; nothing where there are none.

    A different choice may be right: none of this costs points by itself.
    """
    if task != "4.2" or not answer["text"]:
        return ""
    mine = read_dot(answer["text"] + "\n")
    found = diff(read_dot(_REFERENCE / "llm_mlp_ar.dot"), mine)
    if found.equal:
        return "The file is the same graph as the reference.\n"
    if any(one.kind in _WAITS for one in found) and _waits_well(mine):
        found = Diff(tuple(one for one in found if one.kind not in _WAITS), found.graphs)
        if found.equal:
            return (
                "The clones wait for other nodes than in the reference, which is right as well.\n"
            )
    lines = ["Beside the reference (another choice may be right as well):"]
    lines += [f"task {of}: {one.summary(limit=4)}" for of, one in by_task(found).items()]
    return "\n".join(lines) + "\n"


def _waits_well(mine: fx.Graph) -> bool:
    rewrite = by_structure(read_dot(_REFERENCE / "llm_mlp.dot"), mine)
    return not wait_findings(timeline_as_meant(rewrite, clone_findings(rewrite)))


def by_task(found: Diff) -> dict[str, Diff]:
    """The differences by the task that makes such an edge or node."""
    parts: dict[str, list[Any]] = defaultdict(list)
    clones = _clones(found)
    for one in found:
        if one.kind in _WAITS:
            parts["4.1"].append(one)
        elif one.node in clones or one.kind in (Differs.MISSING_NODE, Differs.EXTRA_NODE):
            parts["2.2"].append(one)
        else:
            parts["3.1"].append(one)
    return {task: Diff(tuple(ones)) for task, ones in sorted(parts.items())}


def _clones(found: Diff) -> set[str]:
    graphs = found.graphs[:2] if found.graphs else ()
    return {
        n.name
        for graph in graphs
        for n in graph.nodes
        if n.meta.get("phase") and phase(n) is Phase.RECOMPUTE
    }
