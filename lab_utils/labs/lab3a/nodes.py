"""What is told of the nodes of a graph: which of them change their input, and a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.kit.files import write_whole
from lab_utils.labs.lab3a.files import COLUMNS
from lab_utils.labs.lab3a.programs import name_of

#: Functions of Python's own that change their first argument.
_IN_PLACE = {"iadd", "isub", "imul", "itruediv", "ifloordiv", "imatmul", "ipow", "setitem"}


def changes_its_input(node: fx.Node, module: fx.GraphModule) -> bool:
    """Whether running ``node`` again would change a value that others read.

    PyTorch's operators that do so end in one underscore (``add_``), or are modules with
    ``inplace=True``; Python's are ``+=`` and the like, and ``x[…] = …``.
    """
    if node.op == "call_module":
        return bool(getattr(module.get_submodule(str(node.target)), "inplace", False))
    if node.op not in ("call_function", "call_method"):
        return False
    name = node.target if node.op == "call_method" else getattr(node.target, "__name__", "")
    is_marked = str(name).endswith("_") and not str(name).endswith("__")
    return is_marked or name in _IN_PLACE or bool(node.kwargs.get("inplace"))


def write_nodes(module: fx.GraphModule, file: str = "nodes.csv") -> str:
    """Write a row for each node: what it is, and the shape and latency that were noted in it.

    Where nothing was noted, since an operator before it failed, nothing is written either.

    Raises:
        LabError: no node has a note; the message names the first one.
    """
    rows: list[Sequence[Any]] = [COLUMNS]
    nodes = list(module.graph.nodes)
    if not any({"shape", "latency"} & node.meta.keys() for node in nodes):
        why = f"node {nodes[0].name} has no shape and no latency yet"
        raise LabError(f"{why}: run NodeProp(module).propagate(…) first")
    for place, node in enumerate(nodes):
        shape, latency = node.meta.get("shape"), node.meta.get("latency")
        target = name_of(node.target) if node.op == "call_function" else node.target
        told = "" if shape is None else list(shape)
        args, kwargs = str(node.args), str(dict(node.kwargs))
        took = "" if latency is None else f"{float(latency):.6g}"
        rows.append([place, node.op, target, args, kwargs, told, took])
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    write_whole(Path(file), text.getvalue())
    return file
