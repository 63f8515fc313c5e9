"""Tasks 1.6 and 1.7: the slowest operators, and the table of all nodes."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from lab_utils.kit.task import Case, Finding
from lab_utils.labs.lab3a.files import COLUMNS
from lab_utils.labs.lab3a.layers import gpt_layer
from lab_utils.labs.lab3a.programs import name_of


def judge_heavy(case: Case, answer: Sequence[Sequence[Any]]) -> list[Finding]:
    """Task 1.6: three pairs, the slowest first."""
    wanted = case.wanted["heavy"]
    mine = [[name, float(latency)] for name, latency in answer]
    if mine == wanted:
        return []
    names, right = [name for name, _ in mine], [name for name, _ in wanted]
    nodes = {name: (op, latency) for op, name, latency in case.given["nodes"]}
    if any(nodes.get(name, ("",))[0] == "output" for name in names):
        look = "The node output computes nothing: leave it out."
    elif len(mine) != len(wanted):
        look = "Three of them, or all if there are fewer."
    elif names == sorted(nodes, key=lambda name: str(nodes[name][1]), reverse=True)[: len(names)]:
        look = "These are sorted as words: 9.5 comes before 10.2 there. Compare numbers."
    elif sorted(names) == sorted(right) and names == right[::-1]:
        look = "The slowest comes first."
    elif sorted(names) == sorted(right):
        look = "The slowest comes first; of equally slow ones, the one that runs first."
    elif names == right:
        look = "The names are right: each comes with its own latency, as it is noted."
    else:
        look = "Look at the latency of every node, and take the three largest."
    return [Finding(_text(mine), _text(wanted), look)]


def _text(pairs: Sequence[Sequence[Any]]) -> str:
    return ", ".join(f"{name} {latency:g} ms" for name, latency in pairs) or "nothing"


def judge_table(_case: Case, answer: Mapping[str, Any]) -> list[Finding]:
    """Task 1.7: a row for each node of the layer, whatever its sizes are."""
    again = "Run the layer through NodeProp, then write_nodes(layer)."
    if answer["text"] is None:
        return [Finding("there is no such file", "the file nodes.csv", again)]
    head, *rows = list(csv.reader(io.StringIO(answer["text"]))) or [[]]
    if tuple(head) != COLUMNS:
        return [Finding(",".join(head)[:80], ",".join(COLUMNS), again)]
    layer, _ = gpt_layer(width=8, heads=2, tokens=4, words=11)
    nodes = list(layer.graph.nodes)
    if len(rows) != len(nodes):
        return [Finding(f"{len(rows)} rows", f"{len(nodes)} rows, one a node", again)]
    for node, row in zip(nodes, rows, strict=True):
        target = name_of(node.target) if node.op == "call_function" else str(node.target)
        if row[1:3] != [node.op, target]:
            return [Finding(" ".join(row[1:3])[:80], f"{node.op} {target}", again)]
        if problem := _odd(node.op, row[5], row[6]):
            yours = f"{node.name}: {row[5]!r:.60}, {row[6]!r:.20}"
            return [Finding(yours, problem, again, belongs=_NOTED_BY)]
    return []


_NOTED_BY = "1.2 1.3 1.4 1.5"  # whose functions note the shapes and latencies


def _odd(op: str, shape: str, latency: str) -> str:
    """What a row should have in its last two columns, where it has not."""
    try:
        took = float(latency)
    except ValueError:
        return "a latency in milliseconds"
    computes = op.startswith("call_")
    if not 0 <= took < 1e7 or (took and not computes) or (op == "call_module" and not took):
        return "a latency above 0 for what computes, and 0 for what does not"
    is_list = shape.startswith("[") and shape.endswith("]")
    if (op == "call_module" and not is_list) or (shape and not is_list):
        return "a shape such as [1, 128, 768], or nothing for what is no tensor"
    return ""
