"""What an operator does beside computing: share, overwrite, draw random numbers.

All of it is read from the operator's schema, never from ``meta["val"]``: a node
made by ``node_copy`` carries the ``val`` of its original, whose storage it does
not share.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from math import prod
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
from torch import fx

from lab_utils.kit.errors import LabError
from lab_utils.steps.graph import Kind, control_dependencies, kind

aten = torch.ops.aten

# Schemas of old operators leave these effects out.
_UNDECLARED_VIEWS = {
    aten._unsafe_view.default: "self",
    aten.unsafe_split.Tensor: "self",
    aten.unsafe_split_with_sizes.default: "self",
}
# These compute one loss for each element and reduce it inside the same allocation,
# which keeps its size.
_REDUCED_IN_PLACE = {
    aten.mse_loss.default,
    aten.smooth_l1_loss.default,
    aten.binary_cross_entropy.default,
    aten.soft_margin_loss.default,
}
# These make some outputs an element longer than they end up to be, and cut them back in place.
_BAGS = {aten._embedding_bag.default, aten._embedding_bag_forward_only.default}
_RUNNING_STATISTICS = {aten.native_batch_norm.default: ("running_mean", "running_var")}


class _Place(NamedTuple):
    """A tuple: these are hashed and compared without Python's help, and that all the time."""

    owner: fx.Node
    index: int  # type: ignore[assignment]  # not where something is in the tuple


class Storage(_Place):
    """A piece of memory: the node that allocates it, and which of its outputs it is."""

    @cached_property
    def nbytes(self) -> int:
        """Bytes allocated; 1 where the graph is a drawing that tells no sizes."""
        val = self.owner.meta.get("val")
        if val is None:
            return 1
        if self.owner.target in _REDUCED_IN_PLACE:
            shapes = (read.meta["val"].shape for read in self.owner.all_input_nodes)
            return prod(torch.broadcast_shapes(*shapes)) * val.element_size()
        own = val[self.index] if isinstance(val, tuple) else val
        return extent(own) + (own.element_size() if _is_cut(self.owner, self.index) else 0)

    @property
    def kind(self) -> Kind:
        """What the value in it is for; outputs of one operator may be for different things."""
        owner, index = self
        if isinstance(owner.meta.get("val"), tuple):
            for taken in owner.users:
                if taken.target is operator.getitem and taken.args[1] == index:
                    return kind(taken)
        return kind(owner)


def _is_cut(node: fx.Node, index: int) -> bool:
    """Whether the output ``index`` of ``node`` was made an element longer than it is."""
    if node.target not in _BAGS:
        return False
    call = arguments_by_name(node.target, node.args, node.kwargs)
    if index == 1:  # the bag of each index; empty where it is not wanted
        return node.meta["val"][index].numel() > 0
    if node.target is aten._embedding_bag.default:
        return call.include_last_offset and index == 2
    return call.include_last_offset and index == 3 and call.mode == 0


def extent(val: torch.Tensor | None) -> int:
    """Bytes from the first to the last element of a tensor with these strides."""
    if val is None or val.numel() == 0:
        return 0
    reach = sum((size - 1) * stride for size, stride in zip(val.shape, val.stride(), strict=True))
    return (reach + 1) * val.element_size()


class _Schema(NamedTuple):
    names: tuple[str, ...]  # of the positional arguments
    shared: tuple[tuple[str, ...], ...]  # for each output, the arguments whose memory it shares
    overwritten: tuple[str, ...]
    random: bool


@cache
def _schema(target: torch._ops.OpOverload) -> _Schema:
    arguments = target._schema.arguments
    aliases = {a.name: a.alias_info for a in arguments if a.alias_info is not None}
    shared = tuple(
        tuple(name for name, alias in aliases.items() if _same_memory(alias, out.alias_info))
        for out in target._schema.returns
    )
    if target in _UNDECLARED_VIEWS:
        shared = ((_UNDECLARED_VIEWS[target],),)
    overwritten = tuple(
        a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write
    )
    return _Schema(
        tuple(a.name for a in arguments if not a.kwarg_only),
        shared,
        overwritten,
        torch.Tag.nondeterministic_seeded in target.tags,
    )


def _same_memory(argument: Any, result: Any) -> bool:
    if result is None:
        return False
    if result.before_set:
        return bool(argument.before_set & result.before_set)
    return "*" in argument.after_set  # a list of views: its alias set is not told


def _argument(node: fx.Node, schema: _Schema, name: str) -> Any:
    if name in node.kwargs:
        return node.kwargs[name]
    place = schema.names.index(name) if name in schema.names else len(node.args)
    return node.args[place] if place < len(node.args) else None


def _nodes_in(argument: Any) -> Iterator[fx.Node]:
    if isinstance(argument, fx.Node):
        yield argument
    elif isinstance(argument, (list, tuple)):
        for item in argument:
            yield from _nodes_in(item)


def arguments_by_name(target: torch._ops.OpOverload, args: Any, kwargs: Any) -> SimpleNamespace:
    """The arguments by the names of the schema, with its defaults."""
    schema = target._schema.arguments
    named = {a.name: a.default_value for a in schema}
    named |= {a.name: value for a, value in zip(schema, args, strict=False)}
    return SimpleNamespace(**{**named, **kwargs})


def is_random(node: fx.Node) -> bool:
    """Whether running ``node`` advances the random number generator."""
    return isinstance(node.target, torch._ops.OpOverload) and _schema(node.target).random


def draws_numbers(node: fx.Node) -> bool:
    """Whether ``node`` uses random numbers: attention without dropout does not."""
    return call_draws_numbers(node.target, node.args, node.kwargs)


def call_draws_numbers(target: Any, args: Any, kwargs: Any) -> bool:
    """The same of one call of an operator."""
    if not isinstance(target, torch._ops.OpOverload) or not _schema(target).random:
        return False
    return bool(getattr(arguments_by_name(target, args, kwargs), "dropout_p", True))


def overwritten_inputs(node: fx.Node) -> list[fx.Node]:
    """The nodes whose memory ``node`` changes: in-place operators, running statistics."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return []
    schema = _schema(node.target)
    names = schema.overwritten
    if node.target in _RUNNING_STATISTICS and _argument(node, schema, "training"):
        names = _RUNNING_STATISTICS[node.target]
    return [found for name in names for found in _nodes_in(_argument(node, schema, name))]


def storages(graph: fx.Graph) -> dict[fx.Node, tuple[Storage, ...]]:
    """The memory that each node's value lives in, views and in-place results resolved.

    A node with several outputs has one entry for each of them, in order.

    Raises:
        LabError: a node stands before one that it reads.
    """
    found: dict[fx.Node, tuple[Storage, ...]] = {}
    for node in graph.nodes:
        for read in node.all_input_nodes:
            if read not in found:
                raise LabError(f"{node.name} reads {read.name}, which stands after it in the graph")
        found[node] = _storages_of(node, found)
    return found


def overwritten_memory(
    graph: fx.Graph, memory: Mapping[fx.Node, tuple[Storage, ...]]
) -> set[Storage]:
    """All memory that some node of the graph changes; ``memory`` is what ``storages`` found."""
    return {s for node in graph.nodes for read in overwritten_inputs(node) for s in memory[read]}


def _storages_of(node: fx.Node, found: dict[fx.Node, tuple[Storage, ...]]) -> tuple[Storage, ...]:
    if node.op == "output":
        return ()
    val = node.meta.get("val")
    if node.target is operator.getitem:
        call: tuple[Any, ...] = node.args
        source, index = call
        if not isinstance(source.meta.get("val"), tuple):
            return found[source]
        if not 0 <= index < len(found[source]):
            raise LabError(f"{node.name} takes an output of {source.name} that it does not have")
        return (found[source][index],)
    if not isinstance(node.target, torch._ops.OpOverload):
        return (Storage(node, 0),)
    if val is None:
        return ()
    schema = _schema(node.target)
    memory: list[Storage] = []
    for index in range(len(val) if isinstance(val, tuple) else 1):
        # One declared output may be a list: split and unbind return many views.
        names = schema.shared[index if index < len(schema.shared) else -1]
        sources = [s for name in names for s in _nodes_in(_argument(node, schema, name))]
        memory.append(found[sources[0]][0] if sources else Storage(node, index))
    return tuple(memory)


def owns_memory(node: fx.Node) -> bool:
    """Whether running ``node`` allocates: views, in-place results and ``getitem`` do not."""
    if node.op != "call_function" or node.target is operator.getitem:
        return False
    if not isinstance(node.target, torch._ops.OpOverload):
        return True
    return node.meta.get("val") is not None and not any(_schema(node.target).shared)


def nbytes(node: fx.Node) -> int:
    """Bytes that ``node`` allocates, or is given; 0 for a view or an in-place result."""
    if node.op != "placeholder" and not owns_memory(node):
        return 0
    val = node.meta.get("val")
    outputs = len(val) if isinstance(val, tuple) else 1
    return sum(Storage(node, index).nbytes for index in range(outputs))


def is_operation(node: fx.Node) -> bool:
    """Whether ``node`` does work: it allocates or overwrites. A view only looks."""
    return owns_memory(node) or bool(overwritten_inputs(node))


def dependencies(graph: fx.Graph) -> dict[fx.Node, list[fx.Node]]:
    """For each node, all nodes that must have run before it.

    These are the values that it reads, its control dependencies, and what program
    order means for memory that is overwritten: no reader may be overtaken by a
    later writer, no writer by a later reader. Random operators keep their order.
    """
    return {
        node: list(dict.fromkeys([*node.all_input_nodes, *control_dependencies(node), *order]))
        for node, order in overwrite_order(graph).items()
    }


def overwrite_order(graph: fx.Graph) -> dict[fx.Node, list[fx.Node]]:
    """The dependencies that come from overwritten memory and random numbers alone."""
    memory = storages(graph)
    written = {
        node: {s for target in targets for s in memory[target]}
        for node in graph.nodes
        if (targets := overwritten_inputs(node))
    }
    changed = set().union(*written.values())
    writer: dict[Storage, fx.Node] = {}
    readers: dict[Storage, list[fx.Node]] = {}
    last_random: fx.Node | None = None
    before: dict[fx.Node, list[fx.Node]] = {}
    for node in graph.nodes:
        order: list[fx.Node] = []
        writes = written.get(node, set())
        touched = {s for n in node.all_input_nodes for s in memory[n] if s in changed} | writes
        for storage in sorted(touched, key=lambda s: (s.owner.name, s.index)):
            if storage in writer:
                order.append(writer[storage])
            if storage in writes:
                order += readers.pop(storage, [])
                writer[storage] = node
            else:
                readers.setdefault(storage, []).append(node)
        if is_random(node):
            if last_random is not None:
                order.append(last_random)
            last_random = node
        before[node] = [n for n in dict.fromkeys(order) if n is not node]
    return before
