"""How two graphs differ, by structure and in words.

Names, order, colours, layout and redundant control edges make no difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from torch import fx

from lab_utils.graph import Phase, control_dependencies
from lab_utils.kept import is_early
from lab_utils.matching import Pairs, Structure, argument_name, pair, structures


class Differs(StrEnum):
    """In what way two graphs differ."""

    MISSING_NODE = "missing node"
    EXTRA_NODE = "extra node"
    OPERATOR = "operator"
    ARGUMENT = "argument"
    READS = "reads"
    VALUE = "value"
    ROLE = "role"
    MUST_WAIT = "must wait"
    NEEDLESS_WAIT = "needless wait"
    OUTPUT = "output"


@dataclass(frozen=True)
class Difference:
    """One difference: of which kind, at which node (and which other one), in words."""

    kind: Differs
    node: str
    other: str | None
    text: str


@dataclass(frozen=True)
class Diff:
    """All differences between two graphs; false if there is none."""

    differences: tuple[Difference, ...]

    @property
    def equal(self) -> bool:
        """Whether the two graphs are the same."""
        return not self.differences

    def __bool__(self) -> bool:
        return bool(self.differences)

    def __len__(self) -> int:
        return len(self.differences)

    def __iter__(self) -> Iterator[Difference]:
        return iter(self.differences)

    def summary(self, limit: int = 3) -> str:
        """One line for each difference, at most ``limit`` of each kind."""
        if self.equal:
            return "The two graphs are equal."
        by_kind: dict[Differs, list[Difference]] = defaultdict(list)
        for one in self.differences:
            by_kind[one.kind].append(one)
        lines: list[str] = []
        for found in by_kind.values():
            lines += [one.text for one in found[:limit]]
            if rest := [one.node for one in found[limit:]]:
                more = ", ".join(rest[:limit]) + (", …" if len(rest) > limit else "")
                lines.append(f"  … and {len(rest)} more like this: {more}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()


def diff(a: fx.Graph, b: fx.Graph) -> Diff:
    """How ``b`` differs from ``a``, the graph that is wanted.

    Raises:
        CycleError: one of them has no legal order.
        LabError: a node stands before one that it reads.
    """
    return Diff(tuple(_Comparison(*structures(a, b)).differences()))


class _Comparison:
    def __init__(self, a: Structure, b: Structure) -> None:
        self._a, self._b = a, b
        self._to_b: Pairs = pair(a, b)
        self._to_a: Pairs = {y: x for x, y in self._to_b.items()}
        self._original = _originals(a) | _originals(b)

    def differences(self) -> Iterator[Difference]:
        for node in self._a.nodes:
            if node not in self._to_b:
                yield self._missing(node)
        for node in self._b.nodes:
            if node not in self._to_a:
                yield self._extra(node)
        for wanted, mine in self._to_b.items():
            yield from self._node(wanted, mine)
        for wanted, mine in self._to_b.items():
            yield from self._reads(wanted, mine)
        yield from self._waits()

    def _missing(self, node: fx.Node) -> Difference:
        operator = self._a.facts[node].operator
        if _is_clone(node) and node in self._original:
            name = self._name(self._original[node])
            text = f"nothing recomputes `{name}`: a clone running {operator} is missing"
        else:
            text = f"`{node.name}` ({operator}) is missing"
        return Difference(Differs.MISSING_NODE, node.name, None, text)

    def _extra(self, node: fx.Node) -> Difference:
        operator = self._b.facts[node].operator
        text = f"`{node.name}` ({operator}) is not in the wanted graph"
        if _is_clone(node):
            what = self._original.get(node)
            text += f": it recomputes `{what.name}` needlessly" if what else ": a needless clone"
        return Difference(Differs.EXTRA_NODE, node.name, None, text)

    def _node(self, wanted: fx.Node, mine: fx.Node) -> Iterator[Difference]:
        """What the node is by itself."""
        f, g = self._a.facts[wanted], self._b.facts[mine]
        if f.operator != g.operator:
            text = f"`{mine.name}` runs {g.operator} where {f.operator} is wanted"
            yield Difference(Differs.OPERATOR, mine.name, None, text)
            return  # its arguments and shape differ as a consequence
        for place in sorted({*dict(f.constants), *dict(g.constants)}):
            right, given = dict(f.constants).get(place), dict(g.constants).get(place)
            if right != given:
                argument = argument_name(mine, place)
                text = (
                    f"`{mine.name}` has {argument} = {given or 'its default'} where "
                    f"{right or 'the default'} is wanted"
                )
                yield Difference(Differs.ARGUMENT, mine.name, None, text)
        if f.value != g.value:
            text = f"`{mine.name}` is {g.value} where {f.value} is wanted"
            yield Difference(Differs.VALUE, mine.name, None, text)
        if f.role != g.role:
            text = f"`{mine.name}` is {', '.join(g.role)} where {', '.join(f.role)} is wanted"
            yield Difference(Differs.ROLE, mine.name, None, text)

    def _reads(self, wanted: fx.Node, mine: fx.Node) -> Iterator[Difference]:
        """Which node feeds which argument."""
        right, given = self._leftover(wanted, mine)
        if not right and not given:
            return
        if mine.op == "output":
            yield from self._outputs(right, given)
            return
        nodes = [n for _, n in given]
        in_place = {self._to_b.get(n): None for _, n in right}
        if len(given) > 1 and Counter(nodes) == Counter(self._to_b.get(n) for _, n in right):
            names = " and ".join(f"`{n.name}`" for n in dict.fromkeys(nodes) if n in in_place)
            text = f"`{mine.name}` reads {names} in the wrong order"
            yield Difference(Differs.READS, mine.name, nodes[0].name, text)
            return
        for place in dict.fromkeys(place for place, _ in (*right, *given)):
            wants = [n for at, n in right if at == place]
            has = [n for at, n in given if at == place]
            for index in range(max(len(wants), len(has))):
                want = wants[index] if index < len(wants) else None
                got = has[index] if index < len(has) else None
                if want in self._to_b or got in self._to_a:  # else both are told already
                    yield self._read(mine, place, want, got)

    def _leftover(
        self, wanted: fx.Node, mine: fx.Node
    ) -> tuple[list[tuple[str, fx.Node]], list[tuple[str, fx.Node]]]:
        """The reads of both that have no partner at the same place."""
        given = Counter(self._b.facts[mine].reads)
        right: list[tuple[str, fx.Node]] = []
        for place, node in self._a.facts[wanted].reads:
            partner = self._to_b.get(node)
            if partner is not None and given[place, partner]:
                given[place, partner] -= 1
            else:
                right.append((place, node))
        return right, list(given.elements())

    def _outputs(
        self, right: list[tuple[str, fx.Node]], given: list[tuple[str, fx.Node]]
    ) -> Iterator[Difference]:
        for role, node in right:
            name = self._name(node)
            text = f"`{name}` is not handed back as {role}"
            yield Difference(Differs.OUTPUT, name, None, text)
        for role, node in given:
            text = f"`{node.name}` is handed back as {role}, which is not wanted"
            yield Difference(Differs.OUTPUT, node.name, None, text)

    def _read(
        self, mine: fx.Node, place: str, want: fx.Node | None, got: fx.Node | None
    ) -> Difference:
        reader, argument = mine.name, argument_name(mine, place)
        where = f" as {argument}" if argument else ""
        if want is None:
            assert got is not None
            text = f"`{reader}` reads `{got.name}`{where}, which is not wanted"
            return Difference(Differs.READS, reader, got.name, text)
        name = self._name(want)
        if got is None:
            text = f"`{reader}` does not read `{name}`{where}"
            return Difference(Differs.READS, reader, name, text)
        of_wanted = self._original.get(want)
        if of_wanted is not None and self._to_b.get(of_wanted) is got:
            if _is_clone(mine):
                why = "a clone that reads the stored value keeps it alive"
                text = f"`{reader}` reads `{got.name}`, not a clone of it: {why}"
            else:
                why = "backward keeps the stored activation alive"
                text = f"`{got.name}` is still read by `{reader}`: {why}"
        elif _is_clone(got) and is_early(mine):
            text = (
                f"`{reader}` is in the forward pass but reads the clone `{got.name}`: "
                f"forward must keep reading `{name}`"
            )
        else:
            text = f"`{reader}` reads `{got.name}`{where} where `{name}` is wanted"
        return Difference(Differs.READS, reader, got.name, text)

    def _waits(self) -> Iterator[Difference]:
        """What must run before what, beside data: compared by what it forces."""
        wanted = self._mapped(self._a, self._to_b)
        forced = self._b.order.forced(p for u, v, _ in wanted for p in ((u, v), (v, u)))
        for early, late, control in wanted:
            if (late, early) in forced or (control and (early, late) not in forced):
                text = f"`{late.name}` does not wait for `{early.name}`: it may run long before"
                if (late, early) in forced:
                    text = f"`{late.name}` runs before `{early.name}`, but must wait for it"
                yield Difference(Differs.MUST_WAIT, late.name, early.name, text)
        mine = self._mapped(self._b, self._to_a)
        allowed = self._a.order.forced((u, v) for u, v, control in mine if control)
        for early, late, control in mine:
            if control and (early, late) not in allowed:
                here, there = self._to_b[late].name, self._to_b[early].name
                text = f"`{here}` waits for `{there}`, which is not wanted"
                yield Difference(Differs.NEEDLESS_WAIT, here, there, text)

    def _mapped(self, side: Structure, to: Pairs) -> list[tuple[fx.Node, fx.Node, bool]]:
        return [
            (to[early], to[late], early in control_dependencies(late))
            for early, late in side.waits
            if early in to and late in to
        ]

    def _name(self, wanted: fx.Node) -> str:
        """What a wanted node is called in the graph at hand, if it is there."""
        return self._to_b.get(wanted, wanted).name


def _is_clone(node: fx.Node) -> bool:
    return node.meta.get("phase") is Phase.RECOMPUTE


def _originals(side: Structure) -> Pairs:
    """For each clone the node whose work it repeats, told by what both compute."""
    original: Pairs = {}
    known: dict[Hashable, fx.Node] = {}
    for node in side.nodes:
        facts = side.facts[node]
        reads = tuple((place, original.get(n, n)) for place, n in facts.reads)
        key = (facts.operator, facts.constants, reads)
        if _is_clone(node):
            if key in known:
                original[node] = known[key]
        elif reads:
            known.setdefault(key, node)
    return original
