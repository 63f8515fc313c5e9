"""From what ``make_fx`` records to a graph that a person can read.

Values that only rename others go (``detach``, a transpose of a transpose), dead
operators go, and each node gets its phase, its kind and a name.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import Kind, Phase, outputs
from lab_utils.steps.storage import Storage, is_random, overwritten_inputs, owns_memory, storages
from lab_utils.steps.trace.cpu_kernels import check_views, without_unwanted
from lab_utils.steps.trace.naming import Names

aten = torch.ops.aten
_SAME_VALUE = {aten.detach.default, aten.alias.default, aten.lift_fresh_copy.default}

_PLACEHOLDERS = {
    "input": (Kind.INPUT, Phase.FORWARD),
    "target": (Kind.INPUT, Phase.LOSS),
    "param": (Kind.WEIGHT, Phase.FORWARD),
    "buffer": (Kind.OTHER, Phase.FORWARD),
    "state": (Kind.OPT_STATE, Phase.OPTIMIZER),
}


@dataclass(frozen=True)
class RawTrace:
    """What the tracer knows about a recorded step.

    The recorded graph returns, one after the other: the values of ``labels``; the
    gradient that arrives at each of ``totals``; the gradient that each of
    ``partials`` sends on, as (whose gradient, through which operator). Values are
    told by autograd sequence number, parameters by path.
    """

    graph: fx.Graph
    owner: Any  # the module that holds the graph's constants
    sources: list[str]  # of the placeholders, in order
    input_names: dict[str, str]
    labels: list[str]
    totals: list[Any]
    partials: list[tuple[Any, Any]]


def tidy(raw: RawTrace) -> fx.Graph:
    """The recorded step without noise, with phases, kinds and readable names."""
    check_views(raw.graph)
    same = _stand_ins(raw.graph)
    (end,) = raw.graph.find_nodes(op="output")
    returned = [same[node] for node in end.args[0]]
    results = dict(zip(raw.labels, returned, strict=False))
    names = Names(raw, same, returned[len(raw.labels) :])
    alive = _alive(raw.graph, same, results.values())

    graph = fx.Graph()
    new: dict[fx.Node, fx.Node] = {}
    sources = iter(raw.sources)
    for node in raw.graph.nodes:
        if node.op == "placeholder":
            source = next(sources)
            wanted = names.of_placeholder(source)
            new[node] = graph.create_node("placeholder", wanted, name=wanted)
            new[node].target = new[node].name
            kind, phase = _PLACEHOLDERS[source.partition(":")[0]]
            new[node].meta = {"source": source, "kind": kind, "phase": phase, "module": ""}
        elif node in alive:
            new[node] = _copied(node, graph, new, same, raw, names)
        else:
            continue
        made = without_unwanted(node.target, node.args, node.kwargs, node.meta.get("val"))
        new[node].meta["val"] = _on_meta(made)
        names.settle(node, new[node].name)
    graph.output({label: new[node] for label, node in results.items()})
    _set_kinds(graph)
    return graph


def _stand_ins(graph: fx.Graph) -> dict[fx.Node, fx.Node]:
    """For each node, the one that it is but another name for (mostly itself)."""
    same: dict[fx.Node, fx.Node] = {}
    for node in graph.nodes:
        same[node] = node
        if node.op != "call_function":
            continue
        if node.target in _SAME_VALUE or _changes_nothing(node):
            same[node] = same[_looked_at(node)]
        elif (swap := _transposed(node)) is not None:
            inner = same[_looked_at(node)]
            if _transposed(inner) == swap:
                same[node] = same[_looked_at(inner)]
    return same


def _changes_nothing(node: fx.Node) -> bool:
    """Whether ``node`` is a view with the shape and strides of what it looks at."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return False
    if not node.target.is_view and node.target is not aten._unsafe_view.default:
        return False
    seen, val = _looked_at(node).meta["val"], node.meta["val"]
    return (
        isinstance(val, torch.Tensor)
        and (seen.shape, seen.stride(), seen.dtype) == (val.shape, val.stride(), val.dtype)
        and seen.storage_offset() == val.storage_offset()
    )


def _transposed(node: fx.Node) -> frozenset[int] | None:
    """The two dimensions that ``node`` swaps; None where it does something else."""
    if node.target is aten.t.default and node.meta["val"].dim() == 2:
        return frozenset({0, 1})
    if node.target is aten.transpose.int:
        call: tuple[Any, ...] = node.args
        return frozenset(dim % node.meta["val"].dim() for dim in call[1:])
    return None


def _looked_at(view: fx.Node) -> fx.Node:
    return view.all_input_nodes[0]


def _alive(
    graph: fx.Graph, same: dict[fx.Node, fx.Node], results: Iterable[fx.Node]
) -> set[fx.Node]:
    """Nodes that a result needs, or that change memory or random numbers."""
    alive = set(results)
    for node in reversed(graph.nodes):
        if node.op != "call_function" and node.op != "get_attr":
            continue
        if node in alive or (same[node] is node and (overwritten_inputs(node) or is_random(node))):
            alive.add(node)
            alive.update(same[n] for n in node.all_input_nodes)
    return alive


def _copied(
    node: fx.Node,
    graph: fx.Graph,
    new: dict[fx.Node, fx.Node],
    same: dict[fx.Node, fx.Node],
    raw: RawTrace,
    names: Names,
) -> fx.Node:
    custom = node.meta.get("custom", {})
    if node.op == "get_attr":
        copied = _constant(node, graph, raw)
    else:
        args, kwargs = fx.map_arg((node.args, node.kwargs), lambda n: new[same[n]])
        copied = graph.create_node(
            "call_function", node.target, args, dict(kwargs), name=names.of(node)
        )
    copied.meta = {
        "phase": custom.get("phase", Phase.FORWARD),
        "module": custom.get("module", ""),
    }
    return copied


def _constant(node: fx.Node, graph: fx.Graph, raw: RawTrace) -> fx.Node:
    """A number that the model makes from a Python value, as an operator that makes it again."""
    value = getattr(raw.owner, str(node.target))
    value = getattr(value, "constant", None) if hasattr(value, "constant") else value
    if not isinstance(value, torch.Tensor) or value.numel() > 1:
        shape = list(node.meta["val"].shape) if "val" in node.meta else "?"
        raise LabError(
            f"the model makes a constant tensor of shape {shape} while it runs, which a graph "
            "cannot hold: register it as a buffer"
        )
    return graph.create_node(
        "call_function",
        aten.full.default,
        (list(value.shape), value.item() if value.numel() else 0),
        {"dtype": value.dtype},
        name="constant",
    )


def _on_meta(val: Any) -> Any:
    if isinstance(val, (list, tuple)):
        return tuple(_on_meta(item) for item in val) or None
    if val is None:
        return None
    return torch.empty_strided(val.shape, val.stride(), dtype=val.dtype, device="meta")


def _set_kinds(graph: fx.Graph) -> None:
    memory = storages(graph)
    of_weights = {
        storage
        for label, node in outputs(graph).items()
        if label.startswith("grad:")
        for storage in memory[node]
    }
    for node in graph.nodes:
        if node.op == "output":
            node.meta |= {"phase": Phase.OPTIMIZER, "kind": Kind.OTHER, "module": ""}
        elif node.op != "placeholder":
            node.meta["kind"] = _kind(node, memory[node], of_weights)


def _kind(node: fx.Node, memory: tuple[Storage, ...], of_weights: set[Storage]) -> Kind:
    # A view or an in-place result is of the kind of the value that it looks at.
    if memory and not owns_memory(node) and node.target is not operator.getitem:
        return memory[0].owner.meta["kind"]
    match node.meta["phase"]:
        case Phase.FORWARD | Phase.LOSS:
            return Kind.ACTIVATION
        case Phase.BACKWARD:
            return Kind.GRAD_WEIGHT if of_weights >= set(memory) else Kind.GRAD_ACT
        case _:
            return Kind.OTHER
