"""Pairing the nodes of two graphs by what they do, not by what they are called.

Where the graphs are the same, the pairing is an isomorphism. Where they are not,
it is one under which they differ little: certain pairs come first, and more grow
from them along the edges. Names help only where both graphs share them.
"""

from __future__ import annotations

import heapq
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import fx

from lab_utils.graph import control_dependencies, is_opaque, operator_name
from lab_utils.reach import ForcedOrder

Edges = dict[fx.Node, list[tuple[str, fx.Node]]]
Pairs = dict[fx.Node, fx.Node]
_Colours = dict[fx.Node, int]
_Key = Callable[[fx.Node], Hashable]

_RADIUS = 4  # edges: how far around a node we look to tell it from others
_MANY = 64  # of so many candidates, none is likelier than another
_PATIENCE = 20  # looks at tied candidates, for each node, before ties are broken blindly


# What counts about a node


class Facts(NamedTuple):
    """What counts about one node. A place tells an argument: ``1``, or ``0.2`` in a list."""

    operator: str
    constants: tuple[tuple[str, str], ...]  # place, text
    value: str  # shape and dtype
    role: tuple[str, ...]  # kind and phase, of a placeholder also what it is given
    reads: tuple[tuple[str, fx.Node], ...]  # place, node; places repeat where order is free

    @property
    def label(self) -> Hashable:
        """What the node is by itself, without its neighbours."""
        return self[:4]


class Structure:
    """A graph as it is compared: what each node is and reads, and what must wait for what.

    ``drawn`` leaves out what a drawing in the thin form does not tell.

    Raises:
        CycleError, LabError: the graph cannot run; see ``ForcedOrder``.
    """

    def __init__(self, graph: fx.Graph, drawn: bool = False) -> None:
        self.order = ForcedOrder(graph, drawn)
        self.nodes = self.order.nodes
        self.facts = {node: _facts(node, drawn) for node in self.nodes}
        self.reads: Edges = {node: list(self.facts[node].reads) for node in self.nodes}
        self.readers = _reversed(self.reads)
        self.waits = self.order.waits()


def structures(a: fx.Graph, b: fx.Graph) -> tuple[Structure, Structure]:
    """Both graphs, in the detail that both of them tell."""
    drawn = is_opaque(a) or is_opaque(b)
    return Structure(a, drawn), Structure(b, drawn)


def _reversed(edges: Edges) -> Edges:
    back: Edges = {node: [] for node in edges}
    for node, ends in edges.items():
        for place, other in ends:
            back[other].append((place, node))
    return back


def _facts(node: fx.Node, drawn: bool) -> Facts:
    if node.op == "output":
        # A drawing does not tell what the step hands back.
        returned = node.args[0] if isinstance(node.args[0], dict) and not drawn else {}
        roles = [(label.partition(":")[0], read) for label, read in returned.items()]
        return Facts("output", (), "", (), tuple(roles))
    places = list(_places(node))
    reads = tuple((place, item) for place, item in places if isinstance(item, fx.Node))
    if drawn:
        # It shows neither which argument an edge feeds, nor how many of them.
        operator = _bare_operator(node) if reads else "placeholder"
        return Facts(operator, (), "", (), tuple(("", read) for read in node.all_input_nodes))
    constants = [(place, repr(item)) for place, item in places if not isinstance(item, fx.Node)]
    role: tuple[str, ...] = (str(node.meta.get("kind")), str(node.meta.get("phase")))
    if node.op == "placeholder":
        role += (str(node.meta.get("source")).partition(":")[0],)
    value = value_text(node.meta.get("val"))
    return Facts(operator_name(node), tuple(sorted(constants)), value, role, reads)


def value_text(val: Any) -> str:
    """Shape and dtype of a ``meta["val"]``, such as ``float32 [4, 8]``."""
    if isinstance(val, (tuple, list)):
        return ", ".join(value_text(item) for item in val)
    if not isinstance(val, torch.Tensor):
        return "nothing"
    return f"{str(val.dtype).removeprefix('torch.')} {list(val.shape)}"


def _bare_operator(node: fx.Node) -> str:
    """``aten.mm.default`` may be drawn as ``MM``."""
    name = operator_name(node)
    words = name.split(".")
    return (words[1] if len(words) == 3 else name).strip("_").lower()


def _places(node: fx.Node) -> Iterator[tuple[str, Any]]:
    """The arguments by place, however they were passed, without those that are defaults."""
    named, default = _parameters(node.target)
    for position, value in enumerate(node.args):
        yield from _items(str(position), value, default)
    for name, value in node.kwargs.items():
        yield from _items(named.get(name, name), value, default)


def _items(place: str, value: Any, default: dict[str, str]) -> Iterator[tuple[str, Any]]:
    if isinstance(value, (list, tuple)):
        value = list(value)
        if any(isinstance(item, fx.Node) for item in value):
            for index, item in enumerate(value):
                yield from _items(f"{place}.{index}", item, {})
            return
    if isinstance(value, fx.Node) or default.get(place) != repr(value):
        yield place, value


@cache
def _parameters(target: Any) -> tuple[dict[str, str], dict[str, str]]:
    """The place of each parameter of an operator, and the defaults by place."""
    if not isinstance(target, torch._ops.OpOverload):
        return {}, {}
    parameters = [(str(i), p) for i, p in enumerate(target._schema.arguments)]
    return (
        {p.name: place for place, p in parameters},
        {place: repr(p.default_value) for place, p in parameters if p.has_default_value()},
    )


def argument_name(node: fx.Node, place: str) -> str:
    """What the operator of ``node`` calls the argument at ``place``."""
    position, _, rest = place.partition(".")
    names = {at: name for name, at in _parameters(node.target)[0].items()}
    name = names.get(position, position)
    return f"{name}[{rest}]" if rest else name


# Graphs that are the same


def pair(a: Structure, b: Structure) -> Pairs:
    """The node of ``b`` that stands for each node of ``a``, as far as there is one."""
    return isomorphism(a, b) or _Growth(a, b).pairs()


def isomorphism(a: Structure, b: Structure) -> Pairs | None:
    """A pairing under which the two are the same, waits included; None if none is found."""
    number = _Numbers()
    colour: _Colours = {}
    before, after = _with_waits(a, b)
    for side in (a, b):
        label = _labels(side, number)
        below = _by_reach(side.nodes, before, label, number)
        colour |= _by_reach(reversed(side.nodes), after, below, number)
    if Counter(colour[n] for n in a.nodes) != Counter(colour[n] for n in b.nodes):
        return None
    classes = _Classes(colour, before, after)
    classes.refine(dict.fromkeys(colour.values()))
    theirs = set(b.nodes)
    for node in a.nodes:
        alike = classes.members[colour[node]]
        other = next((n for n in reversed(alike) if n in theirs), None)
        if other is None:
            return None
        if len(alike) > 2:
            # Nothing tells them apart, so that any choice is as good as another.
            classes.refine({classes.separate([node, other]): None})
    pairs = {n: next(m for m in classes.members[colour[n]] if m in theirs) for n in a.nodes}
    same = len(set(pairs.values())) == len(a.nodes) == len(b.nodes) and all(
        a.facts[x].label == b.facts[y].label
        and Counter((place, pairs[n]) for place, n in before[x]) == Counter(before[y])
        for x, y in pairs.items()
    )
    return pairs if same else None


def _with_waits(a: Structure, b: Structure) -> tuple[Edges, Edges]:
    before = {node: list(edges) for side in (a, b) for node, edges in side.reads.items()}
    for early, late in a.waits + b.waits:
        before[late].append(("waits", early))
    return before, _reversed(before)


class _Numbers(dict[Hashable, int]):
    """A number for each new thing: equal things in the two graphs get equal numbers."""

    def __missing__(self, thing: Hashable) -> int:
        self[thing] = len(self)
        return self[thing]


def _labels(side: Structure, number: _Numbers) -> _Colours:
    return {node: number[side.facts[node].label] for node in side.nodes}


def _by_reach(
    nodes: Iterable[fx.Node], edges: Edges, start: _Colours, number: _Numbers
) -> _Colours:
    """Colour nodes by all that their edges lead to, however far away."""
    colour: _Colours = {}
    for node in nodes:
        ends = sorted([(place, colour[other]) for place, other in edges[node]])
        colour[node] = number[start[node], *ends]
    return colour


class _Classes:
    """Classes of nodes that nothing tells apart, split finer and finer."""

    def __init__(self, colour: _Colours, before: Edges, after: Edges) -> None:
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


# Graphs that differ


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


def _control_waits(a: Structure, b: Structure) -> Edges:
    """Waits that someone wrote; those of overwritten memory follow from the data edges."""
    waits: Edges = {node: [] for side in (a, b) for node in side.nodes}
    for early, late in a.waits + b.waits:
        if early in control_dependencies(late):
            waits[late].append(("waits", early))
    return waits


class _Growth:
    """A pairing that grows from certain pairs along the edges, best evidence first."""

    def __init__(self, a: Structure, b: Structure) -> None:
        self._a, self._b = a, b
        self._reads = a.reads | b.reads
        self._readers = a.readers | b.readers
        self._facts = a.facts | b.facts
        self._names_hold = _names_hold(a, b)
        self._colour()
        self._partner: Pairs = {}  # both ways
        waits = _control_waits(a, b)
        self._data, self._waits = _Tally(), _Tally()
        self._edges = [(self._data, self._reads), (self._data, self._readers)]
        self._edges += [(self._waits, waits), (self._waits, _reversed(waits))]
        self._rivals: dict[fx.Node, dict[fx.Node, None]] = defaultdict(dict)
        self._queue: list[tuple[tuple[int, ...], int, fx.Node, fx.Node]] = []
        self._turn = itertools.count()
        self._patience = _PATIENCE * len(self._facts)

    def _colour(self) -> None:
        """Tell nodes apart by what they are made from, are used for, and stand among."""
        number = _Numbers()
        self._below: _Colours = {}
        self._above: _Colours = {}
        self._near: list[_Colours] = [{} for _ in range(_RADIUS + 1)]
        for side in (self._a, self._b):
            label = _labels(side, number)
            self._below |= _by_reach(side.nodes, side.reads, label, number)
            self._above |= _by_reach(reversed(side.nodes), side.readers, label, number)
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
        evidence = self._data.balance(x, y) + self._waits.balance(x, y)
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
