"""Execution traces: what one rank does in a training step, as data.

After Chakra, the format that AstraSim reads. A trace is a list of nodes; a node runs when the
nodes that it waits for are done. One JSON file for each rank (``name.<rank>.json``) and one with
the groups of ranks (``name.groups.json``). Chakra's own files hold the same in protobuf.

| field | means |
|---|---|
| ``id`` | number of the node, counted from 0 in program order |
| ``name`` | for people |
| ``type`` | ``COMP_NODE``, ``COMM_COLL_NODE``, ``COMM_SEND_NODE`` or ``COMM_RECV_NODE`` |
| ``data_deps`` | ids of the nodes that it waits for, all smaller than its own |
| ``num_ops`` | operations, of a COMP_NODE |
| ``tensor_size`` | bytes that it reads and writes, of a COMP_NODE |
| ``comm_type`` | the collective, of a COMM_COLL_NODE |
| ``comm_size`` | bytes, of every COMM node |
| ``group`` | whom it meets: the axis of a COMM_COLL_NODE |
| ``peer``, ``tag`` | the other rank of a message, and which message it is |
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lab_utils.kit.errors import LabError

COMP, COLL, SEND, RECV = "COMP_NODE", "COMM_COLL_NODE", "COMM_SEND_NODE", "COMM_RECV_NODE"
SCHEMA = "lab trace 1, after Chakra"


class Node(NamedTuple):
    """A node; see the table above. Fields that its type does not have are 0 or empty."""

    name: str
    type: str
    data_deps: tuple[int, ...] = ()
    num_ops: float = 0
    tensor_size: float = 0
    comm_type: str = ""
    comm_size: float = 0
    group: str = ""
    peer: int = -1
    tag: str = ""


Trace = Sequence[Node]
_NEEDS = {
    COMP: ("num_ops", "tensor_size"),
    COLL: ("comm_type", "comm_size", "group"),
    SEND: ("comm_size", "peer", "tag"),
    RECV: ("comm_size", "peer", "tag"),
}


def trace_text(trace: Trace, rank: int) -> str:
    """A rank's trace as the text of its file, a line for each node."""
    lines = []
    for number, node in enumerate(trace):
        told = {"id": number, "name": node.name, "type": node.type, "data_deps": node.data_deps}
        told |= {name: getattr(node, name) for name in _NEEDS[node.type]}
        lines.append(json.dumps(told))
    head = f'{{"schema": {json.dumps(SCHEMA)}, "rank": {rank}, "nodes": [\n'
    return head + ",\n".join(lines) + "\n]}\n"


def read_trace(text: str) -> list[Node]:
    """The nodes of a file.

    Raises:
        LabError: it is no trace; the message says which node, and what is wrong with it.
    """
    try:
        told = json.loads(text)
        rows = told["nodes"]
    except (ValueError, KeyError, TypeError):
        raise LabError("no trace: it is JSON with the key 'nodes'") from None
    if not isinstance(rows, list):
        raise LabError("no trace: 'nodes' is a list")
    return [_node(number, row) for number, row in enumerate(rows)]


def _node(number: int, row: Any) -> Node:
    where = f"node {number} of the trace"
    if not isinstance(row, dict) or row.get("id") != number:
        raise LabError(f"{where}: nodes are numbered from 0, in order")
    if row.get("type") not in _NEEDS:
        raise LabError(f"{where}: type is one of {', '.join(_NEEDS)}")
    missing = [name for name in _NEEDS[row["type"]] if name not in row]
    if missing:
        raise LabError(f"{where}: {row['type']} needs {', '.join(missing)}")
    waits = row.get("data_deps", [])
    if not all(type(one) is int and 0 <= one < number for one in waits):
        raise LabError(f"{where}: it can wait only for nodes before it")
    fields = {name: row[name] for name in _NEEDS[row["type"]]}
    return Node(str(row.get("name", "")), row["type"], tuple(waits), **fields)


def write_traces(
    folder: Path, name: str, traces: Sequence[Trace], groups: Mapping[str, Sequence[Sequence[int]]]
) -> list[Path]:
    """Write a file for each rank and one with the groups; gives their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for rank, trace in enumerate(traces):
        written.append(folder / f"{name}.{rank}.json")
        written[-1].write_text(trace_text(trace, rank), encoding="utf-8")
    written.append(folder / f"{name}.groups.json")
    written[-1].write_text(json.dumps(groups, indent=1) + "\n", encoding="utf-8")
    return written


def read_traces(folder: Path, name: str) -> list[list[Node]]:
    """The traces of all ranks, as ``write_traces`` left them.

    Raises:
        LabError: there is none, or a file is no trace.
    """
    found: list[list[Node]] = []
    while (path := folder / f"{name}.{len(found)}.json").exists():
        found.append(read_trace(path.read_text(encoding="utf-8")))
    if not found:
        raise LabError(f"no trace {name}.0.json in {folder}")
    return found
