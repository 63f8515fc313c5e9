"""Run times of operators, estimated from their shapes: for graphs that cannot be run here."""

from __future__ import annotations

from torch import fx

from lab_utils.effects import is_operation

#: One core of a laptop: floating-point operations and bytes in a second.
FLOPS, BANDWIDTH = 5e10, 1e10


def estimated_seconds(graph: fx.Graph) -> dict[fx.Node, float]:
    """Seconds of each node: its floating-point operations and the bytes that it moves.

    A view takes no time. The same for every run, whatever the machine.
    """
    return {
        node: _flops(node) / FLOPS + _bytes_moved(node) / BANDWIDTH if is_operation(node) else 0.0
        for node in graph.nodes
    }


def _flops(node: fx.Node) -> float:
    from torch.utils.flop_counter import flop_registry

    formula = flop_registry.get(getattr(node.target, "overloadpacket", None))
    if formula is None:
        return 0.0
    args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: n.meta["val"])
    return formula(*args, **kwargs, out_val=node.meta["val"])


def _bytes_moved(node: fx.Node) -> int:
    vals = [node.meta.get("val"), *(n.meta.get("val") for n in node.all_input_nodes)]
    tensors = [t for val in vals for t in (val if isinstance(val, tuple) else (val,))]
    return sum(t.numel() * t.element_size() for t in tensors if t is not None)
