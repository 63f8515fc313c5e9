"""A pairing of two graphs that differ, under which they differ little.

Certain pairs come first, and more grow from them along the edges. Names help only
where both graphs share them.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable

from torch import fx

from lab_utils.steps.compare.refinement import Colours, Numbers, by_reach, labels_of
from lab_utils.steps.compare.structure import Edges, Pairs, Structure, reversed_edges
from lab_utils.steps.graph import control_dependencies

_Key = Callable[[fx.Node], Hashable]

_RADIUS = 4  # edges: how far around a node we look to tell it from others
_MANY = 64  # of so many candidates, none is likelier than another
_PATIENCE = 20  # looks at tied candidates, for each node, before ties are broken blindly


class _Tally:
    """Counts edges whose other end has a partner: for each node, and agreeing, for each pair."""

    def __init__(self) -> None:
        self.settled: Counter[fx.Node] = Counter()
        self.agreeing: Counter[tuple[fx.Node, fx.Node]] = Counter()

    def against(self, x: fx.Node, y: fx.Node) -> int:
        """Edges of either that lead elsewhere than those of the other."""
        return self.settled[x] + self.settled[y] - 2 * self.agreeing[x, y]

    def balance(self, x: fx.Node, y: fx.Node) -> int:
        return 2 * self.agreeing[x, y] - self.against(x, y)


def edges_beside_data(a: Structure, b: Structure) -> Edges:
    """Waits that someone wrote, and the parameter of each gradient.

    The waits of overwritten memory follow from the data edges.
    """
    beside: Edges = {node: [] for side in (a, b) for node in side.nodes}
    for early, late in a.waits + b.waits:
        if early in control_dependencies(late):
            beside[late].append(("waits", early))
    for parameter, gradient in a.gradients + b.gradients:
        beside[gradient].append(("gradient of", parameter))
    return beside


class Growth:
    """A pairing that grows from certain pairs along the edges, best evidence first."""

    def __init__(self, a: Structure, b: Structure) -> None:
        self._a, self._b = a, b
        self._reads = a.reads | b.reads
        self._readers = a.readers | b.readers
        self._facts = a.facts | b.facts
        self._names_hold = _names_hold(a, b)
        self._colour()
        self._partner: Pairs = {}  # both ways
        beside = edges_beside_data(a, b)
        self._data, self._beside = _Tally(), _Tally()
        self._edges = [(self._data, self._reads), (self._data, self._readers)]
        self._edges += [(self._beside, beside), (self._beside, reversed_edges(beside))]
        self._rivals: dict[fx.Node, dict[fx.Node, None]] = defaultdict(dict)
        self._queue: list[tuple[tuple[int, ...], int, fx.Node, fx.Node]] = []
        self._turn = itertools.count()
        self._patience = _PATIENCE * len(self._facts)

    def _colour(self) -> None:
        """Tell nodes apart by what they are made from, are used for, and stand among."""
        number = Numbers()
        self._below: Colours = {}
        self._above: Colours = {}
        self._near: list[Colours] = [{} for _ in range(_RADIUS + 1)]
        for side in (self._a, self._b):
            label = labels_of(side, number)
            self._below |= by_reach(side.nodes, side.reads, label, number)
            self._above |= by_reach(reversed(side.nodes), side.readers, label, number)
            for near in self._near:
                near |= label
                label = {
                    node: number[
                        label[node],
                        *sorted([("<" + place, label[n]) for place, n in side.reads[node]]),
                        *sorted([(">" + place, label[n]) for place, n in side.readers[node]]),
                    ]
                    for node in side.nodes
                }
        self._likeness = (self._below, self._above, *self._near)

    def pairs(self) -> Pairs:
        """The pairing, from nodes of ``a`` to nodes of ``b``."""
        below, above, near, far = self._below, self._above, self._near[1], self._near[-1]
        ends = [[n for n in side.nodes if n.op == "output"] for side in (self._a, self._b)]
        for x, y in zip(*ends, strict=False):
            self._fix(x, y)
        for x, y in _one_each(lambda n: (below[n], above[n], self._hint(n)), *self._open()):
            self._fix(x, y)
        keys: list[_Key] = [below.__getitem__, above.__getitem__]
        keys += [lambda n: (below[n], far[n]), lambda n: (above[n], far[n])]
        keys += [lambda n: (below[n], near[n]), lambda n: (above[n], near[n])]
        keys += [lambda n: (self._hint(n), self._facts[n].operator)]
        mine, theirs = self._open()
        for key in keys:
            for x, y in _one_each(key, mine, theirs):
                self._propose(x, y)
        self._grow()
        for key in [*keys, self._near[0].__getitem__]:
            self._start_anywhere(key)
        return {node: self._partner[node] for node in self._a.nodes if node in self._partner}

    def _hint(self, node: fx.Node) -> str:
        return node.name if self._names_hold else ""

    def _open(self) -> tuple[list[fx.Node], list[fx.Node]]:
        mine, theirs = ([n for n in s.nodes if self._is_open(n)] for s in (self._a, self._b))
        return mine, theirs

    def _is_open(self, *nodes: fx.Node) -> bool:
        return all(node not in self._partner for node in nodes)

    def _start_anywhere(self, key: _Key) -> None:
        """Pair what is alike though no pair so far leads there, such as unused weights."""
        for mine, theirs in _alike(key, *self._open()):
            for x, y in zip(mine, theirs, strict=False):
                if self._is_open(x, y) and self._data.against(x, y) == 0:
                    self._fix(x, y)
                    self._grow()

    def _fix(self, x: fx.Node, y: fx.Node) -> None:
        self._partner |= {x: y, y: x}
        for tally, edges in self._edges:
            ends: dict[str, tuple[dict[fx.Node, None], ...]] = defaultdict(lambda: ({}, {}))
            for index, node in enumerate((x, y)):
                for place, other in edges[node]:
                    if self._is_open(other):
                        ends[place][index][other] = None
            for mine, theirs in ends.values():
                self._settle(tally, mine, theirs)

    def _settle(
        self, tally: _Tally, mine: Collection[fx.Node], theirs: Collection[fx.Node]
    ) -> None:
        """At one place of a new pair: each of ``mine`` may be one of ``theirs``."""
        if len(mine) * len(theirs) > _MANY:
            for x, y in _one_each(self._near[-1].__getitem__, mine, theirs):
                self._propose(x, y)
            return
        tally.settled.update(itertools.chain(mine, theirs))
        for x, y in itertools.product(mine, theirs):
            tally.agreeing[x, y] += 1
            self._propose(x, y)

    def _propose(self, x: fx.Node, y: fx.Node) -> None:
        self._rivals[x][y] = self._rivals[y][x] = None
        heapq.heappush(self._queue, (self._weakness(x, y), next(self._turn), x, y))

    def _grow(self) -> None:
        """Make pairs of all plausible proposals; ties wait for what the others bring."""
        while self._queue:
            tied: list[tuple[fx.Node, fx.Node]] = []
            stuck = True
            while self._queue:
                weakness, _, x, y = heapq.heappop(self._queue)
                if not self._is_open(x, y) or not self._plausible(x, y):
                    continue
                if weakness < self._weakness(x, y):
                    self._propose(x, y)
                elif self._patience > 0 and self._is_tied(x, y):
                    tied.append((x, y))
                else:
                    self._fix(x, y)
                    stuck = False
            if stuck and tied:
                self._patience -= len(tied)
                self._fix(*tied[0])
            for x, y in tied:
                if self._is_open(x, y):
                    self._propose(x, y)

    def _weakness(self, x: fx.Node, y: fx.Node) -> tuple[int, ...]:
        """How little speaks for the pair; smallest first."""
        evidence = self._data.balance(x, y) + self._beside.balance(x, y)
        return (
            self._facts[x].operator != self._facts[y].operator,
            x.meta.get("kind") != y.meta.get("kind"),
            -evidence - 2 * self._is_named(x, y),
            sum([colour[x] != colour[y] for colour in self._likeness]),
        )

    def _is_tied(self, x: fx.Node, y: fx.Node) -> bool:
        rivals = [(x, other) for other in self._rivals[x] if other is not y]
        rivals += [(other, y) for other in self._rivals[y] if other is not x]
        weakness = self._weakness(x, y)
        return any(self._is_open(*r) and self._weakness(*r) == weakness for r in rivals)

    def _plausible(self, x: fx.Node, y: fx.Node) -> bool:
        agree, disagree = self._data.agreeing[x, y], self._data.against(x, y)
        if self._facts[x].operator != self._facts[y].operator:
            return agree > disagree
        return 2 * agree >= disagree or self._is_named(x, y) or self._same_operands(x, y)

    def _same_operands(self, x: fx.Node, y: fx.Node) -> bool:
        """Whether they read mostly the same values, though perhaps in another order."""
        mine = Counter([self._partner[n] for _, n in self._reads[x] if n in self._partner])
        theirs = Counter([n for _, n in self._reads[y]])
        return 2 * (mine & theirs).total() > max(len(self._reads[x]), theirs.total())

    def _is_named(self, x: fx.Node, y: fx.Node) -> bool:
        return self._names_hold and x.name == y.name


def _names_hold(a: Structure, b: Structure) -> bool:
    """Whether most names that both graphs have stand for the same thing."""
    theirs = {node.name: b.facts[node].label for node in b.nodes}
    mine = {node.name: a.facts[node].label for node in a.nodes if node.name in theirs}
    return 2 * sum([theirs[name] == label for name, label in mine.items()]) > len(mine)


def _alike(
    key: _Key, mine: Iterable[fx.Node], theirs: Iterable[fx.Node]
) -> list[tuple[list[fx.Node], list[fx.Node]]]:
    groups: dict[Hashable, tuple[list[fx.Node], list[fx.Node]]] = defaultdict(lambda: ([], []))
    for index, nodes in enumerate((mine, theirs)):
        for node in nodes:
            groups[key(node)][index].append(node)
    return list(groups.values())


def _one_each(
    key: _Key, mine: Iterable[fx.Node], theirs: Iterable[fx.Node]
) -> list[tuple[fx.Node, fx.Node]]:
    """The pairs of nodes that are alike, and like no other."""
    return [(x[0], y[0]) for x, y in _alike(key, mine, theirs) if len(x) == len(y) == 1]
