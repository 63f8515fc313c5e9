"""Telling nodes apart by their surroundings, finer and finer."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Hashable, Iterable

from torch import fx

from lab_utils.steps.compare.structure import Edges, Structure

Colours = dict[fx.Node, int]


class Numbers(dict[Hashable, int]):
    """A number for each new thing: equal things in the two graphs get equal numbers."""

    def __missing__(self, thing: Hashable) -> int:
        self[thing] = len(self)
        return self[thing]


def labels_of(side: Structure, number: Numbers) -> Colours:
    """The colour of each node by what it is alone."""
    return {node: number[side.facts[node].label] for node in side.nodes}


def by_reach(nodes: Iterable[fx.Node], edges: Edges, start: Colours, number: Numbers) -> Colours:
    """Colour nodes by all that their edges lead to, however far away."""
    colour: Colours = {}
    for node in nodes:
        ends = sorted([(place, colour[other]) for place, other in edges[node]])
        colour[node] = number[start[node], *ends]
    return colour


class Classes:
    """Classes of nodes that nothing tells apart, split finer and finer."""

    def __init__(self, colour: Colours, before: Edges, after: Edges) -> None:
        self._colour = colour
        self._before, self._after = before, after
        self.members: dict[int, dict[fx.Node, None]] = defaultdict(dict)
        for node, number in colour.items():
            self.members[number][node] = None
        self._new = itertools.count(max(colour.values(), default=0) + 1)

    def separate(self, part: list[fx.Node]) -> int:
        """Move ``part`` of a class into one of its own."""
        old, new = self._colour[part[0]], next(self._new)
        for node in part:
            del self.members[old][node]
            self._colour[node] = new
            self.members[new][node] = None
        return new

    def refine(self, queue: dict[int, None]) -> None:
        """Split until members of one class have the same edges into every class."""
        while queue:
            seen: dict[fx.Node, list[str]] = defaultdict(list)
            for node in self.members[queue.popitem()[0]]:
                for place, other in self._before[node]:
                    seen[other].append("<" + place)
                for place, other in self._after[node]:
                    seen[other].append(">" + place)
            parts: dict[tuple[int, tuple[str, ...]], list[fx.Node]] = defaultdict(list)
            for node, places in seen.items():
                parts[self._colour[node], tuple(sorted(places))].append(node)
            for (old, _), part in parts.items():
                if len(part) < len(self.members[old]):
                    new = self.separate(part)
                    # Of a class that has been looked at, the larger half brings nothing new.
                    smaller = new if len(part) <= len(self.members[old]) else old
                    queue[new if old in queue else smaller] = None
