"""Judge two graphs and no code: what was traced, and what a student made of it.

Works on any pair of graphs, in our form (which is run as well) and in the older thin
one (where each value counts as one unit). Nodes are told apart by structure, so that
other names make no difference.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import cached_property

from torch import fx

from autograder.labs.lab4a.guarded_run import alike, check_size, seeded_run
from autograder.labs.lab4a.pair_verdict import PairVerdict
from autograder.reference.rewrite import rewrite
from lab_utils.kit.errors import LabError
from lab_utils.kit.task import Finding
from lab_utils.steps.compare.diff import diff
from lab_utils.steps.compare.matching import pair
from lab_utils.steps.compare.structure import Structure, structures
from lab_utils.steps.graph import Phase, control_dependencies, is_opaque, phase, placeholders
from lab_utils.steps.kept import in_backward, is_early
from lab_utils.steps.memory import MemoryLine, live_bytes
from lab_utils.steps.run import example_values
from lab_utils.steps.schedule import as_soon_as_possible, program_order
from lab_utils.steps.storage import is_operation, is_random, overwritten_inputs

#: How far above the reference the peak may stay, as a share of what there is to save.
SLACK = 0.2
#: How many operators may run again for each one that must.
WORK = 4


def judge_pair(
    base: fx.Graph,
    rewritten: fx.Graph,
    names: tuple[str, str] = ("the base", "the rewritten graph"),
) -> PairVerdict:
    """The verdict on A-1, A-2 and A-3 for ``rewritten``, which was made from ``base``.

    ``names`` are what messages call the two: their files, where they have some.

    Raises:
        LabError: one of them has no legal order or no operator, is too large to be run, or
            cannot be run; or they are no pair. The message tells which one, and the node.
    """
    for graph, name in zip((base, rewritten), names, strict=True):
        check_size(graph, name)
    if is_opaque(base) != is_opaque(rewritten):
        drawing, program = names if is_opaque(base) else reversed(names)
        raise LabError(
            f"{drawing} is a drawing without operators, {program} a program: "
            "two drawings can be judged, or two programs"
        )
    return _PairJudge(base, rewritten, names).verdict()


class _PairJudge:
    def __init__(self, base: fx.Graph, rewritten: fx.Graph, names: tuple[str, str]) -> None:
        self._base, self._graph, self._names = base, rewritten, names
        self._drawn = is_opaque(base)
        self._a, self._b = structures(base, rewritten)
        self._of_base = {y: x for x, y in pair(self._a, self._b).items()}
        self._clones = [n for n in self._b.nodes if n.op == "call_function" and self._is_clone(n)]
        self._value = self._values()
        self._given = {} if self._drawn else self._pair_given()

    def _pair_given(self) -> dict[str, str]:
        """The base's placeholder for each one of the rewritten graph, by name."""
        given = {
            node.name: of_base.name
            for node, of_base in self._of_base.items()
            if node.op == of_base.op == "placeholder"
            and self._b.facts[node].value == self._a.facts[of_base].value
        }
        for graph, paired, (here, there) in (
            (self._graph, given.keys(), reversed(self._names)),
            (self._base, given.values(), self._names),
        ):
            if alone := [n.name for n in placeholders(graph) if n.name not in paired]:
                raise LabError(
                    f"{here}: node {alone[0]} is given to it, but nothing like it to {there}: "
                    "the one was not made from the other"
                )
        return given

    def _is_clone(self, node: fx.Node) -> bool:
        return phase(node) is Phase.RECOMPUTE or node not in self._of_base

    def _values(self) -> dict[fx.Node, fx.Node]:
        """The base node whose value each node of the rewritten graph computes."""
        value: dict[fx.Node, fx.Node] = {}
        known: dict[Hashable, fx.Node] = {}
        for node in self._b.nodes:
            key = self._key(self._b, node, value)
            if node in self._of_base and not self._is_clone(node):
                value[node] = self._of_base[node]
                if is_early(node):
                    known.setdefault(key, self._of_base[node])
            elif key in known and not is_random(node) and not overwritten_inputs(node):
                value[node] = known[key]
        return value

    def _key(self, side: Structure, node: fx.Node, value: dict[fx.Node, fx.Node]) -> Hashable:
        facts = side.facts[node]
        reads = sorted((place, value.get(n, n).name) for place, n in facts.reads)
        return facts.operator, facts.constants, tuple(reads)

    @cached_property
    def _dropped(self) -> set[fx.Node]:
        """Base nodes that a clone computes again for a backward reader."""
        read_late = {n for r in self._late for _, n in self._b.facts[r].reads}
        return {self._value[c] for c in self._clones if c in read_late and c in self._value}

    @property
    def _late(self) -> Iterator[fx.Node]:
        return (
            n
            for n in self._b.nodes
            if n.op == "call_function" and in_backward(n) and n in self._of_base
        )

    def verdict(self) -> PairVerdict:
        lines = {
            "without recomputation": live_bytes(self._base, as_soon_as_possible(self._base)),
            "rewritten, program order": live_bytes(self._graph, program_order(self._graph)),
            "rewritten, as soon as possible": self._eager,
        }
        findings = {
            "A-1": tuple(self._first_part()),
            "A-2": tuple(self._second_part()),
            "A-3": tuple(self._third_part(lines["without recomputation"])),
        }
        unit = "values" if self._drawn else "bytes"
        return PairVerdict(
            findings, {k: line.peak for k, line in lines.items()}, unit, self._differences()
        )

    @cached_property
    def _eager(self) -> MemoryLine:
        return live_bytes(self._graph, as_soon_as_possible(self._graph))

    @cached_property
    def _reference(self) -> fx.Graph | None:
        """What the engine makes of the same drops; None where it refuses."""
        try:
            return rewrite(self._base, sorted(n.name for n in self._dropped)).graph
        except LabError:
            return None

    def _first_part(self) -> Iterator[Finding]:
        paired = set(self._of_base.values())
        for node in self._a.nodes:
            if is_early(node) and node.op == "call_function" and node not in paired:
                look = "The forward pass must stay as it is."
                yield Finding(f"{node.name} is gone", f"{node.name} in the forward pass", look)
        if not self._clones:
            look = "Clone what rebuilds the dropped activations into backward."
            yield Finding("no node is recomputed", "clones of the dropped activations", look)
        read_late = {n for r in self._late for _, n in self._b.facts[r].reads}
        for clone in self._clones:
            if clone not in self._value:
                yield Finding(
                    f"{clone.name} computes no value of the forward pass",
                    "the operator and the inputs of its original",
                    "Compare its operator and each of its inputs with the original's.",
                )
            for _, read in self._b.facts[clone].reads:
                if read in self._clones or not is_early(read) or read.op == "placeholder":
                    continue
                if self._value.get(read) in self._dropped:
                    why = "which is dropped"
                elif not any(r in read_late for r in self._aliases(read)):
                    why = "which nobody keeps until backward"
                else:
                    continue
                look = "A clone that reads a lost value keeps it in memory after all."
                yield Finding(
                    f"{clone.name} reads {read.name}, {why}", f"a clone of {read.name}", look
                )
        again = sum(map(is_operation, self._clones))
        needed = self._reference and sum(
            is_operation(n) for n in self._reference.nodes if phase(n) is Phase.RECOMPUTE
        )
        if needed and again > WORK * needed:
            look = "Stop at kept values, and share clones between readers."
            yield Finding(f"{again} operators run again", f"at most {WORK * needed}", look)

    def _aliases(self, node: fx.Node) -> set[fx.Node]:
        """``node`` and the views of it, and what it is a view of."""
        found, queue = {node}, [node]
        while queue:
            here = queue.pop()
            around = [r for r in here.users if r.op == "call_function" and not is_operation(r)]
            if not is_operation(here):
                around += here.all_input_nodes
            for other in around:
                if other not in found:
                    found.add(other)
                    queue.append(other)
        return found

    def _second_part(self) -> Iterator[Finding]:
        if not self._clones:
            look = "Backward reads the stored activations, as before."
            yield Finding("nothing is rewired", "backward reads clones", look)
        for reader in self._b.nodes:
            if is_early(reader) and reader not in self._clones:
                for _, read in self._b.facts[reader].reads:
                    if read in self._clones:
                        yield Finding(
                            f"{reader.name} (forward) reads the clone {read.name}",
                            "the original",
                            "A forward reader keeps the original.",
                        )
        found = False
        for reader in self._late:
            wanted = self._a.facts[self._of_base[reader]].reads
            for (_, read), (_, right) in zip(self._b.facts[reader].reads, wanted, strict=False):
                if read not in self._clones and self._value.get(read) in self._dropped:
                    found = True
                    yield Finding(
                        f"{reader.name} still reads {read.name}",
                        f"{reader.name} reads its clone",
                        f"As long as one backward node reads {read.name}, it stays in memory.",
                    )
                elif not self._drawn and self._value.get(read, right) is not right:
                    found = True
                    look = "A clone of another value is read in its place."
                    yield Finding(f"{reader.name} reads {read.name}", right.name, look)
        if not self._drawn and not found and not self._same_values():
            look = "A clone computes something else than its original."
            yield Finding("other gradients", "the same as without recomputation", look)

    def _same_values(self) -> bool:
        """Whether both, run on the same numbers, leave the same loss, gradients and weights."""
        values = example_values(self._base)
        wanted = seeded_run(self._base, values, self._names[0])
        mine = {name: values[of_base] for name, of_base in self._given.items()}
        given = seeded_run(self._graph, mine, self._names[1])
        state = {self._given[name]: value for name, value in given.state.items()}
        return wanted.state.keys() == state.keys() and alike(
            [*wanted.outputs.values(), *wanted.state.values()],
            [*given.outputs.values(), *(state[name] for name in wanted.state)],
        )

    def _third_part(self, before: MemoryLine) -> Iterator[Finding]:
        if not self._clones:
            look = "There is no clone that could wait."
            yield Finding("nothing waits", "clones that wait for backward", look)
            return
        if self._reference is None:
            return
        best = live_bytes(self._reference, as_soon_as_possible(self._reference)).peak
        budget = round(best + SLACK * max(before.peak - best, 0))
        if self._eager.peak <= budget:
            return
        unit = "values" if self._drawn else "bytes"
        yield Finding(
            f"{self._eager.peak:,} {unit} at once when each node runs as soon as it can",
            f"at most {budget:,} {unit} (without recomputation {before.peak:,})",
            self._too_early(),
        )

    def _too_early(self) -> str:
        if not any(map(control_dependencies, self._b.nodes)):
            return "No node waits for another: the clones run at once, and nothing is saved."
        step = self._eager.schedule.step_of()
        backward = min((step[n] for n in self._late), default=len(self._eager.schedule))
        early = [c for c in self._clones if step[c] < backward]
        if early:
            return (
                f"{early[0].name} runs at step {step[early[0]]}, before backward begins "
                f"(step {backward}): what does it wait for?"
            )
        return "Each block's clones must wait for a gradient of their own block."

    def _differences(self) -> str:
        if self._reference is None or not self._dropped:
            return ""
        found = diff(self._reference, self._graph)
        return "" if found.equal else str(found)
