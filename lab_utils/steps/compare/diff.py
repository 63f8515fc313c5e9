"""How one training-step graph differs from another, in words for a student.

Two graphs are equal up to names, order, colours, layout, and control dependencies
that others imply. What counts is what each node runs, on which values, what it is
for, what the step returns, and what has to wait for what.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from torch import fx

from lab_utils.steps.compare.clones import is_clone, is_early, originals
from lab_utils.steps.compare.differences import Diff, Difference, Differs, quoted
from lab_utils.steps.compare.matching import pair
from lab_utils.steps.compare.structure import Facts, Pairs, Structure, argument_name, structures
from lab_utils.steps.compare.waits import waits
from lab_utils.steps.garbage import no_garbage_collection
from lab_utils.steps.graph import operator_name

__all__ = ["Diff", "Difference", "Differs", "diff"]


@no_garbage_collection()
def diff(a: fx.Graph, b: fx.Graph) -> Diff:
    """How ``b`` (mine) differs from ``a`` (wanted).

    Kinds, phases, arguments, shapes and outputs count only if neither graph is a
    drawing in the thin form.

    Raises:
        CycleError: a graph has no legal order.
        LabError: a node stands before one that it reads.
    """
    if a is b:
        return Diff(())
    wanted, mine = structures(a, b)
    pairs = pair(wanted, mine)
    names = {x.name: y.name for x, y in pairs.items()}
    return Diff(tuple(_Comparison(wanted, mine, pairs).differences()), (a, b, names))


class _Comparison:
    """Two graphs under a pairing of their nodes. Nodes of ``a`` are x, nodes of ``b`` are y."""

    def __init__(self, a: Structure, b: Structure, pairs: Pairs) -> None:
        self.a, self.b = a, b
        self.to_b = pairs
        self.to_a = {y: x for x, y in pairs.items()}
        self._original_a, self._original_b = originals(a), originals(b)

    def differences(self) -> Iterator[Difference]:
        """All of them: first nodes, then what nodes are and read, then the forced order."""
        yield from (self._missing(x) for x in self.a.nodes if x not in self.to_b)
        for y in self.b.nodes:
            if y not in self.to_a:
                yield self._extra(y)
                yield from self._read_in_forward(y)
        for y in self.b.nodes:
            if y in self.to_a:
                yield from self._changes(self.to_a[y], y)
        yield from waits(self.a, self.b, self.to_b, self.to_a)

    # Nodes

    def _missing(self, x: fx.Node) -> Difference:
        what = operator_name(x)
        original = self._original_a.get(x)
        if original is not None:
            text = f"nothing recomputes {self._name(original)} (a clone running {what} is missing)"
            stored = self.to_b.get(original)
            still = [y for _, y in self._readers_wanted(x) if stored in y.all_input_nodes]
            if still:
                text += f": {quoted(still[0])} still reads the stored value"
            other = self.to_b.get(original, original).name
            return Difference(Differs.MISSING_NODE, x.name, other, text)
        if reads := [self._name(n) for n in x.all_input_nodes]:
            what += f" on {', '.join(reads)}"
        text = f"{quoted(x)} is missing: {what}"
        return Difference(Differs.MISSING_NODE, x.name, None, text)

    def _readers_wanted(self, x: fx.Node) -> list[tuple[str, fx.Node]]:
        return [(place, self.to_b[n]) for place, n in self.a.readers[x] if n in self.to_b]

    def _extra(self, y: fx.Node) -> Difference:
        original = self._original_b.get(y)
        why = "it is work for nothing" if self.b.readers[y] else "nothing reads it"
        if original is not None:
            text = f"{quoted(y)} recomputes {quoted(original)}, which is not wanted: {why}"
            return Difference(Differs.EXTRA_NODE, y.name, original.name, text)
        text = f"{quoted(y)} ({operator_name(y)}) is not wanted"
        text += "" if self.b.readers[y] else ", and nothing reads it"
        return Difference(Differs.EXTRA_NODE, y.name, None, text)

    def _read_in_forward(self, y: fx.Node) -> Iterator[Difference]:
        """That a clone should not be there is half the truth where forward reads it."""
        original = self._original(y)
        for _, reader in self.b.readers[y]:
            if original is not None and is_early(reader):
                yield self._reads_other("", reader, y, original)

    # What a node is

    def _changes(self, x: fx.Node, y: fx.Node) -> Iterator[Difference]:
        wanted, mine = self.a.facts[x], self.b.facts[y]
        found = list(self._reads(x, y))
        if y.op == "output":
            found += self._gradients(x, y)
        if wanted.operator != mine.operator:
            text = f"{quoted(y)} runs {operator_name(y)}; wanted is {operator_name(x)}"
            found.append(Difference(Differs.OPERATOR, y.name, None, text))
        else:
            found += self._arguments(wanted, mine, y)
        # A value that follows from another difference is not worth a word of its own.
        if wanted.value != mine.value and not found and not self._inputs_differ(x, y):
            text = f"{quoted(y)} is {mine.value}; wanted is {wanted.value}"
            found.append(Difference(Differs.VALUE, y.name, None, text))
        if wanted.role != mine.role:
            is_not = f"{' / '.join(mine.role)}; wanted is {' / '.join(wanted.role)}"
            cure = ": mark a clone with mark_recomputed" if is_clone(x) else ""
            text = f"{quoted(y)} is marked {is_not}{cure}"
            found.append(Difference(Differs.ROLE, y.name, None, text))
        yield from found

    def _arguments(self, wanted: Facts, mine: Facts, y: fx.Node) -> Iterator[Difference]:
        want, have = dict(wanted.constants), dict(mine.constants)
        read = {place for place, _ in (*wanted.reads, *mine.reads)}
        for place in sorted((want.keys() | have.keys()) - read):
            if want.get(place) != have.get(place):
                given, right = (d.get(place, "its default") for d in (have, want))
                name = argument_name(y, place)
                text = f"{quoted(y)} runs with `{name}` = `{given}`; wanted is `{right}`"
                yield Difference(Differs.ARGUMENT, y.name, None, text)

    def _inputs_differ(self, x: fx.Node, y: fx.Node) -> bool:
        inputs = self.b.facts[y].reads
        if any(n not in self.to_b for _, n in self.a.facts[x].reads):
            return True
        return any(
            n not in self.to_a or self.a.facts[self.to_a[n]].value != self.b.facts[n].value
            for _, n in inputs
        )

    # What a node reads

    def _reads(self, x: fx.Node, y: fx.Node) -> Iterator[Difference]:
        wanted, mine = self.a.facts[x], self.b.facts[y]
        # Places mean the same only under the same operator.
        free = wanted.operator != mine.operator
        want = [("" if free else place, self.to_b.get(n)) for place, n in wanted.reads]
        have = [("" if free else place, n if n in self.to_a else None) for place, n in mine.reads]
        lost = list((Counter(want) - Counter(have)).elements())
        gained = list((Counter(have) - Counter(want)).elements())
        read, missed = [n for _, n in gained if n], [n for _, n in lost if n]
        if len(lost) == len(missed) > 1 and Counter(read) == Counter(missed):
            yield self._swapped(y, read, missed)
            return
        for place in sorted({place for place, _ in lost + gained}):
            yield from self._reads_at(
                place, y, [n for p, n in gained if p == place], [n for p, n in lost if p == place]
            )

    def _reads_at(
        self, place: str, y: fx.Node, have: list[fx.Node | None], want: list[fx.Node | None]
    ) -> Iterator[Difference]:
        """None stands for a node without a partner, which has been told of already."""
        explained = have.count(None), want.count(None)
        read, wanted = [n for n in have if n is not None], [n for n in want if n is not None]
        both = min(len(read), len(wanted))
        for m, w in zip(read[:both], wanted[:both], strict=True):
            yield self._reads_other(place, y, m, w)
        for m in read[both + explained[1] :]:
            yield self._reads_alone(place, y, m, "which is not wanted")
        for w in wanted[both + explained[0] :]:
            yield self._reads_alone(place, y, w, "")

    def _swapped(self, y: fx.Node, have: list[fx.Node], want: list[fx.Node]) -> Difference:
        text = f"{quoted(y)} reads {_listed(have)} in the wrong order: wanted is {_listed(want)}"
        return Difference(Differs.READS, y.name, have[0].name, text)

    def _reads_alone(self, place: str, y: fx.Node, n: fx.Node, unwanted: str) -> Difference:
        if y.op == "output":
            verb = "returns" if unwanted else "does not return"
            text = f"the step {verb} {quoted(n)} as {_result(place)}"
        else:
            verb = "reads" if unwanted else "does not read"
            text = f"{quoted(y)} {verb} {quoted(n)}{_as_argument(y, place)}"
        text += f", {unwanted}" if unwanted else ""
        return Difference(
            Differs.OUTPUT if y.op == "output" else Differs.READS, y.name, n.name, text
        )

    def _reads_other(self, place: str, y: fx.Node, m: fx.Node, w: fx.Node) -> Difference:
        """``y`` reads ``m`` where ``w`` is wanted."""
        reader, read, wanted = quoted(y), quoted(m), quoted(w)
        argument = _as_argument(y, place)
        if y.op == "output":
            text = f"the step returns {read} as {_result(place)}; wanted is {wanted}"
            return Difference(Differs.OUTPUT, y.name, m.name, text)
        if self._original(w) is m and is_clone(y):
            text = (
                f"the clone {reader} reads the stored {read}{argument}, not the clone {wanted}: "
                "the value that should be dropped stays alive"
            )
        elif self._original(w) is m and not is_early(y):
            text = (
                f"{read} is still read by {reader}: backward keeps the stored activation alive; "
                f"wanted is the clone {wanted}"
            )
        elif self._original(m) is w and is_early(y):
            text = (
                f"{reader} is in the forward pass but reads the clone {read}: "
                f"forward must keep reading {wanted}"
            )
        elif self._original(m) is w:
            text = f"{reader} reads the clone {read}{argument}, though {wanted} itself is kept"
        elif (same := self._original(m)) is not None and same is self._original(w):
            text = (
                f"{reader} reads {read}{argument}; wanted is {wanted}, "
                f"another clone of {quoted(same)}"
            )
        else:
            does = "rebuilds" if is_clone(y) else "computes"
            text = f"{reader} reads {read}{argument}; wanted is {wanted}: it {does} another value"
        return Difference(Differs.READS, y.name, m.name, text)

    def _original(self, y: fx.Node) -> fx.Node | None:
        """What a clone of ``b`` runs again; the wanted graph knows better than a wrong one."""
        wanted = self._original_a.get(self.to_a[y]) if y in self.to_a else None
        return self.to_b.get(wanted) if wanted is not None else self._original_b.get(y)

    def _name(self, x: fx.Node) -> str:
        return quoted(self.to_b.get(x, x))

    # Of which parameter a gradient is

    def _gradients(self, x: fx.Node, y: fx.Node) -> Iterator[Difference]:
        """Gradients that the outputs ``x`` and ``y`` both return, but not of the same parameter."""
        returned = {n for _, n in self.a.facts[x].reads} & {
            self.to_a.get(n) for _, n in self.b.facts[y].reads
        }
        wanted = {
            self.to_b[parameter]: self.to_b[gradient]
            for parameter, gradient in self.a.gradients
            if parameter in self.to_b and gradient in returned
        }
        mine = {
            parameter: gradient
            for parameter, gradient in self.b.gradients
            if parameter in self.to_a and self.to_a.get(gradient) in returned
        }
        for parameter, have in mine.items():
            want = wanted.get(parameter)
            if have is not want:
                right = f"; wanted is {quoted(want)}" if want else ", which is not wanted"
                text = f"the step returns {quoted(have)} as the gradient of {quoted(parameter)}"
                yield Difference(Differs.OUTPUT, y.name, have.name, text + right)
        for parameter, want in wanted.items():
            if parameter not in mine:
                text = f"the step returns {quoted(want)}, but not as the gradient of "
                text += quoted(parameter)
                yield Difference(Differs.OUTPUT, y.name, want.name, text)


def _listed(nodes: list[fx.Node]) -> str:
    *most, last = map(quoted, nodes)
    return f"{', '.join(most)} and {last}" if most else last


def _as_argument(node: fx.Node, place: str) -> str:
    return f" as argument `{argument_name(node, place)}`" if place else ""


def _result(role: str) -> str:
    return {"loss": "the loss", "grad": "a gradient"}.get(role, role)
