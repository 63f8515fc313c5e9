"""The instructors' side of the project: its hidden graphs, and what a judge needs beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.grading.hidden import Hidden
from autograder.labs import graphs
from autograder.labs.project import reference
from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Case
from lab_utils.labs.graphs.nodes import by_name
from lab_utils.labs.graphs.replies import graph_of
from lab_utils.labs.project.ask.candidates import fields_of, seconds_of
from lab_utils.labs.project.judge.result_problems import traced
from lab_utils.labs.project.records import record
from lab_utils.steps.storage import storages


def _simulated(model: str, batch: int, names: Sequence[str]) -> tuple[int, int]:
    """Peak and dropped bytes of a plan that was handed in, from a trace of our own."""
    graph = traced(model, batch)
    sizes = {node.name: (node, size) for node, size in reference.candidates(graph).items()}
    if odd := [name for name in names if name not in sizes]:
        raise LabError(f"{odd[0]} is no candidate of the traced step")
    drop = [sizes[name][0] for name in names]
    return reference.simulate(graph, drop).nbytes, sum(sizes[name][1] for name in names)


def _lend(name: str, case: Case, arguments: Any) -> Any:
    """What a right version of ``name`` answers on the graph of a case, in plain data.

    Raises:
        KeyError, TypeError: the arguments are none of a student's honest call.
    """
    graph = graph_of(case.given["graph"])
    nodes = by_name(graph)
    if name == "candidates":
        return {node.name: nbytes for node, nbytes in reference.candidates(graph).items()}
    if name == "rebuild":
        kept = {nodes[n] for n in arguments["kept"] if n in nodes}
        found = reference.rebuild(nodes[arguments["target"]], kept, storages(graph))
        return {"sources": [n.name for n in found.sources], "path": [n.name for n in found.path]}
    if name == "describe":
        records = reference.describe(graph, seconds_of(graph, case.given))
        return [fields_of(c) for c in records]
    if name == "update":
        t = record(arguments["t"], nodes)
        chosen = [record(fields, nodes) for fields in arguments["chosen"]]
        remaining = [record(fields, nodes) for fields in arguments["remaining"]]
        reference.update(t, chosen, remaining)
        return [fields_of(c) for c in (t, *chosen, *remaining)]
    simulated = reference.simulate(graph, [nodes[n] for n in arguments["drop"]])
    return {"nbytes": simulated.nbytes, "node": simulated.node.name}


_AGAIN = Case("the plans of the smallest batch, simulated again", {}, {"simulate": _simulated})

HIDDEN = Hidden(
    lab="project",
    cases=Path(__file__).with_name("hidden_cases.json"),
    more={"6.4": [_AGAIN]},
    lent={
        "5.3": ("candidates", "rebuild"),
        "5.6": ("describe", "update", "simulate"),
        "6.1": ("describe",),
    },
    lend=_lend,
    preload=(
        *graphs.PRELOAD,
        "transformers.models.bert.modeling_bert",
        "transformers.models.resnet.modeling_resnet",
    ),
    warm_up=("lab_utils.labs.project.warm:warm_up",),
)
