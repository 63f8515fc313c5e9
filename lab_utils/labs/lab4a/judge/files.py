"""The two files that are handed in: the graph as traced, and the graph as rewritten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from torch import fx

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.graphs.judge import over_budget, wrong_values
from lab_utils.labs.graphs.judge.clones import clone_findings, forward_changes
from lab_utils.labs.graphs.judge.pairing import by_structure
from lab_utils.labs.graphs.judge.reads import rewire_findings
from lab_utils.labs.graphs.judge.timeline import timeline_as_meant
from lab_utils.labs.graphs.judge.waits import wait_findings
from lab_utils.labs.graphs.judge.waste import wasted_clones
from lab_utils.labs.graphs.nodes import is_clone
from lab_utils.labs.graphs.replies import shared_graph
from lab_utils.steps.compare.diff import Differs, diff
from lab_utils.steps.dot.read import DotError, read_dot
from lab_utils.steps.graph import is_opaque
from lab_utils.steps.schedule import as_soon_as_possible, program_order


def _missing(answer: Mapping[str, Any]) -> list[Finding]:
    file = answer["file"]
    look = "Run the cell that writes it."
    return [Finding(f"there is no file {file}", f"{file} beside the notebook", look)]


def _read(answer: Mapping[str, Any]) -> fx.Graph:
    try:
        return read_dot(answer["text"] + "\n")
    except DotError as error:
        raise type(error)(error.why, error.place.replace("<text>", answer["file"])) from None


def judge_traced(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """By structure; kinds are the business of task 1.1."""
    if answer["text"] is None:
        return _missing(answer)
    found = diff(shared_graph(case.wanted["graph"]), _read(answer))
    look = "Write the graph as it was traced: run that cell again, then yours."
    return [
        Finding(f"{answer['file']}: {one.text}", "the graph of this notebook", look)
        for one in found
        if one.kind is not Differs.ROLE
    ]


def judge_rewritten(case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """It recomputes, saves memory, and is the same training step.

    Each difference from what it should be is told with the task to which it belongs.
    """
    if answer["text"] is None:
        return _missing(answer)
    base, mine = shared_graph(case.wanted["graph"]), _read(answer)
    file = answer["file"]
    if is_opaque(mine):
        look = "Write it with write_dot."
        return [Finding(f"{file} is a drawing", "a graph that can be run", look)]
    if not any(map(is_clone, mine.nodes)):
        look = "Write it from the graph that assemble returns."
        return [Finding(f"nothing in {file} is recomputed", "clones in the backward pass", look)]
    rewrite = by_structure(base, mine)
    faulty = clone_findings(rewrite)
    line = timeline_as_meant(rewrite, faulty)
    found = [
        *forward_changes(rewrite),
        *_of_task("2.2", (one for wrong in faulty.values() for one in wrong)),
        *_of_task("2.2", wasted_clones(rewrite, line.reads)),
        *_of_task("3.1", rewire_findings(rewrite)),
        *_of_task("4.1", wait_findings(line)),
    ]
    if found:
        return found
    look = "Write it from the graph that assemble returns: it drops what notebook 2 drops."
    return wrong_values(base, mine, program_order(mine)) or over_budget(
        mine, as_soon_as_possible(mine), case.wanted["eager_budget"], look
    )


def _of_task(task: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """The same findings as mistakes of another task: whoever has paid for them there, has paid."""
    for one in findings:
        look = (
            f"{one.look} (This is task {task}: what it costs there, it does not cost here again.)"
        )
        yield replace(one, look=look, belongs=task, in_public=True)
