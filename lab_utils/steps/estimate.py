"""Run times of operators, estimated from their shapes: for graphs that cannot be run here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import fx
from torch.utils import _pytree as pytree

from lab_utils.steps.storage import is_operation

#: One core of a laptop: floating-point operations and bytes in a second.
FLOPS, BANDWIDTH = 5e10, 1e10


def estimated_seconds(graph: fx.Graph) -> dict[fx.Node, float]:
    """Seconds of each node: its floating-point operations and the bytes that it moves.

    A view takes no time. The same for every run, whatever the machine.
    """
    return {node: _seconds(node) if is_operation(node) else 0.0 for node in graph.nodes}


def operator_seconds(
    target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any
) -> float:
    """Seconds of one call of an operator on tensors, of which only shapes matter."""
    read = {id(leaf): leaf for leaf in pytree.tree_leaves((args, kwargs))}.values()
    return _estimate(target, args, kwargs, result, read)


def _seconds(node: fx.Node) -> float:
    args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: n.meta.get("val"))
    # Of nodes, not of values: nodes of one shape may share what stands for their values.
    read = [n.meta.get("val") for n in node.all_input_nodes]
    return _estimate(node.target, args, kwargs, node.meta.get("val"), read)


def _estimate(
    target: Any, args: Sequence[Any], kwargs: Mapping[str, Any], result: Any, read: Iterable[Any]
) -> float:
    from torch.utils.flop_counter import flop_registry

    formula = flop_registry.get(getattr(target, "overloadpacket", None))
    flops = formula(*args, **kwargs, out_val=result) if formula else 0.0
    leaves = pytree.tree_leaves((result, list(read)))
    moved = sum(t.numel() * t.element_size() for t in leaves if isinstance(t, torch.Tensor))
    return flops / FLOPS + moved / BANDWIDTH
