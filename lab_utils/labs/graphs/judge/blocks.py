"""Which forward values belong together: the blocks of a model.

Backward reaches one block after the other, so that what is rebuilt for one block should not
lie in memory while another is at work.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from itertools import accumulate

from torch import fx

from lab_utils.steps.graph import Kind, kind
from lab_utils.steps.kept import is_early


def blocks_of(nodes: Iterable[fx.Node]) -> dict[fx.Node, Hashable]:
    """The block of each activation among ``nodes``, which stand in a legal order.

    A block is a numbered part of the model (``layers.3``). Where nothing is told about
    parts, it is what lies between two values that everything flows through.
    """
    values = [n for n in nodes if is_early(n) and kind(n) is Kind.ACTIVATION]
    parts = {n: _part(n) for n in values}
    if any(parts.values()):
        return {n: part for n, part in parts.items() if part}
    return dict(_segments(values))


def _part(node: fx.Node) -> str | None:
    match = re.match(r"(.*?\.\d+)(\.|$)", node.meta.get("module", ""))
    return match.group(1) if match and node.op == "call_function" else None


def _segments(values: list[fx.Node]) -> dict[fx.Node, int]:
    """For each value the number of cuts before it: values that no edge leads past."""
    order: dict[fx.Node, None] = {}
    for node in values:
        # What is given stands where it is first read: the target of the loss leads past nothing.
        order |= dict.fromkeys(n for n in node.all_input_nodes if kind(n) is Kind.INPUT)
        order[node] = None
    place = {node: index for index, node in enumerate(order)}
    passing = [0] * (len(place) + 1)
    for node in values:
        for read in node.all_input_nodes:
            if read in place:
                passing[place[read] + 1] += 1
                passing[place[node]] -= 1
    cuts = [count == 0 for count in accumulate(passing)]
    before = list(accumulate(cuts, initial=0))
    return {node: before[index] for node, index in place.items()}


def united(
    block: Mapping[fx.Node, Hashable],
    stored: Mapping[fx.Node, Hashable],
    reads: Mapping[fx.Node, Iterable[fx.Node]],
) -> tuple[dict[fx.Node, int], dict[fx.Node, int]]:
    """A number for each clone, and for each stored value of a block that has clones.

    ``block`` tells the block of each clone, or None; ``stored`` that of stored values. Those
    of one block share a number, and so do clones of which one reads another.
    """
    parent: dict[Hashable, Hashable] = {}

    def root(thing: Hashable) -> Hashable:
        while parent.setdefault(thing, thing) != thing:
            parent[thing] = parent[parent[thing]]
            thing = parent[thing]
        return thing

    for node, part in block.items():
        if part is not None:
            parent[root(node)] = root(("block", part))
        for read in reads[node]:
            if read in block:
                parent[root(node)] = root(read)
    numbers: dict[Hashable, int] = {}
    clones = {node: numbers.setdefault(root(node), len(numbers)) for node in block}
    keys = {node: root(("block", part)) for node, part in stored.items()}
    return clones, {node: numbers[key] for node, key in keys.items() if key in numbers}
