"""What a planner sees of a training step: forward's values, and the operators that make them.

A *value* is one piece of memory (views and in-place results resolved) that forward or
the loss makes. Its *maker* is the operator that allocates it, together with those that
overwrite it in place: they run again together, in their order. Places are indices into
the nodes that run, in program order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch
from torch import fx

aten = torch.ops.aten

#: A place after all others: "backward never reads it".
NEVER = 1 << 40


@dataclass
class Value:
    """One piece of memory that forward or the loss makes."""

    name: str
    nbytes: int
    maker: int
    born: int
    made: int
    """Place of the last node that overwrites it in forward or loss."""
    last_early: int
    """Place of its last reader in forward or loss."""
    first_late: int = NEVER
    """Place of its first reader in backward or later."""
    last_late: int = -1
    late_uses: list[tuple[int, int]] = field(default_factory=list)
    """First and last place of each use in backward or later, in order; none overlaps another."""
    touched: set[int] = field(default_factory=set)
    """Places of all nodes that make, read or look at it."""
    pinned: str | None = None
    """Why it must be kept; None where it may be dropped."""


@dataclass
class Maker:
    """The operators that make and overwrite one operator's outputs, as one piece of work."""

    nodes: list[fx.Node]
    places: list[int]
    seconds: float = 0.0
    values: list[int] = field(default_factory=list)
    reads: dict[int, int] = field(default_factory=dict)
    """Values of other makers that it reads, each with the place of its last reading node."""
    first_reads: dict[int, int] = field(default_factory=dict)
    """The same with the place of its first reading node."""
    given: dict[fx.Node, None] = field(default_factory=dict)
    """Placeholders that it reads, through views too, in the order of reading."""
    deadline: int = NEVER
    """The place of the first node after forward that overwrites what it reads."""
    draw: int | None = None
    """Which of ``nodes`` draws random numbers that can be drawn again, if any."""
    packed_bytes: int = 0
    """Bytes of a drawn mask that is kept in one byte an element."""
    pack_seconds: float = 0.0
    """Time to pack and to unpack it."""
    unpacked_seconds: float = 0.0
    """Time to run again what follows the draw."""

    @property
    def name(self) -> str:
        """The node that allocates."""
        return self.nodes[0].name


@dataclass
class Step:
    """A training step as the planner sees it."""

    graph: fx.Graph
    order: list[fx.Node]
    values: list[Value]
    makers: list[Maker]
    """So that each stands after the makers of what it reads."""
    fixed: list[tuple[int, int, int]]
    """First place, last place and bytes of all memory that no plan changes."""

    def value(self, name: str) -> int:
        """The index of the value that the node ``name`` makes."""
        return next(i for i, v in enumerate(self.values) if v.name == name)


def needed_inputs(node: fx.Node) -> list[fx.Node]:
    """What ``node`` must be given to run again: not what it reads for its shape alone."""
    return [] if node.target is aten.empty_like.default else node.all_input_nodes


def merged(uses: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans (first place, last place) in order, those that share a place made one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(uses):
        if found and first <= found[-1][1]:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return found
